// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/shown_files.hpp"

using subjects = testing::Types<headroom_test::filed_again<int>, headroom_test::filed_again<headroom_test::three_ints>,
                                headroom_test::filed_again<headroom_test::big>>;
#include "support/contract/construct.hpp"
