// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/allocators.hpp"
#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects =
    testing::Types<headroom::vector<int>, headroom::vector<std::unique_ptr<int>>, headroom::vector<t::throwing>,
                   t::early_vector<t::opted_in>, t::mapped_vector<t::big>, headroom::vector<int, t::minimal_allocator<int>>>;
#include "support/contract/beyond.hpp"
