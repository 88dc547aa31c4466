// SPDX-License-Identifier: MIT
// Labels: many-ranges
#include <gtest/gtest.h>

#include <headroom/settled_vector.hpp>

#include "odd/kinds.hpp"
#include "support/elements.hpp"

using subjects =
    testing::Types<headroom::settled_vector<headroom_test::odd_child>, headroom::settled_vector<headroom_test::throwing>>;
#include "support/contract/exceptions.hpp"
