// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <headroom/settled_vector.hpp>

#include "support/elements.hpp"

using subjects = testing::Types<headroom::settled_vector<int>, headroom::settled_vector<headroom_test::overaligned>,
                                headroom::settled_vector<headroom_test::big>>;
#include "support/contract/access.hpp"
