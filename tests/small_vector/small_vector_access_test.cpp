// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "support/small_vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::staying_vector<int>, t::left_vector<t::big>, t::small_mapped_vector<std::string>,
                                t::staying_vector<t::overaligned>>;
#include "support/contract/access.hpp"
