// SPDX-License-Identifier: MIT
// The cache of released ranges.
// Valgrind searches readable memory for leaks, so cached ranges are made inaccessible there.
// Labels: core
// Not under Valgrind: cache.a_small_one_is_taken_and_given_without_any_system_call cache.a_large_one_is_taken_and_filled_and_given_without_any_system_call cache.open_ranges_are_kept_warm_as_far_as_they_were_used
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include <headroom/arena.hpp>
#include <headroom/multipool.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include "support/addresses.hpp"
#include "support/sanitizers.hpp"

namespace {

#if defined(HEADROOM_HARDENED)
constexpr bool ranges_rest = true;
#else
constexpr bool ranges_rest = false;
#endif

using headroom::reservation;

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr std::size_t default_limit = 64 * MiB;

struct cache : testing::Test {
    void SetUp() override {
        headroom::set_cache_limit(default_limit);
        headroom::trim_cache();
    }
    void TearDown() override { SetUp(); }

    static void live_and_die(std::size_t used, std::size_t reserved = 256 * MiB, const headroom::commit_policy& policy = {}) {
        reservation range(reserved, policy);
        ASSERT_FALSE(range.commit_to(used));
        std::memset(range.data(), 1, used);
    }
};

TEST_F(cache, the_next_reservation_of_the_size_is_served_warm) {
    if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
    live_and_die(8 * MiB);
    EXPECT_GE(headroom::cached_bytes(), 8 * MiB);
    headroom::reset_statistics();
    live_and_die(8 * MiB);
    const auto counted = headroom::statistics();
    EXPECT_EQ(counted.cache_hits, 1u);
    EXPECT_EQ(counted.cache_misses, 0u);
    EXPECT_EQ(counted.count(headroom::page_call::reserve), 0u);
    EXPECT_EQ(counted.count(headroom::page_call::prefault), 0u);
    EXPECT_GE(counted.faults_avoided, (8 * MiB - (64 << 10)) / headroom::page_size());
}

TEST_F(cache, a_small_one_is_taken_and_given_without_any_system_call) {
    if (ranges_rest || headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "warm memory is hidden from its next owner";
    live_and_die(5000);
    headroom::testing::count_system_calls();
    for (int i = 0; i < 10; ++i) live_and_die(4000);
    EXPECT_EQ(headroom::testing::stop_failing(), 0u);
}

TEST_F(cache, keeps_no_more_than_its_limit) {
    live_and_die(200 * MiB);
    EXPECT_LE(headroom::cached_bytes(), default_limit);
    EXPECT_GT(headroom::cached_bytes(), 0u);
    {
        std::vector<reservation> many;
        for (int i = 0; i < 20; ++i) {
            many.emplace_back(32 * MiB);
            ASSERT_FALSE(many.back().commit_to(6 * MiB));
        }
    }
    EXPECT_LE(headroom::cached_bytes(), default_limit);
}

TEST_F(cache, what_is_past_the_limit_reads_as_zero_for_the_next_owner_and_costs_nothing_until_then) {
    headroom::set_cache_limit(MiB);
    live_and_die(3 * MiB);
    EXPECT_LE(headroom::cached_bytes(), MiB);
    reservation range(256 * MiB);
    ASSERT_FALSE(range.commit_to(3 * MiB));
    for (std::size_t i = MiB; i < 3 * MiB; i += 100) ASSERT_EQ(range.data()[i], std::byte{0}) << i;
}

TEST_F(cache, a_limit_of_zero_keeps_nothing) {
    headroom::set_cache_limit(0);
    live_and_die(MiB);
    EXPECT_EQ(headroom::cached_bytes(), 0u);
    headroom::reset_statistics();
    live_and_die(MiB);
    EXPECT_EQ(headroom::statistics().cache_hits, 0u);
}

TEST_F(cache, a_smaller_limit_trims_at_once) {
    live_and_die(32 * MiB);
    EXPECT_GE(headroom::cached_bytes(), 32 * MiB);
    headroom::set_cache_limit(MiB);
    EXPECT_LE(headroom::cached_bytes(), MiB);
}

TEST_F(cache, trimming_gives_everything_back) {
    live_and_die(MiB);
    live_and_die(MiB, 128 * MiB);
    headroom::trim_cache();
    EXPECT_EQ(headroom::cached_bytes(), 0u);
    headroom::reset_statistics();
    live_and_die(MiB);
    EXPECT_EQ(headroom::statistics().cache_hits, 0u);
}

TEST_F(cache, serves_an_exact_request_by_its_size_alone_of_any_policy) {
    if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
    live_and_die(MiB);
    headroom::reset_statistics();
    live_and_die(MiB, 128 * MiB);
    EXPECT_EQ(headroom::statistics().cache_hits, 0u);
    live_and_die(MiB, 256 * MiB, headroom::page_by_page());
    EXPECT_EQ(headroom::statistics().cache_hits, 1u);
}

TEST_F(cache, serves_any_kind_of_owner_by_any_other) {
    if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
    if (!headroom_test::many_addresses) GTEST_SKIP() << "where addresses are few, each kind reserves what it needs";
    const auto served = [](auto make) {
        headroom::reset_statistics();
        make();
        EXPECT_EQ(headroom::statistics().cache_hits, 1u);
        EXPECT_EQ(headroom::statistics().cache_misses, 0u);
    };
    { headroom::settled_vector<int> first(MiB); }
    const auto uses_arena = [] { (void)headroom::arena().allocate(MiB, 8); };
    const auto uses_pool = [] { (void)headroom::multipool_resource().allocate(3 * MiB, 8); };
    const auto uses_vector = [] { headroom::vector<int>{}.reserve(MiB); };
    const auto uses_settled = [] { headroom::settled_vector<int>{1}; };
    for (int i = 0; i < 2; ++i) {
        served(uses_arena);
        served(uses_pool);
        served(uses_vector);
        served(uses_settled);
    }
}

TEST_F(cache, gives_an_owner_the_size_that_it_asked_for) {
    { headroom::settled_vector<int> first(MiB); }
    std::error_code error;
    const auto small = headroom::reservation::up_to(3 * MiB, MiB, {}, error);
    ASSERT_FALSE(error);
    EXPECT_EQ(small.reserved(), 3 * MiB);
    EXPECT_EQ(headroom::owner_of(small.data())->reserved, 3 * MiB);
    EXPECT_FALSE(headroom::owner_of(small.data() + 3 * MiB));
}

TEST_F(cache, gives_an_owner_of_an_exact_size_no_range_that_goes_on_behind_it) {
    if (!headroom_test::many_addresses) GTEST_SKIP() << "where addresses are few, no range goes on";
    std::error_code error;
    { headroom::settled_vector<int> first(MiB); }    // its range serves these
    for (int i = 0; i < 4; ++i) {                    // so that this thread gets slots
        auto range = headroom::reservation::up_to(MiB, MiB, {}, error);
        ASSERT_FALSE(range.commit_to(1));
    }
    headroom::reset_statistics();
    const headroom::reservation exact(MiB);
    EXPECT_EQ(headroom::statistics().cache_hits, 0u);
}

TEST_F(cache, keeps_no_range_without_memory) {
    for (const std::size_t limit : {std::size_t{0}, MiB / 4}) {
        headroom::set_cache_limit(limit);
        headroom::reset_statistics();
        for (int i = 0; i < 300; ++i) {
            headroom::reservation range(256 * MiB);
            ASSERT_FALSE(range.commit_untouched_to(MiB));
        }
        headroom::trim_cache();
        const auto counted = headroom::statistics();
        EXPECT_EQ(counted.count(headroom::page_call::release), counted.count(headroom::page_call::reserve)) << limit;
    }
}

TEST_F(cache, gives_no_range_with_huge_pages_to_a_policy_without) {
    { headroom::settled_vector<int> first(4 * MiB); }
    headroom::reset_statistics();
    std::error_code error;
    const auto plain = headroom::reservation::up_to(64 * MiB, MiB, headroom::least_memory(), error);
    ASSERT_FALSE(error);
    EXPECT_EQ(headroom::statistics().cache_hits, headroom::huge_page_size() == 0 && !ranges_rest ? 1u : 0u);
}

TEST_F(cache, a_large_one_is_taken_and_filled_and_given_without_any_system_call) {
    if (ranges_rest || headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "warm memory is hidden from its next owner";
    live_and_die(8 * MiB);
    headroom::testing::count_system_calls();
    for (int i = 0; i < 3; ++i) live_and_die(8 * MiB);
    {
        reservation range(256 * MiB);
        for (std::size_t used = 1; used < 8 * MiB; used += 5000) ASSERT_FALSE(range.commit_to(used));
    }
    EXPECT_EQ(headroom::testing::stop_failing(), 0u);
}

TEST_F(cache, the_next_owner_is_told_of_no_more_than_it_asks_for) {
    live_and_die(8 * MiB);
    reservation range(256 * MiB);
    EXPECT_LE(range.committed(), std::size_t{64} << 10);
    ASSERT_FALSE(range.commit_to(MiB));
    EXPECT_LE(range.committed(), MiB + (std::size_t{64} << 10));
}

TEST_F(cache, what_one_thread_gave_serves_another) {
    if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
    std::thread(live_and_die, 5000, 256 * MiB, headroom::commit_policy{}).join();
    EXPECT_GT(headroom::cached_bytes(), 0u);
    headroom::reset_statistics();
    live_and_die(5000);
    EXPECT_EQ(headroom::statistics().cache_hits, 1u);
    std::thread(live_and_die, 5000, 256 * MiB, headroom::commit_policy{}).join();
    headroom::trim_cache();
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}

TEST_F(cache, open_ranges_are_kept_warm_as_far_as_they_were_used) {
    if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
    const auto open = headroom::commit_policy{}.held(headroom::holding::open);
    std::error_code error;
    auto held = headroom::detail::acquire_range(256 * MiB, true, 0, open, error);
    ASSERT_FALSE(error);
    if (held.committed < held.reserved) {    // the system cannot premap ranges
        headroom::detail::release_range(held.control);
        return;
    }
    std::memset(held.base, 1, 3 * MiB);
    headroom::detail::release_range(held.control, 2 * MiB);
    EXPECT_EQ(headroom::cached_bytes(), 2 * MiB);
    held = headroom::detail::acquire_range(256 * MiB, true, 0, open, error);
    EXPECT_EQ(held.base[2 * MiB - 1], std::byte{1});
    EXPECT_EQ(held.base[2 * MiB], std::byte{0});    // released: past the bytes reported as used
    headroom::detail::release_range(held.control);
}

// Which pages were touched is not asked: a filter of system calls may end a process that does.
TEST_F(cache, counts_what_was_committed) {
    std::error_code error;
    const auto held = headroom::detail::acquire_range(256 * MiB, true, 0, headroom::least_memory(), error);
    ASSERT_FALSE(error);
    ASSERT_GE(headroom::detail::commit_exactly(held.control, 6 * MiB, error), 6 * MiB);
    std::memset(held.base, 1, 4 * MiB);
    headroom::detail::release_range(held.control);
    EXPECT_EQ(headroom::cached_bytes(), 6 * MiB);
}

// Memory committed ahead is not kept either.
TEST_F(cache, of_a_range_whose_pages_moved_away_nothing_is_kept) {
    for (const std::size_t room : {std::size_t{1}, std::size_t{8}}) {
        for (const std::size_t bytes : {MiB / 32, MiB / 16, 8 * MiB}) {
            headroom::trim_cache();
            headroom::settled_vector<char> v(headroom::max_elements{room * bytes});
            while (v.size() < bytes) v.push_back('x');
            headroom::reset_statistics();
            v.rehome(headroom::max_elements{128 * MiB});
            if (headroom::statistics().bytes_remapped == 0) GTEST_SKIP() << "the system moves no pages";
            EXPECT_EQ(headroom::cached_bytes(), 0u) << bytes << ' ' << room;
        }
    }
}

TEST_F(cache, is_safe_from_many_threads) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            for (int i = 0; i < 500; ++i) {
                reservation range(static_cast<std::size_t>(i % 3 + 1) * 32 * MiB);
                ASSERT_FALSE(range.commit_to(200000));
                std::memset(range.data(), t, 200000);
                for (std::size_t at = 0; at < 200000; at += 4096) ASSERT_EQ(range.data()[at], static_cast<std::byte>(t));
                if (i % 100 == 0) headroom::trim_cache();
                if (i % 77 == 0) headroom::set_cache_limit(static_cast<std::size_t>(i) * 1000);
            }
        });
    for (auto& each : threads) each.join();
    EXPECT_LE(headroom::cached_bytes(), headroom::cache_limit());
}

TEST_F(cache, gives_way_when_the_system_refuses_memory) {
    live_and_die(8 * MiB);
    reservation other(64 * MiB);
    headroom::testing::fail_system_call(1);
    EXPECT_FALSE(other.commit_to(MiB));    // the second try, after trimming, succeeds
    headroom::testing::stop_failing();
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}

}    // namespace
