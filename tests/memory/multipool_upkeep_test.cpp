// SPDX-License-Identifier: MIT
// trim() and statistics() of multipools.
// Labels: thread
#include <headroom/multipool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <map>
#include <thread>
#include <vector>

#include "support/resources.hpp"

namespace {

using headroom::multipool_resource;
using headroom::multipool_statistics;
using headroom_test::counting_upstream;

struct memory_piece {
    unsigned char* data;
    std::size_t bytes;
    unsigned char seed;
};

std::vector<memory_piece> fill(std::pmr::memory_resource& resource, headroom_test::random& random, std::size_t in_all) {
    std::vector<memory_piece> result;
    for (std::size_t sum = 0; sum < in_all; sum += result.back().bytes) {
        const std::size_t bytes = random.below(10) < 7 ? random.below(100) + 1 : random.below(4096) + 1;
        auto* const data = static_cast<unsigned char*>(resource.allocate(bytes, 1));
        const auto seed = static_cast<unsigned char>(random());
        std::memset(data, seed, bytes);
        result.push_back({data, bytes, seed});
    }
    return result;
}

template <class Resource>
class multipool_upkeep : public testing::Test {};
using resources = testing::Types<multipool_resource, headroom::synchronized_multipool_resource>;
TYPED_TEST_SUITE(multipool_upkeep, resources);

TYPED_TEST(multipool_upkeep, trim_gives_empty_chunks_to_upstream) {
    counting_upstream upstream;
    TypeParam resource(&upstream);
    std::vector<void*> blocks(200'000);
    for (void*& each : blocks) each = resource.allocate(48, 8);
    const std::size_t bytes = upstream.bytes();
    EXPECT_EQ(resource.trim(), 0U) << "all of it is in use";
    for (std::size_t i = 1000; i < blocks.size(); ++i) resource.deallocate(blocks[i], 48, 8);
    EXPECT_GT(resource.trim(), bytes / 4);
    EXPECT_LT(upstream.bytes(), bytes - bytes / 4);
    EXPECT_EQ(upstream.mistakes(), 0U);
    for (std::size_t i = 1000; i < blocks.size(); ++i) blocks[i] = resource.allocate(48, 8);
    std::sort(blocks.begin(), blocks.end());
    EXPECT_EQ(std::adjacent_find(blocks.begin(), blocks.end()), blocks.end());
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
}

// Over reservations, where pages are decommitted in place, and over an upstream.
TYPED_TEST(multipool_upkeep, trim_invalidates_nothing) {
    counting_upstream upstream;
    for (std::pmr::memory_resource* const from :
         {std::pmr::get_default_resource(), static_cast<std::pmr::memory_resource*>(&upstream)}) {
        TypeParam defaulted, named(&upstream);
        TypeParam& resource = from == &upstream ? named : defaulted;
        headroom_test::random random(3);
        std::vector<memory_piece> live = fill(resource, random, 4 << 20);
        for (int round = 0; round < 10; ++round) {
            for (std::size_t i = live.size(); i > 1; --i) std::swap(live[i - 1], live[random.below(i)]);
            const std::size_t kept = live.size() / (round % 3 == 0 ? 10 : 2);
            for (std::size_t i = kept; i < live.size(); ++i) resource.deallocate(live[i].data, live[i].bytes, 1);
            live.resize(kept);
            (void)resource.trim();
            const std::vector<memory_piece> more = fill(resource, random, 1 << 20);
            live.insert(live.end(), more.begin(), more.end());
            for (const memory_piece& each : live) {
                ASSERT_TRUE(std::all_of(each.data, each.data + each.bytes, [&](unsigned char at) { return at == each.seed; }));
            }
        }
    }
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

TYPED_TEST(multipool_upkeep, trim_gives_back_what_was_used_before_rewind) {
    counting_upstream upstream;
    TypeParam named(&upstream), defaulted;
    for (TypeParam* const resource : {&named, &defaulted}) {
        headroom_test::random random(7);
        std::size_t most = 0;
        for (const std::size_t round : std::array<std::size_t, 5>{16, 2, 16, 0, 4}) {    // MiB in use in each round
            const std::vector<memory_piece> live = fill(*resource, random, round << 20);
            most = std::max(most, round << 20);
            // Releases all memory that was used in an earlier round and is free now.
            const std::size_t back = resource->trim();
            EXPECT_GE(back + (round << 20) + (most >> 2), most) << round;
            most = round << 20;
            for (const memory_piece& each : live) {
                ASSERT_TRUE(std::all_of(each.data, each.data + each.bytes, [&](unsigned char at) { return at == each.seed; }));
            }
            resource->rewind();
        }
        const std::size_t back = resource->trim();
        EXPECT_GE(back + (most >> 2), most);
        EXPECT_EQ(resource->trim(), 0U) << "it is gone already";
        // Uses a little of the free memory: the rest stays decommitted.
        (void)fill(*resource, random, std::size_t{1} << 20);
        EXPECT_LE(resource->trim(), std::size_t{1} << 20);
        resource->rewind();
        (void)resource->trim();
    }
    EXPECT_LT(upstream.bytes(), std::size_t{2} << 20);
    named.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

TYPED_TEST(multipool_upkeep, statistics_count_what_is_in_use) {
    TypeParam resource;
    headroom_test::random random(5);
    EXPECT_EQ(resource.statistics().blocks, 0U);
    EXPECT_EQ(resource.statistics().chunk_bytes, 0U);
    std::vector<memory_piece> live = fill(resource, random, 2 << 20);
    for (int round = 0; round < 4; ++round) {
        for (std::size_t i = 0; i < live.size() / 3; ++i) {
            std::swap(live[random.below(live.size())], live.back());
            resource.deallocate(live.back().data, live.back().bytes, 1);
            live.pop_back();
        }
        std::map<std::size_t, std::size_t> sizes;
        for (const memory_piece& each : live) ++sizes[headroom::detail::bin_bytes(headroom::detail::bin_of(each.bytes))];
        const multipool_statistics seen = resource.statistics();
        std::size_t blocks = 0, bytes = 0;
        for (const auto& each : seen.classes) {
            ASSERT_EQ(each.in_use, sizes[each.block_bytes]) << each.block_bytes;
            blocks += each.in_use;
            bytes += each.in_use * each.block_bytes;
            EXPECT_LE(each.full(), 1.0);
        }
        EXPECT_EQ(seen.blocks, blocks);
        EXPECT_EQ(seen.bytes, bytes);
        EXPECT_EQ(seen.blocks, live.size());
        EXPECT_GE(seen.chunk_bytes, seen.bytes);
    }
    EXPECT_GT(resource.statistics().classes[5].slabs, 0U);
    // Free pages in front of a block in use stay, those behind the last one do not.
    std::sort(live.begin(), live.end(), [](const memory_piece& a, const memory_piece& b) { return a.data < b.data; });
    const memory_piece last = live.back();
    live.pop_back();
    for (const memory_piece& each : live) resource.deallocate(each.data, each.bytes, 1);
    (void)resource.trim();
    const multipool_statistics before = resource.statistics();
    EXPECT_GT(before.empty_slab_bytes, std::size_t{1} << 20);
    resource.deallocate(last.data, last.bytes, 1);
    EXPECT_EQ(resource.statistics().blocks, 0U);
    (void)resource.trim();
    EXPECT_LT(resource.statistics().empty_slab_bytes, before.empty_slab_bytes);
    EXPECT_LT(resource.statistics().chunk_bytes, before.chunk_bytes);
}

// Chunks of at most 64 KiB are divided into pages too.
TEST(multipool_upkeep_of_small_chunks, trim_gives_them_back) {
    for (std::size_t bytes = 64; bytes <= 4096; bytes *= 2) {
        counting_upstream upstream;
        multipool_resource resource({(std::size_t{64} << 10) / bytes, 0}, &upstream);
        std::vector<void*> blocks;
        for (std::size_t i = 0; i < (std::size_t{4} << 20) / bytes; ++i) blocks.push_back(resource.allocate(bytes, 8));
        for (void* const each : blocks) resource.deallocate(each, bytes, 8);
        EXPECT_GT(resource.trim(), std::size_t{3} << 20) << bytes;
        EXPECT_LT(upstream.bytes(), std::size_t{512} << 10) << bytes;
    }
}

TEST(multipool_upkeep_of_threads, trim_may_be_called_while_others_allocate) {
    counting_upstream upstream;
    headroom::synchronized_multipool_resource resource(&upstream);
    std::vector<std::thread> threads;
    for (int number = 0; number < 3; ++number) {
        threads.emplace_back([&resource, number] {
            for (int i = 0; i < 50; ++i) {
                std::pmr::list<int> list(&resource);
                for (int k = 0; k < 500; ++k) list.push_back(k);
                if (number == 0) {
                    (void)resource.trim();
                    EXPECT_GE(resource.statistics().blocks, 500U);
                }
            }
        });
    }
    for (std::thread& each : threads) each.join();
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

// Blocks freed by another thread return to their slabs in batches.
TEST(multipool_upkeep_of_threads, slabs_that_another_thread_empties_serve_another_size) {
    counting_upstream upstream;
    headroom::synchronized_multipool_resource resource(&upstream);
    constexpr std::size_t count = 50'000;
    std::vector<void*> blocks(count);
    for (void*& each : blocks) each = resource.allocate(48, 8);
    const std::size_t before = upstream.bytes();
    std::thread([&] {
        for (void* const each : blocks) resource.deallocate(each, 48, 8);
    }).join();
    const multipool_statistics seen = resource.statistics();
    EXPECT_EQ(seen.blocks, 0U) << "the thread's cache was given back when it ended";
    EXPECT_GT(seen.empty_slab_bytes, count * 48 / 2);
    for (void*& each : blocks) each = resource.allocate(24, 8);
    EXPECT_LE(upstream.bytes(), before + before / 8);
    for (void* const each : blocks) resource.deallocate(each, 24, 8);
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

// Commits another huge page only if it is a small part of the memory in use.
TEST(multipool_upkeep_of_threads, little_is_committed_beyond_what_is_in_use) {
    headroom::synchronized_multipool_resource resource;
    std::size_t bytes = 0;
    std::vector<void*> blocks;
    for (std::size_t until = std::size_t{1} << 20; until <= std::size_t{12} << 20; until += std::size_t{1} << 20) {
        for (; bytes < until; bytes += 64) blocks.push_back(resource.allocate(64, 8));
        EXPECT_LE(resource.statistics().chunk_bytes, until + (std::size_t{1} << 20)) << until;
    }
    for (void* const each : blocks) resource.deallocate(each, 64, 8);
}

}    // namespace
