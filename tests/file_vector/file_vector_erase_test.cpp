// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/shown_files.hpp"

using subjects = testing::Types<headroom_test::filed<int>, headroom_test::filed<headroom_test::three_ints>,
                                headroom_test::filed<headroom_test::ten_ints>>;
#include "support/contract/erase.hpp"
