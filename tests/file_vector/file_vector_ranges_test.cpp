// SPDX-License-Identifier: MIT
// Labels: no-valgrind
#include <gtest/gtest.h>

#include "support/shown_files.hpp"

using subjects = testing::Types<headroom_test::filed<int>, headroom_test::filed<headroom_test::three_ints>>;
#include "support/contract/ranges.hpp"
