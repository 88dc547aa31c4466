// SPDX-License-Identifier: MIT
// Labels: core
#include <gtest/gtest.h>

#include "support/contract/families.hpp"
#include "support/small_vectors.hpp"

namespace t = headroom_test;

template <class T>
using two_inside = headroom::small_vector<T, 2>;
template <class T>
using many_inside = headroom::small_vector<T, 24>;

using subjects = testing::Types<t::family<two_inside, true>, t::family<many_inside, true>, t::family<t::left_vector, false>,
                                t::family<t::small_mapped_vector, false>>;
#include "support/contract/arguments.hpp"
