// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "odd/kinds.hpp"
#include "support/allocators.hpp"
#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<headroom::vector<int>, t::mapped_vector<t::odd_child>,
                                headroom::vector<std::string, t::minimal_allocator<std::string>>>;
#include "support/contract/ranges.hpp"
