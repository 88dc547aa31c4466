// SPDX-License-Identifier: MIT
// Labels: no-valgrind
#include <gtest/gtest.h>

#include "support/shown_files.hpp"

using subjects = testing::Types<headroom_test::filed<int>, headroom_test::filed<headroom_test::three_ints>,
                                headroom_test::filed<headroom_test::big>>;
#include "support/contract/insert.hpp"
