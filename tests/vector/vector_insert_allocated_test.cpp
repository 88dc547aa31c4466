// SPDX-License-Identifier: MIT
// Insertion with allocators of all kinds.
#include <gtest/gtest.h>

#include <memory_resource>
#include <string>

#include "support/allocators.hpp"
#include "support/vectors.hpp"

namespace t = headroom_test;

using subjects =
    testing::Types<headroom::vector<t::self_referential, t::fancy_allocator<t::self_referential>>,
                   headroom::vector<t::opted_in, t::building_allocator<t::opted_in>>, headroom::pmr::vector<std::string>>;
#include "support/contract/insert.hpp"
