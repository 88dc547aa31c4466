// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <headroom/settled_vector.hpp>

#include "support/elements.hpp"

using subjects =
    testing::Types<headroom::settled_vector<std::unique_ptr<int>>, headroom::settled_vector<headroom_test::throwing_move_only>>;
#include "support/contract/move_only.hpp"
