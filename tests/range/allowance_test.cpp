// Default size of the range cache: it keeps memory only of sizes that recur, and only resident bytes.
// A program of its own, since set_cache_limit() ends the default for good.
// Labels: no-valgrind
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include "support/addresses.hpp"
#include "support/emulated.hpp"

namespace {

using headroom::reservation;

#if defined(HEADROOM_HARDENED)
constexpr bool ranges_rest = true;
#else
constexpr bool ranges_rest = false;
#endif

constexpr std::size_t MiB = std::size_t{1} << 20;

struct allowance : testing::Test {
    void SetUp() override {
        if (headroom::cache_limit() < 64 * MiB) GTEST_SKIP() << "the group of this process may have little memory";
        headroom::trim_cache();
        forget();
    }

    // The cache forgets the sizes of released ranges after a second.
    static void forget() { std::this_thread::sleep_for(std::chrono::milliseconds(1100)); }

    static void live_and_die(std::size_t used, std::size_t reserved = 128 * MiB) {
        reservation range(reserved);
        ASSERT_FALSE(range.commit_to(used));
        std::memset(range.data(), 1, used);
    }
};

TEST_F(allowance, keeps_nothing_of_what_nobody_asks_for_again) {
    live_and_die(61 * MiB);
    EXPECT_EQ(headroom::cached_bytes(), 0u);
    { headroom::settled_vector<int> small{1, 2, 3}; }
    EXPECT_EQ(headroom::cached_bytes(), 0u);
    {
        std::vector<headroom::vector<int>> columns(6);
        for (std::size_t i = 0; i < 3 * MiB / 2 / sizeof(int); ++i)
            for (auto& each : columns) each.push_back(1);
    }
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}

TEST_F(allowance, serves_a_loop_from_its_third_round) {
    if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
    for (const std::size_t used : {std::size_t{4000}, 100 * MiB / 1024, 3 * MiB, 24 * MiB}) {
        SCOPED_TRACE(used);
        for (int i = 0; i < 2; ++i) live_and_die(used);
        headroom::reset_statistics();
        live_and_die(used);
        EXPECT_EQ(headroom::statistics().cache_hits, 1u);
        headroom::trim_cache();
    }
}

TEST_F(allowance, keeps_as_many_as_were_wanted_again) {
    const auto live_and_die_together = [](int count) {
        std::vector<reservation> all;
        for (int i = 0; i < count; ++i) {
            all.emplace_back(128 * MiB);
            ASSERT_FALSE(all.back().commit_to(2 * MiB));
            std::memset(all.back().data(), 1, 2 * MiB);
        }
    };
    live_and_die_together(3);
    live_and_die_together(5);
    EXPECT_GE(headroom::cached_bytes(), 6 * MiB);
    EXPECT_LT(headroom::cached_bytes(), 8 * MiB);
}

TEST_F(allowance, keeps_nothing_where_another_size_was_dropped_before) {
    live_and_die(8 * MiB);
    live_and_die(2 * MiB);
    live_and_die(8 * MiB, 64 * MiB);
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}

TEST_F(allowance, keeps_nothing_where_the_size_is_wanted_again_much_later) {
    live_and_die(3 * MiB);
    forget();
    live_and_die(3 * MiB);
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}

TEST_F(allowance, grows_where_memory_is_wanted_again) {
    for (int i = 0; i < 8; ++i) live_and_die(24 * MiB);
    EXPECT_GE(headroom::cached_bytes(), 24 * MiB);
    headroom::reset_statistics();
    live_and_die(24 * MiB);
    EXPECT_EQ(headroom::statistics().cache_hits, 1u);
}

// The cache cannot tell a loop's last vector from the others, so its memory stays.
TEST_F(allowance, a_loop_leaves_no_more_than_it_had_in_use_at_once) {
    for (int i = 0; i < 8; ++i) live_and_die(40 * MiB);
    EXPECT_LE(headroom::cached_bytes(), 42 * MiB);
    EXPECT_GT(headroom::cached_bytes(), 0u);
    headroom::trim_cache();
    for (int i = 0; i < 8; ++i) {
        headroom::settled_vector<int> v;
        for (std::size_t k = 0; k < 20 * MiB / sizeof(int); ++k) v.push_back(1);
    }
    EXPECT_LE(headroom::cached_bytes(), 22 * MiB);
    EXPECT_GT(headroom::cached_bytes(), 0u);
}

// Sizes that do not recur are kept up to a sixteenth of the bytes in use, and only while those are in use.
TEST_F(allowance, keeps_a_sixteenth_of_what_is_in_use_whatever_its_size) {
    if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
    {
        reservation large(512 * MiB);
        ASSERT_FALSE(large.commit_to(160 * MiB));
        live_and_die(12 * MiB);
        EXPECT_EQ(headroom::cached_bytes(), 0u);
        live_and_die(3 * MiB);
        EXPECT_GE(headroom::cached_bytes(), 3 * MiB);
    }
    EXPECT_EQ(headroom::cached_bytes(), 0u) << "what it was a share of is gone";
    reservation large(512 * MiB);
    ASSERT_FALSE(large.commit_to(160 * MiB));
    headroom::reset_statistics();
    for (std::size_t i = 3; i < 10; ++i) live_and_die(i * MiB);
    EXPECT_EQ(headroom::statistics().cache_hits, 6u);
    EXPECT_LE(headroom::cached_bytes(), 11 * MiB);
}

// A cached range of another size is decommitted down to the size of its new owner.
TEST_F(allowance, what_a_known_size_does_not_need_is_given_back) {
    if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
    for (int i = 0; i < 3; ++i) headroom::vector<char>(32 * MiB, 'x');
    ASSERT_GE(headroom::cached_bytes(), 30 * MiB);
    headroom::reset_statistics();
    const headroom::vector<char> small(4 * MiB, 'x');
    EXPECT_EQ(headroom::statistics().cache_hits, 1u);
    EXPECT_GE(headroom::statistics().count(headroom::page_call::decommit), 1u);
}

// Builds vectors of several sizes and drops them together: at most one round's memory is resident at any time.
TEST_F(allowance, keeps_each_size_for_its_like) {
    if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
    const std::size_t sizes[] = {2 * MiB, 16 * MiB, 3 * MiB, 9 * MiB};
    const auto round = [&] {
        std::vector<headroom::vector<char>> all;
        for (const std::size_t each : sizes) all.emplace_back(each, 'x');
        return headroom::cached_bytes();
    };
    for (int i = 0; i < 6; ++i) EXPECT_LE(round(), 3 * MiB) << i;
    EXPECT_LE(headroom::cached_bytes(), 32 * MiB);
    EXPECT_GE(headroom::cached_bytes(), 24 * MiB);
    headroom::reset_statistics();
    (void)round();
    EXPECT_EQ(headroom::statistics().cache_misses, 0u);
}

// Keeps one copy's memory, like malloc, at any offset of the elements in their pages: settled vectors vary theirs, vectors start
// behind the beginning of their range.
template <class Vector>
void leaves_one_of_its_copies() {
    const Vector from(20 * MiB / sizeof(int), 1);
    for (int i = 0; i < 8; ++i) Vector{from};
    headroom::reset_statistics();
    Vector{from};
    EXPECT_EQ(headroom::statistics().count(headroom::page_call::prefault), 0u);
}
TEST_F(allowance, a_loop_of_copies_leaves_one_of_them) {
    leaves_one_of_its_copies<headroom::vector<int>>();
    std::vector<headroom::settled_vector<int>> others(12,
                                                      headroom::settled_vector<int>{1});    // the first few ranges start equally
    for (int i = 0; i < 3; ++i) {
        SCOPED_TRACE(i);
        headroom::trim_cache();
        leaves_one_of_its_copies<headroom::settled_vector<int>>();
        others.push_back({1});
    }
}

TEST_F(allowance, grows_for_two_that_take_turns) {
    for (int i = 0; i < 12; ++i) {
        live_and_die(3 * MiB, 128 * MiB);
        live_and_die(3 * MiB, 64 * MiB);
    }
    EXPECT_GE(headroom::cached_bytes(), 6 * MiB);
}

TEST_F(allowance, gives_back_what_nobody_wanted_for_a_while) {
    for (int i = 0; i < 8; ++i) live_and_die(24 * MiB);
    EXPECT_GE(headroom::cached_bytes(), 24 * MiB);
    forget();
    live_and_die(6 * MiB, 32 * MiB);
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}

// Memory committed by reserve() and never touched does not count as kept.
TEST_F(allowance, one_large_reserve_with_an_element_does_not_empty_the_cache) {
    if (headroom_test::emulated()) GTEST_SKIP() << "the emulator does not say what is resident";
    for (int i = 0; i < 2; ++i) live_and_die(3 * MiB, 32 * MiB);
    const std::size_t before = headroom::cached_bytes();
    EXPECT_GE(before, 3 * MiB);
    {
        headroom::vector<char> v;
        v.reserve((headroom_test::many_addresses ? 300 : 40) * MiB);
        v.push_back('x');
    }
    EXPECT_GE(headroom::cached_bytes(), before);
    EXPECT_LE(headroom::cached_bytes(), before + MiB);
    headroom::reset_statistics();
    live_and_die(3 * MiB, 32 * MiB);
    EXPECT_EQ(headroom::statistics().cache_hits, 1u);
    EXPECT_EQ(headroom::statistics().count(headroom::page_call::prefault), 0u);
}

// Unused memory of ranges served from the cache counts against the limit: otherwise many ranges would hold a little each.
TEST_F(allowance, counts_what_is_warm_in_living_ranges) {
    forget();    // drops the record of earlier tests' memory
    for (int i = 0; i < 2; ++i) live_and_die(30 * MiB);
    reservation little(128 * MiB);    // served by that range
    ASSERT_FALSE(little.commit_to(1));
    for (int i = 0; i < 2; ++i) {
        live_and_die(20 * MiB, 64 * MiB);
        live_and_die(20 * MiB, 256 * MiB);
    }
    EXPECT_LE(headroom::cached_bytes(), 34 * MiB);    // the limit has no space for more beside it
    EXPECT_GE(headroom::cached_bytes(), 20 * MiB);
}

}    // namespace
