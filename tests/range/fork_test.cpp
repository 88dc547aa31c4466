// SPDX-License-Identifier: MIT
// Forks while other threads are inside the library: the child never waits for one of them.
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <headroom/detail/concurrent/append_lock.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

#include "support/fill.hpp"
#include "system/in_child.hpp"

// Lets ThreadSanitizer's child of a threaded process start threads.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace {

using headroom::reservation;

constexpr std::size_t MiB = std::size_t{1} << 20;

// Forks while two threads repeat `at_work(stop)`. Each child runs everything that could wait for a lock; an alarm ends a hanging
// child.
template <class Work>
void fork_beside(Work at_work) {
    std::atomic<bool> stop{false};
    reservation known(64 * MiB);
    ASSERT_FALSE(known.commit_to(MiB));
    known.name("known");
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
        threads.emplace_back([&] {
            while (!stop.load()) at_work(known);
        });
    int failed = 0;
    for (int i = 0; i < 25 && failed == 0; ++i) {
        const int status = headroom_test::in_child([&] {
            alarm(20);
            for (int round = 0; round < 3; ++round) {
                const auto owner = headroom::owner_of(known.data());
                if (!owner || owner->base != known.data()) return 1;
                reservation another(static_cast<std::size_t>(round + 1) * 3 * MiB);
                if (another.commit_to(2 * MiB)) return 2;
                another.name("of the child");
                reservation ahead(64 * MiB, headroom::prefault_ahead(8 * MiB));
                headroom_test::fill(ahead, 12 * MiB, 7);
                if (headroom::reservations().size() < 3) return 3;
                headroom::trim_cache();
                (void)headroom::cached_bytes();
                (void)headroom::statistics();
            }
            return 0;
        });
        failed = status;
    }
    stop.store(true);
    for (auto& each : threads) each.join();
    EXPECT_EQ(failed, 0);
}

TEST(fork, beside_threads_that_ask_for_owners) {
    fork_beside([](const reservation& known) { (void)headroom::owner_of(known.data() + 5); });
}

TEST(fork, beside_threads_that_name_ranges) {
    fork_beside([](const reservation&) {
        static thread_local reservation mine(MiB);
        mine.name("one name");
        mine.name("another name");
    });
}

TEST(fork, beside_threads_that_reserve_and_give_back) {
    fork_beside([](const reservation&) {
        { const reservation range(5 * MiB); }
        { headroom::settled_vector<int> v(1000, 1); }
        headroom::trim_cache();
    });
}

TEST(fork, beside_threads_at_work_on_slots_of_their_own) {
    fork_beside([](const reservation&) {
        for (int i = 0; i < 1000; ++i) headroom::settled_vector<int>().push_back(i);
    });
}

TEST(fork, beside_the_helper_thread_at_work) {
    fork_beside([](const reservation&) {
        reservation range(64 * MiB, headroom::prefault_ahead(16 * MiB));
        headroom_test::fill(range, 6 * MiB, 1);
    });
}

// Each child knows that it is one, whichever fork is done first.
TEST(fork, of_several_threads_at_once) {
    const std::atomic<std::uint32_t>& generation = headroom::detail::fork_generation();
    const std::uint32_t mine = generation.load();
    std::atomic<int> unaware{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 40 && unaware == 0; ++i) {
                const int status = headroom_test::in_child([&] {
                    alarm(20);
                    return generation.load() != mine ? 0 : 1;
                });
                if (status != 0) ++unaware;
            }
        });
    for (auto& each : threads) each.join();
    EXPECT_EQ(unaware, 0);
}

TEST(fork, leaves_both_with_what_was_theirs) {
    headroom::settled_vector<int> v(100'000, 1);
    const int status = headroom_test::in_child([&] {
        v.resize(2'000'000, 2);
        return v[99'999] == 1 && v.back() == 2 ? 0 : 1;
    });
    EXPECT_EQ(status, 0);
    v.resize(300'000, 3);
    EXPECT_EQ(v.back(), 3);
}

}    // namespace
