// SPDX-License-Identifier: MIT
// Includes std::vector, which validates the tests.
#include <gtest/gtest.h>

#include <vector>

#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::standard_vector<t::throwing>, headroom::vector<t::throwing>, headroom::vector<t::opted_in>,
                                headroom::vector<t::throwing_opted_in>>;
#include "support/contract/exceptions.hpp"
