// SPDX-License-Identifier: MIT
// Insertion in reservations, and while a vector moves from the heap to one.
#include <gtest/gtest.h>

#include <string>

#include "odd/kinds.hpp"
#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::mapped_vector<std::string>, t::early_vector<t::odd_value>, t::early_vector<t::opted_in>>;
#include "support/contract/insert.hpp"
