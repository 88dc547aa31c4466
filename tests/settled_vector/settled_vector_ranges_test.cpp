// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <headroom/settled_vector.hpp>

#include "odd/kinds.hpp"
#include "support/elements.hpp"

using subjects = testing::Types<headroom::settled_vector<int>, headroom::settled_vector<headroom_test::odd_child>>;
#include "support/contract/ranges.hpp"
