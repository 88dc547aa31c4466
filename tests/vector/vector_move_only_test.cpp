// SPDX-License-Identifier: MIT
// Includes std::vector, which validates the tests.
#include <gtest/gtest.h>

#include <vector>

#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<std::vector<t::move_only>, headroom::vector<std::unique_ptr<int>>,
                                headroom::vector<t::throwing_move_only>, t::mapped_vector<std::unique_ptr<int>>>;
#include "support/contract/move_only.hpp"
