// SPDX-License-Identifier: MIT
// Labels: core
// Valgrind's operator new cannot throw, so the test of impossible requests is left out there.
// Not under Valgrind: multipool.of_the_default_upstream_impossible_requests_throw_bad_alloc_too
#include <headroom/multipool.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/reservation.hpp>
#include <headroom/testing.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "support/impossible_requests.hpp"
#include "support/resources.hpp"

namespace {

using headroom::monotonic_resource;
using headroom::multipool_resource;
using headroom_test::aligned;
using headroom_test::counting_upstream;

std::byte* bytes_at(void* block) { return static_cast<std::byte*>(block); }

TEST(multipool, construction_allocates_nothing) {
    counting_upstream upstream;
    const headroom_test::default_resource set(&upstream);
    const multipool_resource a;
    const multipool_resource b(&upstream);
    const multipool_resource c(std::pmr::pool_options{10, 100});
    const multipool_resource d({10, 100}, &upstream);
    EXPECT_EQ(upstream.requests(), 0U);
    for (const multipool_resource* each : {&a, &b, &c, &d}) EXPECT_EQ(each->upstream_resource(), &upstream);
}

TEST(multipool, the_default_resource_serves_when_it_is_not_the_standard_one) {
    counting_upstream upstream;
    const headroom_test::default_resource set(&upstream);
    multipool_resource resource;
    for (int i = 0; i < 1000; ++i) (void)resource.allocate(1000);
    (void)resource.allocate(1 << 20);
    EXPECT_GE(upstream.bytes(), 2'000'000U);
}

TEST(multipool, a_named_upstream_gets_every_request_even_the_standard_one) {
    const std::size_t before = headroom::reservations().size();
    multipool_resource resource(std::pmr::new_delete_resource());
    for (int i = 0; i < 1000; ++i) (void)resource.allocate(1000);
    (void)resource.allocate(1 << 20);
    EXPECT_EQ(headroom::reservations().size(), before);
}

TEST(multipool, by_default_large_chunks_and_large_blocks_are_reservations) {
    multipool_resource resource;
    void* small = nullptr;
    for (int i = 0; i < 1000; ++i) small = resource.allocate(1000);
    void* const large = resource.allocate(1 << 20);
    EXPECT_TRUE(headroom::owner_of(small));
    ASSERT_TRUE(headroom::owner_of(large));
    EXPECT_NE(headroom::owner_of(small)->base, headroom::owner_of(large)->base);
    resource.release();
    EXPECT_FALSE(headroom::owner_of(large));
    EXPECT_FALSE(headroom::owner_of(small));
}

TEST(multipool, blocks_have_no_headers_and_lie_in_the_order_of_their_allocation) {
    multipool_resource resource;
    auto* const first = bytes_at(resource.allocate(24, 8));
    EXPECT_EQ(resource.allocate(24, 8), first + 24);
    EXPECT_EQ(resource.allocate(17, 8), first + 48);
    EXPECT_EQ(resource.allocate(8, 8), first + 72);
    EXPECT_EQ(resource.allocate(1, 1), first + 80);
}

TEST(multipool, small_blocks_lie_together_however_large_the_others_are) {
    multipool_resource resource;
    (void)resource.allocate(60'000, 8);    // the first chunks are cut in order of allocation
    const std::byte* before = nullptr;
    int apart = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto* const node = bytes_at(resource.allocate(48, 8));
        (void)resource.allocate(600, 1);
        apart += before != nullptr && node != before + 48;
        before = node;
    }
    EXPECT_LE(apart, 20);
}

TEST(multipool, a_block_is_at_most_an_eighth_larger_than_asked_for_above_a_few_bytes) {
    for (std::size_t bytes = 64; bytes <= 4096; ++bytes) {
        EXPECT_LE(headroom::detail::bin_bytes(headroom::detail::bin_of(bytes)), bytes + bytes / 8 + 8) << bytes;
    }
}

TEST(multipool, every_size_finds_the_smallest_bin_that_holds_it) {
    using headroom::detail::bin_bytes;
    using headroom::detail::bin_index;
    using headroom::detail::bin_of;
    for (std::size_t bytes = 1; bytes <= headroom::detail::max_pooled_bytes; ++bytes) {
        const auto number = static_cast<std::size_t>(bin_of(bytes));
        ASSERT_GE(bin_bytes(bin_index{number}), bytes);
        ASSERT_LT(number == 0 ? 0 : bin_bytes(bin_index{number - 1}), bytes);
    }
}

TEST(multipool, freed_blocks_are_used_again_first_in_first_out) {
    multipool_resource resource;
    std::vector<void*> blocks;
    for (int i = 0; i < 9; ++i) blocks.push_back(resource.allocate(24, 8));
    for (const std::size_t which : {4U, 7U, 1U, 8U, 0U}) resource.deallocate(blocks[which], 24, 8);
    for (const std::size_t which : {4U, 7U, 1U, 8U}) EXPECT_EQ(resource.allocate(24, 8), blocks[which]);
    // One free block stays behind while the chunk has unused memory.
    EXPECT_EQ(resource.allocate(24, 8), bytes_at(blocks[8]) + 24);
}

TEST(multipool, the_last_free_block_is_used_before_a_new_chunk_is_taken) {
    counting_upstream upstream;
    multipool_resource resource({1, 4096}, &upstream);
    void* const only = resource.allocate(4096);
    const std::uint64_t requests = upstream.requests();
    for (int round = 0; round < 10; ++round) {
        resource.deallocate(only, 4096);
        EXPECT_EQ(resource.allocate(4096), only);
    }
    EXPECT_EQ(upstream.requests(), requests);
}

// Taking the only free block again and again would run the slow path each time. The committed part of the chunk is full here.
TEST(multipool, a_chunk_that_can_grow_in_place_does_so_before_the_last_free_block_is_taken) {
    multipool_resource resource;
    // So many blocks that freed ones are not sorted meanwhile, which would find the free block once.
    for (int i = 0; i < 90; ++i) (void)resource.allocate(1024);
    ASSERT_TRUE(headroom::owner_of(resource.allocate(1024)));
    for (int i = 0; i < 100; ++i) {
        void* const only = resource.allocate(1024);
        resource.deallocate(only, 1024);
        void* const next = resource.allocate(1024);
        EXPECT_NE(next, only) << i;
    }
}

TEST(multipool, a_list_that_is_popped_and_pushed_keeps_running_through_memory_in_order) {
    multipool_resource resource;
    std::pmr::list<int> list(&resource);
    for (int i = 0; i < 1000; ++i) list.push_back(i);
    for (int i = 0; i < 10'000; ++i) {
        list.push_back(list.front());
        list.pop_front();
    }
    int backwards = 0;
    const int* before = nullptr;
    for (const int& element : list) {
        backwards += before != nullptr && &element < before;
        before = &element;
    }
    EXPECT_LE(backwards, 2);
}

TEST(multipool, steady_use_needs_nothing_from_upstream) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    headroom_test::random random(1);
    std::vector<std::pair<void*, std::size_t>> live;
    for (int i = 0; i < 1000; ++i) {
        const std::size_t bytes = random.below(500) + 1;
        live.emplace_back(resource.allocate(bytes), bytes);
    }
    for (int i = 0; i < 20'000; ++i) {
        auto& [block, bytes] = live[random.below(live.size())];
        resource.deallocate(block, bytes);
        block = resource.allocate(bytes);
    }
    const std::size_t bytes = upstream.bytes();
    for (int i = 0; i < 20'000; ++i) {
        auto& [block, size] = live[random.below(live.size())];
        resource.deallocate(block, size);
        block = resource.allocate(size);
    }
    EXPECT_EQ(upstream.bytes(), bytes);
}

