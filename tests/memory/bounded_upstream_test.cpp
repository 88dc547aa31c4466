// SPDX-License-Identifier: MIT
// A pool requests smaller pieces when its upstream refuses one, and returns empty ones before it throws.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <new>
#include <vector>

#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>

#include "support/resources.hpp"

namespace {

using headroom_test::counting_upstream;

constexpr std::size_t KiB = 1024;

struct filled {
    std::vector<std::pair<unsigned char*, std::size_t>> blocks;
    std::size_t bytes = 0;
};

// Allocates blocks of `size` bytes until one is refused, and writes to each.
template <class Resource>
filled fill(Resource& resource, std::size_t size) {
    filled result;
    try {
        for (;;) {
            auto* const block = static_cast<unsigned char*>(resource.allocate(size, 8));
            std::memset(block, static_cast<int>(result.blocks.size() % 251), size);
            result.blocks.emplace_back(block, size);
            result.bytes += size;
        }
    } catch (const std::bad_alloc&) {}
    return result;
}
template <class Resource>
void empty(Resource& resource, const filled& from) {
    for (std::size_t i = 0; i < from.blocks.size(); ++i) {
        const auto& [block, size] = from.blocks[i];
        ASSERT_EQ(block[0], i % 251);
        ASSERT_EQ(block[size - 1], i % 251);
        resource.deallocate(block, size, 8);
    }
}

// Returns multiples of eight, to which blocks are rounded up.
std::vector<std::size_t> sizes_up_to(std::size_t most) {
    std::vector<std::size_t> sizes;
    for (std::size_t size = 24; size <= most; size += (size / 6 + 8) / 8 * 8) sizes.push_back(size);
    return sizes;
}

template <class Resource>
struct bounded_upstream : testing::Test {};
using kinds = testing::Types<headroom::multipool_resource, headroom::synchronized_multipool_resource>;
TYPED_TEST_SUITE(bounded_upstream, kinds);

TYPED_TEST(bounded_upstream, is_handed_out_nearly_whole) {
    for (const std::size_t bound : {64 * KiB, 1024 * KiB, 10 * 1024 * KiB}) {
        for (const std::size_t size : sizes_up_to(bound / 8)) {
            counting_upstream upstream;
            upstream.limit(bound);
            TypeParam resource(&upstream);
            const filled all = fill(resource, size);
            EXPECT_GE(static_cast<double>(all.bytes), .76 * static_cast<double>(bound)) << size << " of " << bound;
            empty(resource, all);
        }
    }
}

TYPED_TEST(bounded_upstream, that_is_a_fixed_buffer_is_handed_out_nearly_whole) {
    for (const std::size_t bound : {64 * KiB, 1024 * KiB}) {
        for (const std::size_t size : sizes_up_to(bound / 8)) {
            const auto buffer = std::make_unique<std::byte[]>(bound);
            std::pmr::monotonic_buffer_resource upstream(buffer.get(), bound, std::pmr::null_memory_resource());
            TypeParam resource(&upstream);
            const filled all = fill(resource, size);
            EXPECT_GE(static_cast<double>(all.bytes), .74 * static_cast<double>(bound)) << size << " of " << bound;
            empty(resource, all);
        }
    }
}

TEST(bounded_upstream_of_one_thread, what_one_size_had_serves_another) {
    for (const std::size_t bound : {64 * KiB, 1024 * KiB, 10 * 1024 * KiB}) {
        for (const std::size_t first : sizes_up_to(bound / 8)) {
            for (const std::size_t second : {std::size_t{40}, std::size_t{704}, std::size_t{3000}, bound / 9, bound / 8}) {
                if (second > bound / 8) continue;
                counting_upstream upstream;
                upstream.limit(bound);
                {
                    headroom::multipool_resource resource(&upstream);
                    empty(resource, fill(resource, first));
                    const filled all = fill(resource, second);
                    EXPECT_GE(static_cast<double>(all.bytes), .74 * static_cast<double>(bound))
                        << second << " after " << first << " of " << bound;
                    empty(resource, all);
                }
                EXPECT_EQ(upstream.blocks(), 0U);
                EXPECT_EQ(upstream.mistakes(), 0U);
            }
        }
    }
}

// A block in use keeps its chunk, and no block is allocated twice.
TEST(bounded_upstream_of_one_thread, blocks_in_use_stay_when_others_are_reclaimed) {
    for (const std::size_t keep : {2U, 7U, 50U}) {
        counting_upstream upstream;
        upstream.limit(256 * KiB);
        {
            headroom::multipool_resource resource(&upstream);
            filled first = fill(resource, 112);
            filled kept, gone;
            for (std::size_t i = 0; i < first.blocks.size(); ++i) {
                std::memset(first.blocks[i].first, static_cast<int>((i % keep == 0 ? kept : gone).blocks.size() % 251), 112);
                (i % keep == 0 ? kept : gone).blocks.push_back(first.blocks[i]);
            }
            empty(resource, gone);
            for (const std::size_t size : {48U, 1200U, 9000U}) empty(resource, fill(resource, size));
            empty(resource, kept);
        }
        EXPECT_EQ(upstream.blocks(), 0U);
        EXPECT_EQ(upstream.mistakes(), 0U);
    }
}

// Blocks in use keep every piece, so upstream gets nothing back; free pages between them serve larger blocks.
TEST(bounded_upstream_of_one_thread, free_pages_between_blocks_in_use_serve_larger_blocks) {
    counting_upstream upstream;
    upstream.limit(8 * 1024 * KiB);
    headroom::multipool_resource resource(&upstream);
    const filled all = fill(resource, 32'000);
    for (std::size_t i = 0; i < all.blocks.size(); ++i) {
        if (i % 16 != 0) resource.deallocate(all.blocks[i].first, 32'000, 8);
    }
    EXPECT_GE(fill(resource, 100'000).bytes, 4 * 1024 * KiB);
}

// The only empty chunk is not released to an upstream whose deallocate() does nothing.
TEST(bounded_upstream_of_one_thread, what_little_there_is_is_not_lost) {
    for (const std::size_t refused : {std::size_t{128}, std::size_t{560}, std::size_t{5000}}) {
        char buffer[1400];
        std::pmr::monotonic_buffer_resource upstream(buffer, sizeof buffer, std::pmr::null_memory_resource());
        headroom::multipool_resource resource(&upstream);
        const filled first = fill(resource, 64);
        ASSERT_GE(first.blocks.size(), 8U);
        for (const auto& each : first.blocks) resource.deallocate(each.first, 64, 8);
        try {
            static_cast<void>(resource.allocate(refused, 8));
        } catch (const std::bad_alloc&) {}
        EXPECT_NO_THROW(static_cast<void>(resource.allocate(64, 8))) << refused;
    }
}

TEST(bounded_upstream_of_one_thread, of_a_monotonic_resource_is_handed_out_nearly_whole) {
    for (const std::size_t size : sizes_up_to(8 * KiB)) {
        counting_upstream upstream;
        upstream.limit(64 * KiB);
        headroom::monotonic_resource resource(&upstream);
        EXPECT_GE(fill(resource, size).bytes, 48 * KiB) << size;
    }
}

}    // namespace
