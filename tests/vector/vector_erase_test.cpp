// SPDX-License-Identifier: MIT
// Includes std::vector, which validates the tests.
#include <gtest/gtest.h>

#include <vector>

#include "odd/kinds.hpp"
#include "support/allocators.hpp"
#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::standard_vector<t::odd_child>, headroom::vector<int>, headroom::vector<t::opted_in>,
                                t::mapped_vector<t::throwing>, headroom::vector<int, t::fancy_allocator<int>>>;
#include "support/contract/erase.hpp"