TEST(multipool, what_is_left_of_a_chunk_is_used_before_the_next_one_is_taken) {
    // Chunks of one block of the exhausted size: the rest of the first goes to the pools.
    counting_upstream upstream;
    multipool_resource resource({1, 4096}, &upstream);
    (void)resource.allocate(4096);
    const std::uint64_t one = upstream.requests();
    (void)resource.allocate(2048);
    const std::uint64_t two = upstream.requests();
    EXPECT_EQ(two, one + 1);
    (void)resource.allocate(4096);
    const std::uint64_t three = upstream.requests();
    EXPECT_EQ(three, two + 1);
}

TEST(multipool, rewind_keeps_every_chunk_and_gives_the_same_addresses) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    const auto round = [&] {
        std::vector<void*> blocks;
        for (std::size_t i = 0; i < 3000; ++i) {
            blocks.push_back(resource.allocate(i % 300 + 1, 1));
            if (i % 3 == 0) resource.deallocate(blocks[i / 3], i / 3 % 300 + 1, 1);
        }
        for (std::size_t bytes = 5000; bytes < 500'000; bytes *= 2) (void)resource.allocate(bytes);
        return blocks;
    };
    (void)round();
    const std::uint64_t requests = upstream.requests();
    resource.rewind();
    const std::vector<void*> first = round();
    for (int again = 0; again < 3; ++again) {
        resource.rewind();
        const std::vector<void*> next = round();
        for (std::size_t i = 0; i < first.size(); ++i) ASSERT_EQ(next[i], first[i]) << i;
    }
    EXPECT_EQ(upstream.requests(), requests);
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
}

