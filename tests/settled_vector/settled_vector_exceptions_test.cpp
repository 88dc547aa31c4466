// Labels: many-ranges
#include <gtest/gtest.h>

#include <headroom/settled_vector.hpp>

#include "support/elements.hpp"

using subjects =
    testing::Types<headroom::settled_vector<headroom_test::self_referential>, headroom::settled_vector<headroom_test::throwing>>;
#include "support/contract/exceptions.hpp"
