// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Left out under Valgrind: the tests of construct, insert, erase and ranges cover these operations with fewer elements.
#include <gtest/gtest.h>

#include "support/shown_files.hpp"

using subjects = testing::Types<headroom_test::filed<int>, headroom_test::filed<headroom_test::big>>;
#include "support/contract/large.hpp"
