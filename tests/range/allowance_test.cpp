// SPDX-License-Identifier: MIT
// Default size of the cache of idle memory: it keeps what was released and used again, and little else.
// Each test runs in a process of its own, in which nothing was released before.
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include <headroom/arena.hpp>
#include <headroom/multipool.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include "support/addresses.hpp"
#include "support/emulated.hpp"
#include "system/in_child.hpp"
#include "system/resident.hpp"

namespace {

using headroom::reservation;

#if defined(HEADROOM_HARDENED)
constexpr bool ranges_rest = true;
#else
constexpr bool ranges_rest = false;
#endif

constexpr std::size_t MiB = std::size_t{1} << 20;
// What is kept of anything: 1/32 of the recent peak, at least this.
constexpr std::size_t always_kept = std::size_t{512} << 10;

struct allowance : testing::Test {
    void SetUp() override {
        if (headroom::cache_limit() < 64 * MiB) GTEST_SKIP() << "the group of this process may have little memory";
    }

    template <class Body>
    static void alone(Body body) {
        EXPECT_EQ(headroom_test::in_child([&] {
                      body();
                      return HasFailure() ? 1 : 0;
                  }),
                  0);
    }

    // Longer than the cache remembers.
    static void forget() { std::this_thread::sleep_for(std::chrono::milliseconds(2100)); }

