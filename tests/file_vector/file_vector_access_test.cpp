// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/shown_files.hpp"

using subjects = testing::Types<headroom_test::filed<int>, headroom_test::filed<headroom_test::overaligned>,
                                headroom_test::filed<headroom_test::big>>;
#include "support/contract/access.hpp"
