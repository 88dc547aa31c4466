// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Reuse of freed blocks by a multipool: in order of addresses, from their slabs, for every size.
#include <headroom/multipool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "support/resources.hpp"

namespace {

using headroom::multipool_resource;
using headroom_test::counting_upstream;

class multipool_lives : public testing::TestWithParam<std::size_t> {
protected:
    static constexpr std::size_t bytes_in_all = std::size_t{4} << 20;

    [[nodiscard]] static std::size_t size() { return GetParam(); }
    [[nodiscard]] static std::size_t count() { return bytes_in_all / size(); }

    std::vector<void*> allocate(std::size_t bytes, std::size_t number) {
        std::vector<void*> blocks(number);
        for (void*& each : blocks) {
            each = resource.allocate(bytes, 8);
            std::memset(each, 1, bytes);
        }
        return blocks;
    }
    void shuffle(std::vector<void*>& blocks) {
        for (std::size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[random.below(i)]);
    }
    void deallocate(const std::vector<void*>& blocks, std::size_t bytes) {
        for (void* const each : blocks) resource.deallocate(each, bytes, 8);
    }
    // Returns the number of blocks at a higher address than their predecessor.
    static std::size_t ascending(const std::vector<void*>& blocks) {
        std::size_t result = 0;
        for (std::size_t i = 1; i < blocks.size(); ++i) result += std::less<>()(blocks[i - 1], blocks[i]) ? 1U : 0U;
        return result;
    }

    counting_upstream upstream;
    multipool_resource resource{&upstream};
    headroom_test::random random{1};
};

// Not in order are the few blocks freed last and those of the small first chunks.
TEST_P(multipool_lives, what_came_back_in_any_order_goes_out_in_order_of_addresses) {
    std::vector<void*> blocks = allocate(size(), count());
    const auto requests = upstream.requests();
    for (int life = 0; life < 3; ++life) {
        shuffle(blocks);
        deallocate(blocks, size());
        blocks = allocate(size(), count());
        EXPECT_GE(ascending(blocks), count() * 9 / 10 - count() / 20) << "of " << count();
    }
    EXPECT_EQ(upstream.requests(), requests) << "and no memory is wanted but what there was";
}

TEST_P(multipool_lives, a_block_is_given_out_once) {
    std::vector<void*> blocks = allocate(size(), count());
    for (int life = 0; life < 3; ++life) {
        shuffle(blocks);
        const std::vector<void*> half(blocks.begin() + static_cast<std::ptrdiff_t>(blocks.size() / 2), blocks.end());
        blocks.resize(blocks.size() / 2);
        deallocate(half, size());
        for (void* const each : allocate(size(), half.size())) blocks.push_back(each);
        std::vector<void*> sorted = blocks;
        std::sort(sorted.begin(), sorted.end(), std::less<>());
        for (std::size_t i = 1; i < sorted.size(); ++i) {
            ASSERT_GE(reinterpret_cast<std::uintptr_t>(sorted[i]) - reinterpret_cast<std::uintptr_t>(sorted[i - 1]), size());
        }
    }
}

TEST_P(multipool_lives, half_free_slabs_are_filled_before_more_memory_is_taken) {
    std::vector<void*> blocks = allocate(size(), count());
    const std::size_t bytes = upstream.bytes();
    for (int life = 0; life < 5; ++life) {
        std::vector<void*> gone, kept;
        for (std::size_t i = 0; i < blocks.size(); ++i) (i % 2 == 0 ? gone : kept).push_back(blocks[i]);
        shuffle(gone);
        deallocate(gone, size());
        for (void* const each : allocate(size(), gone.size())) kept.push_back(each);
        blocks = kept;
    }
    EXPECT_EQ(upstream.bytes(), bytes);
}

TEST_P(multipool_lives, an_empty_slab_serves_another_size) {
    std::vector<void*> blocks = allocate(size(), count());
    const std::size_t bytes = upstream.bytes();
    for (const std::size_t other : {std::size_t{32}, std::size_t{80}, std::size_t{320}, std::size_t{96}}) {
        shuffle(blocks);
        deallocate(blocks, size());
        blocks = allocate(other, bytes_in_all / 2 / other);    // half as much: some slabs still hold the blocks freed last
        shuffle(blocks);
        deallocate(blocks, other);
        blocks = allocate(size(), count() / 2);
    }
    EXPECT_EQ(upstream.bytes(), bytes);
}

INSTANTIATE_TEST_SUITE_P(sizes, multipool_lives, testing::Values(8, 24, 40, 128, 136, 320, 512, 1024, 2000, 4096));

// Blocks that are allocated and freed in turn stay the same few, however many are free elsewhere: they are not flushed and
// replaced by those of other half-free slabs.
TEST_P(multipool_lives, blocks_that_come_and_go_in_turn_are_a_few) {
    const std::vector<void*> blocks = allocate(size(), count());
    std::vector<void*> gone;
    for (std::size_t i = 0; i < blocks.size(); i += 2) gone.push_back(blocks[i]);
    deallocate(gone, size());
    (void)allocate(size(), count() / 4);    // takes the free blocks of chunks, which are used first
    constexpr std::size_t in_turn = 60;
    std::set<void*> seen;
    for (std::size_t turn = 0; turn < 100; ++turn) {
        const std::vector<void*> some = allocate(size(), in_turn);
        seen.insert(some.begin(), some.end());
        deallocate(some, size());
    }
    EXPECT_LE(seen.size(), in_turn * 8);
}

// Allocating after every second deallocation does not stop the deferred blocks from being flushed.
TEST_P(multipool_lives, what_comes_back_while_less_is_asked_for_goes_out_in_order_of_addresses) {
    std::vector<void*> blocks = allocate(size(), count());
    shuffle(blocks);
    std::vector<void*> kept;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        resource.deallocate(blocks[i], size(), 8);
        if (i % 2 == 1) kept.push_back(resource.allocate(size(), 8));
    }
    blocks = allocate(size(), count() / 2);
    const std::size_t few = (std::min)(blocks.size(), std::size_t{1000});    // can be in any order
    EXPECT_GE(ascending(blocks), (blocks.size() - few) * 7 / 10 + few * 4 / 10);
}