TEST(multipool, large_blocks_that_a_round_does_not_use_go_upstream) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    (void)resource.allocate(1 << 20);
    const std::size_t bytes = upstream.bytes();
    resource.rewind();
    EXPECT_EQ(upstream.bytes(), bytes);
    resource.rewind();
    EXPECT_EQ(upstream.bytes(), 0U);
}

TEST(multipool, large_blocks_go_upstream_when_given_back) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    const std::size_t large = resource.options().largest_required_pool_block + 1;
    std::vector<void*> blocks;
    for (int i = 0; i < 10; ++i) blocks.push_back(resource.allocate(large));
    EXPECT_EQ(upstream.blocks(), 10U);
    for (const int which : {3, 0, 9, 5}) resource.deallocate(blocks[static_cast<std::size_t>(which)], large);
    EXPECT_EQ(upstream.blocks(), 6U);
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

// Returning them to the process's cache would cost 1107 instructions and two system calls for each pair of calls.
TEST(multipool, large_blocks_from_reservations_are_kept_for_the_next_of_like_size) {
    if (headroom::detail::memory_checked) GTEST_SKIP() << "checked builds keep none";
    multipool_resource resource;
    for (const std::size_t bytes : {1'100'000U, 2'000'000U, 5'000'000U}) {
        void* const block = resource.allocate(bytes);
        resource.deallocate(block, bytes);
        headroom::testing::count_system_calls();
        for (int i = 0; i < 10; ++i) {
            void* const again = resource.allocate(bytes - static_cast<std::size_t>(i) * 400);
            EXPECT_EQ(again, block);
            std::memset(again, i, bytes - static_cast<std::size_t>(i) * 400);
            resource.deallocate(again, bytes - static_cast<std::size_t>(i) * 400);
        }
        EXPECT_EQ(headroom::testing::stop_failing(), 0U);
        EXPECT_NE(resource.allocate(bytes / 4), block);    // not for a much smaller block
    }
}

