// SPDX-License-Identifier: MIT
// Includes std::vector, which validates the tests.
#include <gtest/gtest.h>

#include <memory_resource>
#include <vector>

#include <headroom/settled_vector.hpp>

#include "support/contract/families.hpp"
#include "support/vectors.hpp"

namespace t = headroom_test;

template <class T>
using plain_std_vector = std::vector<T>;
template <class T>
using plain_vector = headroom::vector<T>;
template <class T>
using pmr_vector = headroom::pmr::vector<T>;
template <class T>
using plain_settled_vector = headroom::settled_vector<T>;

using subjects =
    testing::Types<t::family<plain_std_vector, true>, t::family<plain_vector, true>, t::family<t::mapped_vector, false>,
                   t::family<t::early_vector, false>, t::family<pmr_vector, true>, t::family<plain_settled_vector, false>>;
#include "support/contract/arguments.hpp"