TEST_P(multipool_lives, statistics_know_what_waits_to_be_put_in_order) {
    std::vector<void*> blocks = allocate(size(), count());
    shuffle(blocks);
    while (blocks.size() > count() / 2) {
        resource.deallocate(blocks.back(), size(), 8);
        blocks.pop_back();
        if (blocks.size() % 7 == 0 && blocks.size() < count() / 2 + 1000) {
            ASSERT_EQ(resource.statistics().blocks, blocks.size());
        }
    }
    EXPECT_EQ(resource.statistics().blocks, blocks.size());
    resource.trim();
    EXPECT_EQ(resource.statistics().blocks, blocks.size());
}

// Too few blocks of each size are freed to be flushed; they are returned to their slabs when another size needs memory.
TEST(multipool_slabs, what_little_of_many_sizes_left_behind_serves_another_size) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    std::vector<std::pair<void*, std::size_t>> blocks;
    for (std::size_t bytes = 144; bytes < 500; bytes += bytes / 8) {
        for (int of_it = 0; of_it < 135; ++of_it) blocks.emplace_back(resource.allocate(bytes, 8), bytes);
    }
    const std::size_t held = upstream.bytes();
    for (const auto& [block, bytes] : blocks) resource.deallocate(block, bytes, 8);
    for (std::size_t taken = 0; taken < held / 6; taken += 40) static_cast<void>(resource.allocate(40, 8));
    EXPECT_EQ(upstream.bytes(), held);
}

