// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "odd/kinds.hpp"
#include "support/small_vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::staying_vector<int>, t::left_vector<t::odd_child>, t::small_mapped_vector<std::string>>;
#include "support/contract/ranges.hpp"