    static void live_and_die(std::size_t used, std::size_t reserved = 128 * MiB) {
        reservation range(reserved);
        ASSERT_FALSE(range.commit_to(used));
        std::memset(range.data(), 1, used);
    }
};

TEST_F(allowance, keeps_little_of_what_nobody_asks_for_again) {
    alone([] {
        live_and_die(61 * MiB);
        EXPECT_LE(headroom::cached_bytes(), 2 * MiB);
        { headroom::settled_vector<int> small{1, 2, 3}; }
        EXPECT_LE(headroom::cached_bytes(), 3 * MiB);
    });
    alone([] {
        for (std::size_t i = 1; i < 20; ++i) {
            headroom::settled_vector<int> small(1000 * i);
            EXPECT_LE(headroom::cached_bytes(), always_kept);
        }
    });
}

TEST_F(allowance, serves_a_loop_from_its_third_round) {
    if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
    for (const std::size_t used : {std::size_t{4000}, 100 * MiB / 1024, 3 * MiB, 24 * MiB}) {
        SCOPED_TRACE(used);
        alone([used] {
            for (int i = 0; i < 2; ++i) live_and_die(used);
            headroom::reset_statistics();
            live_and_die(used);
            EXPECT_EQ(headroom::statistics().cache_hits, 1u);
            EXPECT_EQ(headroom::statistics().count(headroom::page_call::prefault), 0u);
        });
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
    alone([&] {
        live_and_die_together(3);
        live_and_die_together(5);
        EXPECT_GE(headroom::cached_bytes(), 6 * MiB);
        EXPECT_LT(headroom::cached_bytes(), 8 * MiB);
    });
}

TEST_F(allowance, keeps_little_where_memory_is_wanted_again_much_later) {
    alone([] {
        live_and_die(3 * MiB);
        forget();
        live_and_die(3 * MiB);
        EXPECT_LE(headroom::cached_bytes(), always_kept);
    });
}

// The cache cannot tell a loop's last vector from the others, so its memory stays.
TEST_F(allowance, a_loop_leaves_no_more_than_it_had_in_use_at_once) {
    alone([] {
        for (int i = 0; i < 8; ++i) live_and_die(40 * MiB);
        EXPECT_LE(headroom::cached_bytes(), 42 * MiB);
        EXPECT_GE(headroom::cached_bytes(), 39 * MiB);
    });
    alone([] {
        for (int i = 0; i < 8; ++i) {
            headroom::settled_vector<int> v;
            for (std::size_t k = 0; k < 20 * MiB / sizeof(int); ++k) v.push_back(1);
        }
        EXPECT_LE(headroom::cached_bytes(), 23 * MiB);
        EXPECT_GE(headroom::cached_bytes(), 19 * MiB);
    });
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
    alone([&] {
        for (int i = 0; i < 6; ++i) EXPECT_LE(round(), 3 * MiB) << i;
        EXPECT_LE(headroom::cached_bytes(), 32 * MiB);
        EXPECT_GE(headroom::cached_bytes(), 24 * MiB);
        headroom::reset_statistics();
        (void)round();
        EXPECT_EQ(headroom::statistics().cache_misses, 0u);
    });
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
    alone(leaves_one_of_its_copies<headroom::vector<int>>);
    alone([] {
        std::vector<headroom::settled_vector<int>> others(
            12, headroom::settled_vector<int>{1});    // the first few ranges start equally
        for (int i = 0; i < 3; ++i) {
            SCOPED_TRACE(i);
            headroom::trim_cache();
            leaves_one_of_its_copies<headroom::settled_vector<int>>();
            others.push_back({1});
        }
    });
}

TEST_F(allowance, gives_back_what_nobody_wanted_for_a_while) {
    alone([] {
        for (int i = 0; i < 8; ++i) live_and_die(24 * MiB);
        EXPECT_GE(headroom::cached_bytes(), 24 * MiB);
        forget();
        live_and_die(6 * MiB, 32 * MiB);
        EXPECT_LE(headroom::cached_bytes(), 2 * always_kept);
    });
}

// Memory committed by reserve() and never touched goes before other memory.
TEST_F(allowance, one_large_reserve_with_an_element_does_not_empty_the_cache) {
    alone([] {
        for (int i = 0; i < 2; ++i) live_and_die(3 * MiB, 32 * MiB);
        EXPECT_GE(headroom::cached_bytes(), 3 * MiB);
        {
            headroom::vector<char> v;
            v.reserve((headroom_test::many_addresses ? 300 : 40) * MiB);
            v.push_back('x');
        }
        headroom::reset_statistics();
        live_and_die(3 * MiB, 32 * MiB);
        EXPECT_EQ(headroom::statistics().cache_hits, ranges_rest ? 0u : 1u);
        EXPECT_EQ(headroom::statistics().count(headroom::page_call::prefault), ranges_rest ? 1u : 0u);
    });
}

// Memory behind a live range's committed part is the cache's.

template <class Make>
void leaves_nothing_behind_a_small_one(Make make) {
    for (int i = 0; i < 3; ++i) {
        headroom::settled_vector<char> large(60 * MiB, 'x');
    }
    EXPECT_GE(headroom::cached_bytes(), 50 * MiB);
    const auto small = make();
    EXPECT_GE(headroom::cached_bytes(), 50 * MiB) << "behind the small one";
    headroom::trim_cache();
    EXPECT_LE(headroom::cached_bytes(), std::size_t{0});
    EXPECT_TRUE(small != nullptr);
}
TEST_F(allowance, reaches_memory_behind_a_small_container_that_stays) {
    if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
    alone([] { leaves_nothing_behind_a_small_one([] { return std::make_unique<headroom::settled_vector<int>>(4, 1); }); });
    alone([] { leaves_nothing_behind_a_small_one([] { return std::make_unique<headroom::vector<char>>(MiB + 1, 'x'); }); });
    alone([] {
        leaves_nothing_behind_a_small_one([] {
            auto made = std::make_unique<headroom::arena>();
            (void)made->allocate(16, 8);
            return made;
        });
    });
    alone([] {
        leaves_nothing_behind_a_small_one([] {
            auto made = std::make_unique<headroom::multipool_resource>();
            (void)made->allocate(100'000, 8);
            return made;
        });
    });
}

TEST_F(allowance, releases_memory_behind_a_small_container_after_a_while_at_any_other_call) {
    if (ranges_rest) GTEST_SKIP() << "hardened, a range rests before it is used again";
    const auto forgets = [](auto call) {
        for (int i = 0; i < 3; ++i) headroom::settled_vector<char>(60 * MiB, 'x');
        const headroom::settled_vector<int> small(4, 1);
        forget();
        call();
        EXPECT_LE(headroom::cached_bytes(), MiB);
        EXPECT_EQ(small[3], 1);
    };
    alone([&] { forgets([] { headroom::vector<char>(2 * MiB, 'x'); }); });
    alone([&] {
        forgets([] {
            for (int i = 0; i < 2000; ++i) headroom::settled_vector<int>{i};    // most of them in this thread's slots
        });
    });
    alone([&] {
        forgets([] {
            headroom::settled_vector<int> growing;
            for (int i = 0; i < 100'000; ++i) growing.push_back(i);
        });
    });
}

// Unused memory of ranges served from the cache counts against the limit: otherwise many ranges would hold a little each.
TEST_F(allowance, counts_what_is_warm_in_living_ranges) {
    alone([] {
        for (int i = 0; i < 2; ++i) live_and_die(30 * MiB);
        reservation little(128 * MiB);    // served by that range
        ASSERT_FALSE(little.commit_to(1));
        for (int i = 0; i < 2; ++i) {
            live_and_die(20 * MiB, 64 * MiB);
            live_and_die(20 * MiB, 256 * MiB);
        }
        EXPECT_LE(headroom::cached_bytes(), 34 * MiB);    // the limit has no space for more beside it
        EXPECT_GE(headroom::cached_bytes(), 20 * MiB);
    });
}

// A program of which the bytes in use rise and fall by a factor of a hundred never has much more than it has just used.
TEST_F(allowance, follows_sizes_that_drift) {
    alone([] {
        std::size_t size = MiB / 4;
        for (int i = 0; i < 120; ++i) {
            size = i / 30 % 2 == 0 ? size + size / 6 : size - size / 7;
            headroom::settled_vector<char> one(size, 'x');
            EXPECT_LE(headroom::cached_bytes(), headroom::cache_limit());
        }
        EXPECT_LE(headroom::cached_bytes(), headroom::cache_limit());
        forget();
        for (int i = 0; i < 3; ++i) headroom::settled_vector<char>(MiB, 'x');
        EXPECT_LE(headroom::cached_bytes(), 2 * MiB);
    });
}

}    // namespace
