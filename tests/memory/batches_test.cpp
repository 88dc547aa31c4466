// SPDX-License-Identifier: MIT
// Labels: thread
// Thread caches of a synchronized multipool, and the batches in which free blocks move to other threads.
#include <headroom/multipool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

#include "support/resources.hpp"

namespace {

using headroom::synchronized_multipool_resource;
using headroom_test::counting_upstream;

TEST(batches, what_a_thread_gave_back_last_it_gets_first) {
    synchronized_multipool_resource resource;
    for (const std::size_t bytes : {8U, 24U, 200U, 1'000U, 4'096U}) {
        void* const first = resource.allocate(bytes, 8);
        void* const second = resource.allocate(bytes, 8);
        resource.deallocate(second, bytes, 8);
        resource.deallocate(first, bytes, 8);
        EXPECT_EQ(resource.allocate(bytes, 8), first) << bytes;
        EXPECT_EQ(resource.allocate(bytes, 8), second) << bytes;
        resource.deallocate(first, bytes, 8);
        resource.deallocate(second, bytes, 8);
    }
}

// Frees and reallocates more blocks than a thread caches: each comes back exactly once.
TEST(batches, no_block_is_lost_between_threads_and_pools) {
    synchronized_multipool_resource resource;
    for (const std::size_t bytes : {16U, 208U, 4'096U}) {
        const auto in_use = [&] {
            std::size_t result = 0;
            for (const auto& each : resource.statistics().classes) result += each.block_bytes == bytes ? each.in_use : 0;
            return result;
        };
        std::vector<void*> blocks(1'000);
        for (void*& each : blocks) each = resource.allocate(bytes, 8);
        EXPECT_EQ(in_use(), blocks.size()) << bytes;
        for (int turn = 0; turn < 3; ++turn) {
            for (void* const each : blocks) resource.deallocate(each, bytes, 8);
            std::set<void*> again;
            for (void*& each : blocks) again.insert(each = resource.allocate(bytes, 8));
            EXPECT_EQ(again.size(), blocks.size()) << bytes;
            EXPECT_EQ(in_use(), blocks.size()) << bytes;
        }
        for (void* const each : blocks) resource.deallocate(each, bytes, 8);
        EXPECT_EQ(in_use(), 0U) << bytes;
    }
}

TEST(batches, what_crosses_threads_goes_round) {
    counting_upstream upstream;
    synchronized_multipool_resource resource(&upstream);
    constexpr std::size_t turns = 300, in_a_turn = 1000;
    for (const std::size_t bytes : {8U, 48U, 700U, 4096U}) {
        std::vector<unsigned char*> blocks(in_a_turn);
        std::atomic<int> whose{0};    // 0: to be filled, 1: to be deallocated
        const auto wait_for = [&](int which) {
            while (whose.load(std::memory_order_acquire) != which) std::this_thread::yield();
        };
        std::thread consumer([&] {
            for (std::size_t turn = 0; turn < turns; ++turn) {
                wait_for(1);
                for (unsigned char* const each : blocks) {
                    ASSERT_EQ(each[0], static_cast<unsigned char>(turn));
                    ASSERT_EQ(each[bytes - 1], static_cast<unsigned char>(turn)) << "somebody else has it too";
                    resource.deallocate(each, bytes, 8);
                }
                whose.store(0, std::memory_order_release);
            }
        });
        for (std::size_t turn = 0; turn < turns; ++turn) {
            wait_for(0);
            for (unsigned char*& each : blocks) {
                each = static_cast<unsigned char*>(resource.allocate(bytes, 8));
                each[0] = each[bytes - 1] = static_cast<unsigned char>(turn);
            }
            whose.store(1, std::memory_order_release);
        }
        consumer.join();
        EXPECT_LT(upstream.bytes(), 4 * in_a_turn * bytes + (std::size_t{1} << 20)) << bytes;
        resource.release();
        EXPECT_EQ(upstream.blocks(), 0U);
    }
}

}    // namespace
