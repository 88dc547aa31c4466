// SPDX-License-Identifier: MIT
// Labels: no-valgrind
#include <gtest/gtest.h>

#include <string>

#include "support/small_vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::staying_vector<int>, t::left_vector<std::string>, t::staying_vector<t::throwing>,
                                t::small_mapped_vector<t::opted_in>>;
#include "support/contract/large.hpp"
