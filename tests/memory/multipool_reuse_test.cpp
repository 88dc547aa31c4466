// SPDX-License-Identifier: MIT
// Free memory in a multipool serves any size before upstream is used.
// Labels: thread no-valgrind
#include <headroom/multipool.hpp>
#include <headroom/reservation.hpp>
#include <headroom/testing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "support/resources.hpp"

namespace {

using headroom::multipool_resource;
using headroom::synchronized_multipool_resource;
using headroom_test::counting_upstream;

constexpr std::size_t bytes_in_all = std::size_t{4} << 20;

std::vector<void*> allocate(std::pmr::memory_resource& resource, std::size_t bytes, std::size_t number) {
    std::vector<void*> blocks(number);
    for (void*& each : blocks) each = resource.allocate(bytes, 8);
    return blocks;
}
std::vector<void*> until_refused(std::pmr::memory_resource& resource, std::size_t bytes, std::size_t alignment = 8) {
    std::vector<void*> blocks;
    try {
        for (;;) blocks.push_back(resource.allocate(bytes, alignment));
    } catch (const std::bad_alloc&) {
        return blocks;
    }
}
void deallocate(std::pmr::memory_resource& resource, std::vector<void*> blocks, std::size_t bytes) {
    headroom_test::random random(1);
    for (std::size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[random.below(i)]);
    for (void* const each : blocks) resource.deallocate(each, bytes, 8);
}

// Tests of two sizes. A slab has 1, 4, 8 or 16 pages; sizes above 4 KiB have none.
class multipool_reuse : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
protected:
    [[nodiscard]] static std::size_t first() { return std::get<0>(GetParam()); }
    [[nodiscard]] static std::size_t second() { return std::get<1>(GetParam()); }

    counting_upstream upstream;
    multipool_resource resource{&upstream};
};

TEST_P(multipool_reuse, what_is_free_is_used_before_more_is_asked_for) {
    upstream.limit(bytes_in_all);
    const std::vector<void*> blocks = until_refused(resource, first());
    deallocate(resource, blocks, first());
    std::vector<void*> others;
    EXPECT_NO_THROW(others = allocate(resource, second(), blocks.size() * first() * 6 / 10 / second()));
    std::sort(others.begin(), others.end());
    EXPECT_EQ(std::adjacent_find(others.begin(), others.end()), others.end());
}

TEST_P(multipool_reuse, an_empty_slab_serves_its_size_again_whatever_lies_between) {
    std::vector<void*> of_first, of_second;
    const auto add = [](std::vector<void*>& to, const std::vector<void*>& more) {
        to.insert(to.end(), more.begin(), more.end());
    };
    for (std::size_t taken = 0; taken < bytes_in_all / 2; taken += std::size_t{66} << 10) {
        add(of_first, allocate(resource, first(), (std::size_t{66} << 10) / first()));
        add(of_second, allocate(resource, second(), (std::size_t{66} << 10) / second()));
    }
    for (int life = 0; life < 3; ++life) {
        deallocate(resource, of_second, second());
        (void)resource.trim();
        const std::size_t empty = resource.statistics().empty_slab_bytes;
        of_second = allocate(resource, second(), of_second.size());
        if (first() != second() && second() <= 4096) {
            EXPECT_LE(resource.statistics().empty_slab_bytes, empty / 5) << "of " << empty;
        }
    }
    deallocate(resource, of_first, first());
}

