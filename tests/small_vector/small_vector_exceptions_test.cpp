// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/small_vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::left_vector<t::throwing>, t::staying_vector<t::throwing>, t::staying_vector<t::opted_in>,
                                t::small_mapped_vector<t::throwing_opted_in>>;
#include "support/contract/exceptions.hpp"
