// SPDX-License-Identifier: MIT
// AddressSanitizer detects access to free blocks and unused memory; no poison stays behind.
#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <headroom/reservation.hpp>

#include <gtest/gtest.h>

#include <cstring>

#include "support/resources.hpp"

namespace {

using headroom::monotonic_resource;
using headroom::multipool_resource;

#if defined(HEADROOM_ASAN)

extern "C" int __asan_address_is_poisoned(const volatile void* address);

void write(void* block, std::size_t at) { static_cast<volatile char*>(block)[at] = 1; }

TEST(memory_poison, a_free_block_of_a_multipool) {
    multipool_resource resource;
    void* const block = resource.allocate(48, 8);
    write(block, 47);
    resource.deallocate(block, 48, 8);
    EXPECT_DEATH(write(block, 0), "use-after-poison");
    EXPECT_DEATH(write(block, 47), "use-after-poison");
}

TEST(memory_poison, a_large_block_that_a_multipool_keeps) {
    multipool_resource resource;
    void* const block = resource.allocate(100'000);
    write(block, 99'999);
    resource.deallocate(block, 100'000);
    EXPECT_DEATH(write(block, 0), "use-after-poison");
    EXPECT_DEATH(write(block, 99'999), "use-after-poison");
    write(resource.allocate(90'000), 89'999);
}

TEST(memory_poison, behind_a_block_of_a_multipool) {
    multipool_resource resource;
    void* const block = resource.allocate(20, 4);
    EXPECT_DEATH(write(block, 20), "use-after-poison");
}

TEST(memory_poison, a_free_block_that_a_thread_keeps) {
    headroom::synchronized_multipool_resource resource;
    void* const block = resource.allocate(48, 8);
    write(block, 47);
    resource.deallocate(block, 48, 8);
    EXPECT_DEATH(write(block, 8), "use-after-poison");
}

TEST(memory_poison, the_unused_part_of_a_monotonic) {
    monotonic_resource resource;
    void* const block = resource.allocate(100, 8);
    EXPECT_DEATH(write(block, 100), "use-after-poison");
    void* const large = resource.allocate(100'000, 8);
    EXPECT_DEATH(write(large, 100'000), "use-after-poison");
}

TEST(memory_poison, what_was_forgotten) {
    monotonic_resource monotonic;
    multipool_resource multipool;
    void* const a = monotonic.allocate(100);
    void* const b = multipool.allocate(100);
    void* const large = multipool.allocate(100'000);
    const auto mark = monotonic.mark();
    void* const c = monotonic.allocate(100);
    monotonic.rewind(mark);
    EXPECT_DEATH(write(c, 0), "use-after-poison");
    write(a, 0);
    monotonic.rewind();
    multipool.rewind();
    EXPECT_DEATH(write(a, 0), "use-after-poison");
    EXPECT_DEATH(write(b, 0), "use-after-poison");
    EXPECT_DEATH(write(large, 0), "use-after-poison");
}

TEST(memory_poison, the_unused_part_of_an_arena) {
    headroom::arena memory(1 << 20);
    void* const block = memory.allocate(100, 8);
    EXPECT_DEATH(write(block, 100), "use-after-poison");
    memory.reset();
    EXPECT_DEATH(write(block, 0), "use-after-poison");
}

TEST(memory_poison, what_an_arena_forgot_since_a_mark) {
    headroom::arena memory(1 << 20);
    headroom::arena_resource resource(memory);
    void* const before = memory.allocate(100, 8);
    const auto mark = memory.mark();
    void* const block = memory.allocate(100, 8);
    write(block, 99);
    memory.rewind(mark);
    EXPECT_DEATH(write(block, 0), "use-after-poison");
    write(before, 99);
    void* const again = resource.allocate(100, 8);
    EXPECT_EQ(again, block);
    write(again, 99);
    resource.rewind();
    EXPECT_DEATH(write(before, 0), "use-after-poison");
    EXPECT_DEATH(write(again, 0), "use-after-poison");
}

TEST(memory_poison, a_block_of_a_pool_that_the_next_user_has) {
    multipool_resource resource({}, std::pmr::new_delete_resource());
    void* const stale = resource.allocate(300, 8);
    resource.deallocate(stale, 300, 8);
    EXPECT_DEATH(write(stale, 299), "use-after-poison");
    void* const wide = resource.allocate(20'000, 64);
    resource.deallocate(wide, 20'000, 64);
    EXPECT_DEATH(write(wide, 19'999), "use-after-poison");
}

TEST(memory_poison, a_buffer_of_the_callers_is_its_own_again_afterwards) {
    std::array<char, 200> buffer;
    {
        monotonic_resource resource(buffer.data(), buffer.size());
        (void)resource.allocate(10);
        EXPECT_DEATH(write(buffer.data(), 150), "use-after-poison");
    }
    write(buffer.data(), 150);
}

// Poisoning takes shadow memory, one byte for eight: only allocated memory may be poisoned.
TEST(memory_poison, an_arena_over_a_range_held_open_hides_only_what_was_allocated) {
    headroom::arena memory(std::size_t{1} << 30, headroom::commit_policy{}.held(headroom::holding::open));
    if (memory.committed() < memory.reserved()) GTEST_SKIP() << "the system holds no range open";
    (void)memory.allocate(100);
    EXPECT_EQ(__asan_address_is_poisoned(memory.data() + (std::size_t{512} << 20)), 0);
    memory.reset();
    EXPECT_DEATH(write(memory.data(), 50), "use-after-poison");
    memory.trim();
    EXPECT_EQ(__asan_address_is_poisoned(memory.data() + (std::size_t{512} << 20)), 0);
}

#endif

// The next owner of the memory can write to all of it.
TEST(memory_poison, none_is_left_behind) {
    for (int round = 0; round < 3; ++round) {
        {
            monotonic_resource monotonic;
            multipool_resource multipool;
            headroom::arena memory(std::size_t{64} << 20);
            for (std::size_t i = 0; i < 3000; ++i) {
                (void)monotonic.allocate(i % 100 + 1, 1);
                void* const block = multipool.allocate(i % 100 + 1, 1);
                if (i % 2 == 0) multipool.deallocate(block, i % 100 + 1, 1);
                (void)memory.allocate(i % 100 + 1, 1);
            }
            (void)multipool.allocate(100'001);
        }
        headroom::reservation range(std::size_t{64} << 20, headroom::detail::chunk_policy);
        ASSERT_FALSE(range.commit_to(1 << 20));
        std::memset(range.data(), round, 1 << 20);
        void* const heap = ::operator new(30'000);
        std::memset(heap, round, 30'000);
        EXPECT_EQ(static_cast<char*>(heap)[29'999], round);
        ::operator delete(heap);
        EXPECT_EQ(static_cast<int>(range.data()[(1 << 20) - 1]), round);
    }
}

// No poison stays after move assignment either. Setting a cache limit keeps a range in the cache already at its first release.
TEST(memory_poison, none_is_left_behind_by_an_arena_whose_range_is_kept_warm) {
    const std::size_t before = headroom::cache_limit();
    headroom::set_cache_limit(std::size_t{64} << 20);
    for (const bool assigned : {true, false}) {
        headroom::trim_cache();
        const std::byte* place;
        {
            headroom::arena memory(std::size_t{8} << 20);
            place = memory.data();
            std::memset(memory.allocate(100'000), 1, 100'000);
            memory.reset();
            if (assigned) memory = headroom::arena(std::size_t{1} << 20);
        }
        headroom::reservation range(std::size_t{8} << 20, headroom::detail::chunk_policy);
        if (range.data() != place) continue;    // hardened builds quarantine the range
        ASSERT_FALSE(range.commit_to(100'000));
        std::memset(range.data(), 2, 100'000);
        EXPECT_EQ(static_cast<int>(range.data()[99'999]), 2);
    }
    headroom::set_cache_limit(before);
}

}    // namespace