TEST(multipool, no_more_than_eight_large_blocks_and_eight_mebibytes_are_kept) {
    if (headroom::detail::memory_checked) GTEST_SKIP() << "checked builds keep none";
    struct kept {
        std::size_t blocks;
        std::size_t bytes;
    };
    const auto kept_of = [](std::size_t bytes) {
        const std::size_t before = headroom::reservations().size();
        multipool_resource resource;
        std::vector<void*> blocks;
        for (int i = 0; i < 20; ++i) blocks.push_back(resource.allocate(bytes));
        EXPECT_EQ(headroom::reservations().size(), before + 20);
        for (void* const block : blocks) resource.deallocate(block, bytes);
        kept result{headroom::reservations().size() - before, 0};
        // The blocks freed last are kept: their memory is most likely in the processor's cache.
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const auto owner = headroom::owner_of(blocks[i]);
            EXPECT_EQ(owner.has_value(), i >= blocks.size() - result.blocks);
            if (owner) result.bytes += owner->committed;
        }
        resource.release();
        EXPECT_EQ(headroom::reservations().size(), before);
        return result;
    };
    for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{3} << 20}) {
        const kept result = kept_of(bytes);
        EXPECT_GE(result.blocks, 2U);
        EXPECT_LE(result.bytes, std::size_t{8} << 20);
    }
    EXPECT_EQ(kept_of(std::size_t{9} << 20).blocks, 0U);
}

TEST(multipool, large_blocks_given_back_in_a_round_serve_the_next) {
    if (headroom::detail::memory_checked) GTEST_SKIP() << "checked builds keep none";
    multipool_resource resource;
    const std::size_t before = headroom::reservations().size();
    void* const block = resource.allocate(1 << 20);
    resource.deallocate(block, 1 << 20);
    resource.rewind();
    EXPECT_EQ(resource.allocate(1 << 20), block);
    resource.deallocate(block, 1 << 20);
    resource.rewind();
    EXPECT_EQ(headroom::reservations().size(), before + 1);
    resource.rewind();    // unused for a whole round
    EXPECT_EQ(headroom::reservations().size(), before);
}

TEST(multipool, what_is_kept_gives_way_when_the_system_refuses) {
    if (headroom::detail::memory_checked) GTEST_SKIP() << "checked builds keep none";
    multipool_resource resource;
    const std::size_t before = headroom::reservations().size();
    resource.deallocate(resource.allocate(1 << 20), 1 << 20);
    EXPECT_EQ(headroom::reservations().size(), before + 1);
    headroom::set_cache_limit(0);    // so that the reservation of a kept block does not serve another
    // Without addresses for a reservation, the block comes from operator new.
    headroom::testing::limit_address_space(1);
    void* const other = resource.allocate(6 << 20);
    headroom::testing::limit_address_space(0);
    EXPECT_FALSE(headroom::owner_of(other));
    EXPECT_EQ(headroom::reservations().size(), before);
    resource.deallocate(other, 6 << 20);
    headroom::set_cache_limit(std::size_t{64} << 20);
}

