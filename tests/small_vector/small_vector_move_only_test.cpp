// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <memory>

#include "support/small_vectors.hpp"

namespace t = headroom_test;

using subjects = testing::Types<t::left_vector<std::unique_ptr<int>>, t::staying_vector<std::unique_ptr<int>>,
                                t::staying_vector<t::throwing_move_only>, t::small_mapped_vector<t::move_only>>;
#include "support/contract/move_only.hpp"
