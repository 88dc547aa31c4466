// SPDX-License-Identifier: MIT
// Labels: core
#include <headroom/arena.hpp>
#include <headroom/testing.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/resources.hpp"

namespace {

using headroom::arena;
using headroom::arena_resource;
using headroom_test::aligned;

TEST(arena, reserves_what_is_asked_for) {
    const arena small(10'000);
    EXPECT_GE(small.reserved(), 10'000U);
    EXPECT_LT(small.reserved(), 10'000 + headroom::page_size());
    const arena by_default;
    EXPECT_EQ(by_default.reserved(), arena::default_reserve);
    EXPECT_EQ(by_default.used(), 0U);
}

TEST(arena, blocks_follow_each_other_and_count_as_used) {
    arena memory(1 << 20);
    auto* const first = static_cast<std::byte*>(memory.allocate(3, 1));
    EXPECT_EQ(memory.allocate(5, 1), first + 3);
    EXPECT_EQ(memory.used(), 8U);
    EXPECT_EQ(memory.allocate(16, 16), first + 16);
    EXPECT_EQ(memory.used(), 32U);
    EXPECT_TRUE(memory.contains(first));
    EXPECT_TRUE(memory.contains(first + 31));
    EXPECT_FALSE(memory.contains(first + 32));
    EXPECT_FALSE(memory.contains(&memory));
}

TEST(arena, commits_as_it_fills) {
    arena memory(std::size_t{1} << 28);
    std::byte* const block = static_cast<std::byte*>(memory.allocate(10 << 20));
    std::memset(block, 1, 10 << 20);
    EXPECT_GE(memory.committed(), std::size_t{10} << 20);
    EXPECT_LT(memory.committed(), std::size_t{16} << 20);
    EXPECT_EQ(headroom::owner_of(block)->base, memory.data());
}

TEST(arena, commits_what_alignment_skips_too) {
    arena memory(std::size_t{64} << 20);
    for (const std::size_t alignment : {std::size_t{4096}, std::size_t{1} << 16, std::size_t{1} << 20, std::size_t{4} << 20}) {
        (void)memory.allocate(1, 1);
        void* const block = memory.allocate(100, alignment);
        EXPECT_TRUE(aligned(block, alignment));
        EXPECT_LE(memory.used(), memory.committed());
        std::memset(block, 1, 100);
    }
}

TEST(arena, ends_where_its_reservation_ends) {
    const std::size_t page = headroom::page_size();
    arena memory(2 * page);
    EXPECT_NE(memory.try_allocate(page, 1), nullptr);
    EXPECT_EQ(memory.try_allocate(page + 1, 1), nullptr);
    EXPECT_THROW((void)memory.allocate(page + 1, 1), std::bad_alloc);
    EXPECT_EQ(memory.used(), page);
    EXPECT_NE(memory.try_allocate(page, 1), nullptr);
    EXPECT_EQ(memory.try_allocate(1, 1), nullptr);
    EXPECT_EQ(memory.try_allocate(0, 1), nullptr);
    EXPECT_EQ(memory.used(), 2 * page);
}

TEST(arena, impossible_requests_are_refused) {
    arena memory(1 << 20);
    (void)memory.allocate(1, 1);
    for (int shift = 21; shift < static_cast<int>(sizeof(std::size_t) * 8); ++shift) {
        const std::size_t large = std::size_t{1} << shift;
        EXPECT_EQ(memory.try_allocate(large, 1), nullptr) << shift;
        EXPECT_EQ(memory.try_allocate(-large, 1), nullptr) << shift;
        if (shift > 30) {
            EXPECT_EQ(memory.try_allocate(1, large), nullptr) << shift;
        }
    }
    EXPECT_EQ(memory.try_allocate(SIZE_MAX, 1), nullptr);
    EXPECT_EQ(memory.try_allocate(SIZE_MAX - 4096, 4096), nullptr);
    EXPECT_EQ(memory.used(), 1U);
}

TEST(arena, a_refusing_system_is_an_error_and_changes_nothing) {
    headroom::trim_cache();
    arena memory(std::size_t{1} << 28);
    (void)memory.allocate(100);
    const std::size_t used = memory.used();
    headroom::testing::fail_system_call(1, ENOMEM, headroom::testing::afterwards::keep_failing);
    EXPECT_EQ(memory.try_allocate(std::size_t{10} << 20), nullptr);
    EXPECT_THROW((void)memory.allocate(std::size_t{10} << 20), headroom::refused);
    headroom::testing::stop_failing();
    EXPECT_EQ(memory.used(), used);
    EXPECT_NE(memory.try_allocate(std::size_t{10} << 20), nullptr);
}

TEST(arena, a_mark_is_a_place_to_come_back_to) {
    arena memory(1 << 20);
    (void)memory.allocate(100);
    const arena::marker before = memory.mark();
    void* const block = memory.allocate(50'000);
    const arena::marker inner = memory.mark();
    (void)memory.allocate(1);
    memory.rewind(inner);
    memory.rewind(before);
    EXPECT_EQ(memory.used(), 100U);
    EXPECT_EQ(memory.allocate(50'000), block);
}

TEST(arena, reset_keeps_pages_and_trim_gives_them_back) {
    arena memory(std::size_t{1} << 28);
    std::memset(memory.allocate(3 << 20), 1, 3 << 20);
    const std::size_t committed = memory.committed();
    memory.reset();
    EXPECT_EQ(memory.used(), 0U);
    EXPECT_EQ(memory.committed(), committed);
    (void)memory.allocate(10);
    memory.trim();
    EXPECT_LE(memory.committed(), headroom::page_size());
    EXPECT_EQ(memory.used(), 10U);
    std::memset(memory.allocate(1 << 20), 1, 1 << 20);
}

TEST(arena, moves_with_its_blocks) {
    arena memory(1 << 20);
    auto* const block = static_cast<char*>(memory.allocate(100));
    std::memset(block, 5, 100);
    arena other(std::move(memory));
    EXPECT_EQ(other.used(), 100U);
    EXPECT_EQ(block[99], 5);
    arena third(1 << 16);
    (void)third.allocate(10);
    third = std::move(other);
    EXPECT_EQ(third.used(), 100U);
    EXPECT_EQ(block[99], 5);
    EXPECT_NE(third.allocate(100), nullptr);
    EXPECT_EQ(other.try_allocate(1), nullptr);
}

TEST(arena, takes_over_a_reservation) {
    headroom::reservation range(1 << 20);
    std::byte* const base = range.data();
    arena memory(std::move(range));
    EXPECT_EQ(memory.allocate(8, 8), base);
}

TEST(arena_resource, serves_from_an_arena_of_the_users) {
    arena memory(1 << 20);
    arena_resource resource(memory);
    std::pmr::vector<int> numbers(&resource);
    for (int i = 0; i < 1000; ++i) numbers.push_back(i);
    EXPECT_TRUE(memory.contains(numbers.data()));
    EXPECT_EQ(&resource.underlying(), &memory);
}

TEST(arena_resource, serves_from_one_of_its_own) {
    arena_resource resource(1 << 20);
    EXPECT_TRUE(aligned(resource.allocate(100, 4096), 4096));
    EXPECT_THROW((void)resource.allocate(1 << 20), std::bad_alloc);
    arena_resource large;
    EXPECT_EQ(large.underlying().reserved(), arena::default_reserve);
}

TEST(arena_resource, rewind_keeps_pages_and_release_gives_them_back) {
    arena_resource resource(std::size_t{1} << 28);
    void* const first = resource.allocate(1 << 20);
    resource.rewind();
    EXPECT_GE(resource.underlying().committed(), std::size_t{1} << 20);
    EXPECT_EQ(resource.allocate(100), first);
    resource.release();
    EXPECT_EQ(resource.underlying().committed(), 0U);
    EXPECT_EQ(resource.allocate(100), first);
    const auto place = resource.mark();
    void* const second = resource.allocate(10);
    resource.rewind(place);
    EXPECT_EQ(resource.allocate(10), second);
}

}    // namespace