// A 64 KiB buffer is often not filled, so its pages are not populated.
TEST(multipool, the_memory_of_blocks_above4_ki_b_comes_at_first_touch) {
    headroom::trim_cache();    // cached ranges are already populated
    multipool_resource resource;
    const auto provided = [&](std::size_t bytes, int blocks) {
        const std::uint64_t before = headroom::statistics().faults_avoided;
        for (int i = 0; i < blocks; ++i) (void)resource.allocate(bytes);
        return headroom::statistics().faults_avoided - before;
    };
    EXPECT_EQ(provided(65536, 30), 0U);
    EXPECT_EQ(provided(200'000, 10), 0U);
}

TEST(multipool, options_are_answered_as_they_are_in_effect) {
    const multipool_resource by_default;
    const std::pmr::pool_options options = by_default.options();
    EXPECT_EQ(options.largest_required_pool_block, 65536U);
    EXPECT_GT(options.max_blocks_per_chunk, 0U);
    const multipool_resource again(options);
    EXPECT_EQ(again.options().largest_required_pool_block, options.largest_required_pool_block);
    EXPECT_EQ(again.options().max_blocks_per_chunk, options.max_blocks_per_chunk);
    const multipool_resource odd(std::pmr::pool_options{7, 71});
    EXPECT_EQ(odd.options().largest_required_pool_block, 72U);
    EXPECT_EQ(odd.options().max_blocks_per_chunk, 7U);
    const multipool_resource most(std::pmr::pool_options{SIZE_MAX, SIZE_MAX});
    EXPECT_EQ(most.options().largest_required_pool_block, 65536U);
}

TEST(multipool, sizes_that_options_exclude_go_upstream_one_by_one) {
    counting_upstream upstream;
    multipool_resource resource({0, 64}, &upstream);
    void* const pooled = resource.allocate(64, 8);
    EXPECT_EQ(upstream.blocks(), 1U);
    // Constant and variable sizes take different code paths.
    void* const constant = resource.allocate(65, 8);
    void* const variable = resource.allocate(upstream.blocks() * 100, 8);
    EXPECT_EQ(upstream.blocks(), 3U);
    resource.deallocate(constant, 65, 8);
    EXPECT_EQ(upstream.blocks(), 2U);
    resource.deallocate(variable, upstream.blocks() * 100, 8);
    EXPECT_EQ(upstream.blocks(), 1U);
    resource.deallocate(pooled, 64, 8);
    EXPECT_EQ(upstream.blocks(), 1U);
}

TEST(multipool, chunks_have_no_more_blocks_than_options_allow) {
    counting_upstream upstream;
    multipool_resource resource({10, 4096}, &upstream);
    for (int i = 0; i < 1000; ++i) {
        (void)resource.allocate(1024, 8);
        ASSERT_LE(upstream.last_bytes(), 10U * 1024 + 128);
    }
}

TEST(multipool, chunks_grow_geometrically_and_stop_at16_mi_b) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    for (int i = 0; i < 1'000'000; ++i) (void)resource.allocate(100, 1);
    EXPECT_LE(upstream.requests(), 40U);    // one table for each large chunk
    EXPECT_LE(upstream.last_bytes(), (std::size_t{16} << 20) + 4096);
}

TEST(multipool, blocks_of_no_bytes_differ) {
    multipool_resource resource;
    void* const first = resource.allocate(0);
    void* const second = resource.allocate(0);
    EXPECT_NE(first, second);
    resource.deallocate(first, 0);
    resource.deallocate(second, 0);
}

TEST(multipool, alignment_goes_up_to_a_page_and_beyond) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    multipool_resource reserving;
    for (multipool_resource* each : {&resource, &reserving}) {
        for (int round = 0; round < 3; ++round) {
            std::vector<std::tuple<void*, std::size_t, std::size_t>> blocks;
            for (std::size_t alignment = 1; alignment <= 16384; alignment *= 2) {
                for (const std::size_t bytes : {1U, 3U, 24U, 100U, 1000U, 4000U, 5000U, 70'000U}) {
                    void* const block = each->allocate(bytes, alignment);
                    ASSERT_TRUE(aligned(block, alignment)) << bytes << " at " << alignment;
                    std::memset(block, 1, bytes);
                    blocks.emplace_back(block, bytes, alignment);
                }
            }
            for (const auto& [block, bytes, alignment] : blocks) each->deallocate(block, bytes, alignment);
        }
        each->release();
    }
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

// Holds for any blocks cut from the memory before.
TEST(multipool, sizes_that_are_multiples_of16_are_aligned_so) {
    multipool_resource resource;
    for (int i = 0; i < 3000; ++i) {
        (void)resource.allocate(8, 8);
        (void)resource.allocate(i % 3 == 0 ? 24 : 136, 8);
        for (const std::size_t bytes : {16U, 48U, 160U, 1024U}) {
            ASSERT_TRUE(aligned(resource.allocate(bytes, 16), 16)) << bytes << " bytes, round " << i;
        }
    }
}

TEST(multipool, over_aligned_blocks_are_used_again) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    std::size_t after_first = 0;
    for (int life = 0; life < 50; ++life) {
        for (const std::size_t alignment : {32U, 64U, 512U, 4096U}) {
            std::set<void*> blocks;
            for (int i = 0; i < 50; ++i) blocks.insert(resource.allocate(100, alignment));
            EXPECT_EQ(blocks.size(), 50U);
            for (void* const block : blocks) {
                EXPECT_TRUE(aligned(block, alignment));
                resource.deallocate(block, 100, alignment);
            }
        }
        if (life == 0) after_first = upstream.bytes();
    }
    EXPECT_EQ(upstream.bytes(), after_first);
}

// Adjacent blocks of 4 KiB would start in one set of the processor's cache and evict each other.
TEST(multipool, large_blocks_begin_in_different_lines_of_the_cache) {
    for (const std::size_t bytes : {1024U, 2048U, 4096U, 8192U}) {
        counting_upstream upstream;
        multipool_resource resource(&upstream);
        std::set<std::uintptr_t> lines;
        for (int i = 0; i < 256; ++i) {
            lines.insert(reinterpret_cast<std::uintptr_t>(resource.allocate(bytes)) % 4096 / 64);
        }
        EXPECT_GE(lines.size(), 32U) << bytes;
        EXPECT_LE(upstream.bytes(), 256 * (bytes + 64) * 2 + 4096) << bytes;
    }
}

void expect_refusals(multipool_resource& resource) {
    headroom_test::expect_refusals(resource, [&] {
        for (int shift = sizeof(std::size_t) >= 8 ? 48 : 30; shift < static_cast<int>(sizeof(std::size_t) * 8); ++shift) {
            EXPECT_THROW((void)resource.allocate(0, std::size_t{1} << shift), std::bad_alloc) << shift;
        }
        EXPECT_THROW((void)resource.allocate(SIZE_MAX - 15, 64), std::bad_alloc);
        EXPECT_THROW((void)resource.allocate(100, 0), std::bad_alloc);
        EXPECT_THROW((void)resource.allocate(100, 48), std::bad_alloc);
    });
}

TEST(multipool, impossible_requests_throw_bad_alloc_and_change_nothing) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    expect_refusals(resource);
}

