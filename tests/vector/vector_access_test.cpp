// SPDX-License-Identifier: MIT
// Includes std::vector, which validates the tests.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::standard_vector<std::string>, headroom::vector<int>, headroom::vector<t::big>,
                                t::mapped_vector<std::string>, t::early_vector<t::overaligned>>;
#include "support/contract/access.hpp"