INSTANTIATE_TEST_SUITE_P(sizes, multipool_reuse,
                         testing::Combine(testing::Values(24, 200, 600, 1024, 2000, 4096),
                                          testing::Values(24, 200, 600, 1024, 2000, 4096, 5000, 65'536)));

// Short runs of empty pages are found after the search for a longer one failed.
TEST(multipool_empty_slabs, are_found_though_a_longer_run_was_not) {
    for (const auto& [kept, wanted] : {std::pair<std::size_t, std::size_t>{120, 24}, {512, 200}, {960, 600}}) {
        counting_upstream upstream;
        multipool_resource resource(&upstream);
        const std::vector<void*> blocks = allocate(resource, kept, bytes_in_all / kept);
        const std::size_t in_a_slab = headroom::detail::max_slab_pages(headroom::detail::bin_of(kept)) * 4096 / kept;
        std::vector<void*> gone;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (i / in_a_slab % 6 < 2) gone.push_back(blocks[i]);
        }
        deallocate(resource, gone, kept);
        (void)resource.trim();
        const std::size_t empty = resource.statistics().empty_slab_bytes;
        ASSERT_GT(empty, bytes_in_all / 16);
        (void)allocate(resource, 2000, 100);
        (void)allocate(resource, wanted, empty * 3 / 4 / wanted);
        EXPECT_LE(resource.statistics().empty_slab_bytes, empty / 2) << wanted;
    }
}

TEST(multipool_empty_slabs, are_those_in_which_nothing_is_in_use_though_blocks_are_yet_to_be_cut) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    for (int life = 0; life < 3; ++life) {
        for (headroom::detail::bin_index index{}; index < headroom::detail::end_bin; ++index) {
            const std::size_t bytes = headroom::detail::bin_bytes(index);
            deallocate(resource, allocate(resource, bytes, 70'000 / bytes), bytes);
        }
        (void)resource.trim();
        for (const auto& each : resource.statistics().classes) EXPECT_EQ(each.slabs, 0U) << each.block_bytes;
    }
}

// Blocks of zero bytes are reused too.
TEST(multipool_empty_slabs, blocks_of_no_bytes_are_no_more_from_life_to_life) {
    counting_upstream upstream;
    multipool_resource resource(&upstream);
    (void)allocate(resource, 24, 100'000);
    for (const std::size_t alignment : {1U, 8U, 16U}) {
        for (int life = 0; life < 50; ++life) {
            std::vector<void*> blocks(1000);
            for (void*& each : blocks) each = resource.allocate(0, alignment);
            for (void* const each : blocks) resource.deallocate(each, 0, alignment);
            (void)resource.trim();
        }
        EXPECT_LT(resource.statistics().classes[alignment / 16].free, 2'000U) << alignment;
    }
}

// The options exclude these blocks from pages, so each has its own reservation.
TEST(multipool_large_blocks, eight_that_came_back_serve_again_without_a_system_call) {
    if (headroom::detail::memory_checked || headroom_test::sanitized)
        GTEST_SKIP() << "nothing is used again at once, or it is hidden";
    multipool_resource resource({0, 1024});
    constexpr std::size_t bytes = std::size_t{200} << 10;
    const std::size_t limit = headroom::cache_limit();
    headroom::set_cache_limit(0);
    for (int life = 0; life < 3; ++life) {
        deallocate(resource, allocate(resource, bytes, 8), bytes);
        headroom::testing::count_system_calls();
        deallocate(resource, allocate(resource, bytes, 8), bytes);
        EXPECT_EQ(headroom::testing::stop_failing(), 0U);
    }
    headroom::set_cache_limit(limit);
}

TEST(multipool_pages, serve_every_alignment_up_to_their_own) {
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        counting_upstream upstream;
        multipool_resource resource(&upstream);
        for (int i = 0; i < 100; ++i) (void)resource.allocate(100, alignment);
        EXPECT_LT(upstream.requests(), 20U) << alignment;
    }
}

// The first slab of a size may stay mostly unused, so it is not populated.
TEST(multipool_slabs, the_first_of_a_size_takes_memory_as_it_is_used) {
    if (headroom::detail::memory_checked) GTEST_SKIP() << "checked builds fill what is free";
    multipool_resource resource;
    (void)allocate(resource, 24, 100'000);
    headroom::reset_statistics();
    for (const std::size_t bytes : {600U, 1024U, 2000U, 3000U, 4096U}) (void)resource.allocate(bytes, 8);
    EXPECT_EQ(headroom::statistics().count(headroom::page_call::prefault), 0U);
}

TEST(multipool_of_threads, a_thread_for_whose_cache_there_is_no_memory_gets_blocks) {
    counting_upstream upstream;
    synchronized_multipool_resource resource(&upstream);
    const std::vector<void*> blocks = allocate(resource, 64, bytes_in_all / 64);
    for (std::size_t i = 0; i < blocks.size(); i += 2) resource.deallocate(blocks[i], 64, 8);
    (void)resource.statistics();    // returns this thread's cache
    // Uses up all pages.
    upstream.limit(upstream.bytes());
    (void)until_refused(resource, 4096, 4096);
    (void)until_refused(resource, 2048, 64);
    std::thread([&] {
        std::vector<void*> more;
        EXPECT_NO_THROW(more = allocate(resource, 64, blocks.size() / 4));
        for (void* const each : more) resource.deallocate(each, 64, 8);
    }).join();
}

// More resources than slots in the threads' table of caches.
TEST(multipool_of_threads, what_the_thread_kept_is_given_back_though_another_resource_took_its_place) {
    std::vector<std::unique_ptr<synchronized_multipool_resource>> resources;
    for (int number = 0; number < 150; ++number) resources.push_back(std::make_unique<synchronized_multipool_resource>());
    std::vector<void*> blocks;
    for (const auto& each : resources) blocks.push_back(each->allocate(24, 8));
    for (std::size_t i = 0; i < resources.size(); ++i) resources[i]->deallocate(blocks[i], 24, 8);
    for (const auto& each : resources) EXPECT_EQ(each->statistics().blocks, 0U);
}

}    // namespace