TEST(multipool, of_the_default_upstream_impossible_requests_throw_bad_alloc_too) {
    if (headroom_test::sanitized) GTEST_SKIP() << "operator new ends the program under sanitizers";
    multipool_resource resource;
    expect_refusals(resource);
}

TEST(multipool, upstreams_exception_reaches_the_user) {
    struct refusal : std::bad_alloc {};
    struct refusing final : std::pmr::memory_resource {
        void* do_allocate(std::size_t, std::size_t) override { throw refusal(); }
        void do_deallocate(void*, std::size_t, std::size_t) override {}
        bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
    } upstream;
    multipool_resource resource(&upstream);
    EXPECT_THROW((void)resource.allocate(1), refusal);
    EXPECT_THROW((void)resource.allocate(10'000), refusal);
    EXPECT_THROW((void)resource.allocate(100'000), refusal);
    EXPECT_THROW((void)resource.allocate(SIZE_MAX), refusal);
    EXPECT_THROW((void)resource.allocate(SIZE_MAX - 1, 1024), refusal);
}

TEST(multipool, over_a_monotonic_it_is_the_third_allocator) {
    counting_upstream upstream;
    monotonic_resource below(&upstream);
    multipool_resource resource(&below);
    for (int round = 0; round < 3; ++round) {
        std::pmr::unordered_set<std::pmr::string> words(&resource);
        for (int i = 0; i < 1000; ++i) words.emplace(std::string(40, 'x') + std::to_string(i));
        for (int i = 0; i < 1000; i += 2) words.erase(std::pmr::string(std::string(40, 'x') + std::to_string(i)));
        EXPECT_EQ(words.size(), 500U);
    }
    EXPECT_EQ(resource.upstream_resource(), &below);
    const std::size_t bytes = upstream.bytes();
    resource.release();
    EXPECT_EQ(upstream.bytes(), bytes);
    below.release();
    EXPECT_EQ(upstream.bytes(), 0U);
}

TEST(multipool, equal_only_to_itself) {
    const multipool_resource a, b;
    EXPECT_TRUE(a.is_equal(a));
    EXPECT_FALSE(a.is_equal(b));
}

}    // namespace
