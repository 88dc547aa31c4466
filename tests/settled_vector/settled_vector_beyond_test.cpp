// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <headroom/settled_vector.hpp>

#include "support/elements.hpp"

using subjects =
    testing::Types<headroom::settled_vector<int>, headroom::settled_vector<std::unique_ptr<int>>,
                   headroom::settled_vector<headroom_test::self_referential>, headroom::settled_vector<headroom_test::big>>;
#include "support/contract/beyond.hpp"
