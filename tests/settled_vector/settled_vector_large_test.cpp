// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Left out under Valgrind: the tests of construct, insert, erase and ranges cover these operations with fewer elements.
#include <gtest/gtest.h>

#include <string>

#include <headroom/settled_vector.hpp>

#include "support/elements.hpp"

using subjects = testing::Types<headroom::settled_vector<int>, headroom::settled_vector<std::string>,
                                headroom::settled_vector<headroom_test::throwing>, headroom::settled_vector<headroom_test::big>>;
#include "support/contract/large.hpp"
