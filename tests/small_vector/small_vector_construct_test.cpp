// SPDX-License-Identifier: MIT
// Labels: core
#include <gtest/gtest.h>

#include <string>

#include "odd/kinds.hpp"
#include "support/small_vectors.hpp"

namespace t = headroom_test;

using subjects =
    testing::Types<t::left_vector<int>, t::staying_vector<int>, t::left_vector<t::throwing>,
                   t::staying_vector<t::self_referential>, t::staying_vector<t::odd_child>, t::left_vector<t::odd_value>,
                   t::small_mapped_vector<std::string>, headroom::small_vector<t::opted_in, 0>>;
#include "support/contract/construct.hpp"
