// SPDX-License-Identifier: MIT
// Labels: core
#include <gtest/gtest.h>

#include "odd/kinds.hpp"
#include "support/small_vectors.hpp"

namespace t = headroom_test;

using subjects =
    testing::Types<t::staying_vector<int>, t::left_vector<t::throwing>, t::staying_vector<t::throwing>,
                   t::staying_vector<t::odd_child>, t::left_vector<t::opted_in>, t::small_mapped_vector<t::odd_value>>;
#include "support/contract/insert.hpp"