// More memory upstream never serves fewer blocks, within the size of a table: a chunk is used even if upstream cannot give the
// slab table, or ignores deallocation.
TEST(multipool_slabs, a_buffer_without_room_for_a_table_is_used_all_the_same) {
    std::size_t of_a_buffer = 0;
    std::size_t of_a_quota = 0;
    const auto taken_of = [](std::pmr::memory_resource* scarce) {
        multipool_resource resource(scarce);
        std::size_t bytes = 0;
        try {
            for (;; bytes += 40) static_cast<void>(resource.allocate(40, 8));
        } catch (const std::bad_alloc&) {}
        return bytes;
    };
    for (std::size_t all = std::size_t{240} << 10; all < std::size_t{300} << 10; all += 256) {
        void* const buffer =
            std::pmr::new_delete_resource()->allocate(all, 4096);    // page-aligned: each time an equal loss to alignment
        std::pmr::monotonic_buffer_resource fixed(buffer, all, std::pmr::null_memory_resource());
        const std::size_t now = taken_of(&fixed);
        std::pmr::new_delete_resource()->deallocate(buffer, all, 4096);
        ASSERT_GE(now + 8192, of_a_buffer) << all;    // the table, and pages cut by the start of pieces
        of_a_buffer = std::max(now, of_a_buffer);
        counting_upstream upstream;
        upstream.limit(all);
        const std::size_t then = taken_of(&upstream);
        ASSERT_GE(then + 8192, of_a_quota) << all;
        of_a_quota = std::max(then, of_a_quota);
    }
}

// Holds for any first allocation in a round: one that takes a page early, or of a size without slabs.
TEST(multipool_slabs, a_round_like_the_last_asks_upstream_for_nothing) {
    for (const int small : {500, 5'000, 50'000}) {
        for (const std::size_t first : std::initializer_list<std::size_t>{0, 64, 4096}) {
            counting_upstream upstream;
            multipool_resource resource(&upstream);
            const auto round = [&] {
                if (first != 0) static_cast<void>(resource.allocate(first, 64));
                for (std::size_t bytes = 1024; bytes <= 16384; bytes += bytes / 8) {
                    for (int i = 0; i < 2; ++i) static_cast<void>(resource.allocate(bytes, 8));
                }
                for (int i = 0; i < small; ++i) static_cast<void>(resource.allocate(40, 8));
                resource.rewind();
            };
            round();
            const std::size_t held = upstream.bytes();
            for (int again = 0; again < 5; ++again) round();
            EXPECT_EQ(upstream.bytes(), held) << small << ' ' << first;
        }
    }
}

// An exception of upstream is passed on unchanged, and the request is not repeated.
TEST(multipool_slabs, what_upstream_throws_is_thrown_on) {
    struct of_its_own {};
    struct refusing final : std::pmr::memory_resource {
        std::size_t most = SIZE_MAX;
        std::size_t refused = 0;
        void* do_allocate(std::size_t bytes, std::size_t alignment) override {
            if (bytes <= most) return std::pmr::new_delete_resource()->allocate(bytes, alignment);
            ++refused;
            throw of_its_own();
        }
        void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
            std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
        }
        bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
    };
    for (std::size_t most = 4096; most < std::size_t{4} << 20; most *= 2) {
        refusing upstream;
        multipool_resource resource(&upstream);
        upstream.most = most;
        EXPECT_THROW(for (;;) static_cast<void>(resource.allocate(40, 8)), of_its_own);
        EXPECT_EQ(upstream.refused, 1U) << most;
    }
}

// Refusing the slab table leaves the chunk in use: its blocks are cut singly.
TEST(multipool_slabs, without_memory_for_a_table_blocks_are_cut_singly) {
    for (std::uint64_t k = 1; k < 30; ++k) {
        counting_upstream upstream;
        {
            multipool_resource resource(&upstream);
            std::vector<void*> blocks;
            upstream.refuse(k);
            for (int i = 0; i < 20'000; ++i) {
                try {
                    blocks.push_back(resource.allocate(40, 8));
                    std::memset(blocks.back(), 1, 40);
                } catch (const std::bad_alloc&) {}
            }
            ASSERT_GE(blocks.size(), 19'999U);
            std::sort(blocks.begin(), blocks.end(), std::less<>());
            ASSERT_EQ(std::adjacent_find(blocks.begin(), blocks.end()), blocks.end());
            for (void* const each : blocks) resource.deallocate(each, 40, 8);
            upstream.refuse(0);
            for (int i = 0; i < 20'000; ++i) (void)resource.allocate(72, 8);
        }
        EXPECT_EQ(upstream.blocks(), 0U);
        EXPECT_EQ(upstream.mistakes(), 0U);
    }
}

}    // namespace
