// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "odd/kinds.hpp"
#include "support/small_vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::staying_vector<int>, t::left_vector<t::opted_in>, t::staying_vector<t::throwing>,
                                t::small_mapped_vector<t::odd_child>>;
#include "support/contract/erase.hpp"
