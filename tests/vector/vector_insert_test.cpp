// SPDX-License-Identifier: MIT
// Labels: core
// Includes std::vector, which validates the tests.
#include <gtest/gtest.h>

#include <vector>

#include "odd/kinds.hpp"
#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<std::vector<t::odd_child>, headroom::vector<int>, headroom::vector<t::throwing>,
                                headroom::vector<t::opted_in>, headroom::vector<t::odd_value>>;
#include "support/contract/insert.hpp"
