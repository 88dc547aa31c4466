// SPDX-License-Identifier: MIT
// Labels: core
#include <gtest/gtest.h>

#include <headroom/settled_vector.hpp>

#include "support/elements.hpp"

using subjects = testing::Types<headroom::settled_vector<int>, headroom::settled_vector<std::string>,
                                headroom::settled_vector<headroom_test::throwing>>;
#include "support/contract/construct.hpp"
