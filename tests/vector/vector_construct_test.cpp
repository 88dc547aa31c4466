// SPDX-License-Identifier: MIT
// Labels: core
// Includes std::vector, which validates the tests.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "odd/kinds.hpp"
#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<std::vector<t::self_referential>, headroom::vector<int>, headroom::vector<t::throwing>,
                                headroom::vector<t::odd_child>, t::early_vector<t::odd_value>, t::mapped_vector<std::string>>;
#include "support/contract/construct.hpp"
