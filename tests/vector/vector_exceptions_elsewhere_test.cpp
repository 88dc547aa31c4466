// SPDX-License-Identifier: MIT
// Exception safety in reservations and with an allocator.
#include <gtest/gtest.h>

#include "odd/kinds.hpp"
#include "support/allocators.hpp"
#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::mapped_vector<t::throwing>, t::early_vector<t::odd_child>,
                                headroom::vector<t::throwing, t::building_allocator<t::throwing>>>;
#include "support/contract/exceptions.hpp"
