// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Left out under Valgrind: the tests of construct, insert, erase and ranges cover these operations with fewer elements.
// Includes std::vector, which validates the tests.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/allocators.hpp"
#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<std::vector<t::throwing>, headroom::vector<int>, headroom::vector<std::string>,
                                headroom::vector<t::throwing>, t::heap_vector<std::string>, t::early_vector<t::opted_in>,
                                headroom::vector<t::big, t::minimal_allocator<t::big>>>;
#include "support/contract/large.hpp"
