// SPDX-License-Identifier: MIT
// Requests that no memory resource can serve: sizes and alignments larger than memory.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace headroom_test {

// Checks that each request, and those in `also`, throws bad_alloc. The next block must follow the previous one: nothing changed.
template <class Resource, class Also>
void expect_refusals(Resource& resource, Also also) {
    auto* const before = static_cast<std::byte*>(resource.allocate(16, 1));
    for (int shift = sizeof(std::size_t) >= 8 ? 48 : 31; shift < static_cast<int>(sizeof(std::size_t) * 8); ++shift) {
        const std::size_t large = std::size_t{1} << shift;
        EXPECT_THROW((void)resource.allocate(large, 1), std::bad_alloc) << shift;
        EXPECT_THROW((void)resource.allocate(large - 1, 16), std::bad_alloc) << shift;
        EXPECT_THROW((void)resource.allocate(-large, 1), std::bad_alloc) << shift;
        EXPECT_THROW((void)resource.allocate(1, large), std::bad_alloc) << shift;
    }
    EXPECT_THROW((void)resource.allocate(SIZE_MAX), std::bad_alloc);
    EXPECT_THROW((void)resource.allocate(SIZE_MAX, 1), std::bad_alloc);
    also();
    EXPECT_EQ(resource.allocate(16, 1), before + 16);
}

}    // namespace headroom_test
