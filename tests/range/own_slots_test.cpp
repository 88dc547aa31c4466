// SPDX-License-Identifier: MIT
// Thread slots of the range cache: a thread returns its ranges when it ends or after the cache was trimmed, and no range ever has
// two owners.
// Labels: thread
// Not under Valgrind: own_slots.serve_without_a_system_call own_slots.serve_the_five_thousandth_thread_as_the_first
#include <gtest/gtest.h>

#if __has_include(<pthread.h>)
#include <pthread.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>

#include "support/sanitizers.hpp"
#include "system/thread_slots.hpp"

namespace {

using headroom::settled_vector;

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr std::size_t default_limit = std::size_t{64} << 20;
constexpr std::size_t most_of_one_thread = 2 * (std::size_t{64} << 10);
// More ranges than a thread must have released before it gets slots.
constexpr int many = 200;

struct thrifty : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::least_memory();
};

struct own_slots : testing::Test {
    void SetUp() override {
        headroom::set_cache_limit(default_limit);
        headroom::trim_cache();
    }
    void TearDown() override { SetUp(); }

    static void live_and_die(int times) {
        for (int i = 0; i < times; ++i) {
            settled_vector<int> small;
            small.push_back(i);
            ASSERT_EQ(small.back(), i);
        }
    }
};

// A thread with ranges in its slots; it ends when this object is destroyed.
class keeper {
public:
    keeper()
        : thread_([this] {
              own_slots::live_and_die(many);
              reach(1);
              wait_for(2);
              settled_vector<int> one{1};    // its next call
              reach(3);
              wait_for(4);
          }) {
        wait_for(1);
    }
    ~keeper() {
        reach(4);
        thread_.join();
    }
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;

    // Makes the thread take a range, which it holds until it ends.
    void call() {
        reach(2);
        wait_for(3);
    }

private:
    // By a condition, as libstdc++'s atomic wait loses notifications where there is no futex (GCC 12, MinGW).
    void reach(int step) {
        const std::lock_guard lock(mutex_);
        step_ = (std::max)(step_, step);
        changed_.notify_all();
    }
    void wait_for(int step) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return step_ >= step; });
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    int step_ = 0;
    std::thread thread_;
};

TEST_F(own_slots, serve_without_a_system_call) {
#if defined(HEADROOM_HARDENED)
    GTEST_SKIP() << "hardened, a range rests before it is used again";
#endif
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "warm memory is hidden from its next owner";
    live_and_die(many);
    headroom::reset_statistics();
    headroom::testing::count_system_calls();
    live_and_die(many);
    EXPECT_EQ(headroom::testing::stop_failing(), 0u);
    EXPECT_EQ(headroom::statistics().cache_hits, static_cast<std::uint64_t>(many));
}

TEST_F(own_slots, what_lies_in_them_is_nobodys) {
    live_and_die(many);
    const int* where = nullptr;
    {
        settled_vector<int> small(3, 7);
        where = small.data();
        const auto owner = headroom::owner_of(where + 2);
        ASSERT_TRUE(owner.has_value());
        EXPECT_EQ(owner->base, reinterpret_cast<const std::byte*>(where));
    }
    EXPECT_FALSE(headroom::owner_of(where).has_value());
    EXPECT_GT(headroom::cached_bytes(), 0u);
}

TEST_F(own_slots, of_this_thread_are_emptied_by_trimming_and_used_again) {
    live_and_die(many);
    headroom::trim_cache();
    EXPECT_EQ(headroom::cached_bytes(), 0u);
    live_and_die(2);
    EXPECT_GT(headroom::cached_bytes(), 0u);
}

TEST_F(own_slots, of_a_thread_that_lives_are_emptied_at_its_next_call_after_trimming) {
    keeper other;
    EXPECT_GT(headroom::cached_bytes(), 0u);
    headroom::trim_cache();
    EXPECT_LE(headroom::cached_bytes(), most_of_one_thread);
    other.call();
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}

TEST_F(own_slots, of_a_thread_that_ended_are_emptied_by_trimming) {
    std::thread(live_and_die, many).join();
    EXPECT_GT(headroom::cached_bytes(), 0u);
    headroom::trim_cache();
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}

#if __has_include(<pthread.h>)
TEST_F(own_slots, are_not_opened_again_by_what_runs_when_a_thread_ends) {
    // Clang's ThreadSanitizer; dev and asan-ubsan run it.
    if (headroom_test::thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer ends before the last round does";
    // Its destructor uses vectors in every round of key destructors, the last one included.
    static pthread_key_t key;
    static std::atomic<int> rounds{0};
    live_and_die(many);    // so that the library's key is older and its destructor is called first
    ASSERT_EQ(pthread_key_create(&key,
                                 [](void* value) {
                                     ++rounds;
                                     live_and_die(many);
                                     (void)pthread_setspecific(key, value);
                                 }),
              0);
    std::thread([] {
        live_and_die(many);
        (void)pthread_setspecific(key, &rounds);
    }).join();
    EXPECT_GE(rounds.load(), 1);
    EXPECT_EQ(pthread_key_delete(key), 0);
    headroom::trim_cache();
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}
#endif

TEST_F(own_slots, of_many_threads_that_ended_hold_little) {
    for (int i = 0; i < 100; ++i) std::thread(live_and_die, many).join();
    EXPECT_LE(headroom::cached_bytes(), std::size_t{8} << 20);
    headroom::trim_cache();
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}

TEST_F(own_slots, hold_no_more_where_many_threads_live) {
    {
        const std::array<keeper, 40> others;
        EXPECT_GT(headroom::cached_bytes(), 0u);
        headroom::trim_cache();
        EXPECT_LE(headroom::cached_bytes(), 32 * most_of_one_thread);
        live_and_die(many);
    }
    headroom::trim_cache();
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}

TEST_F(own_slots, keep_nothing_once_the_limit_is_low) {
    {
        keeper other;
        headroom::set_cache_limit(0);
        EXPECT_LE(headroom::cached_bytes(), most_of_one_thread);
        other.call();
        EXPECT_EQ(headroom::cached_bytes(), 0u);
    }
    live_and_die(many);
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}

TEST_F(own_slots, keep_what_another_size_or_policy_had_for_its_like_alone) {
    for (int i = 0; i < many; ++i) {
        settled_vector<int> plain{i};
        settled_vector<int, thrifty> other{i, i};
        settled_vector<int> exact(headroom::max_elements{500});
        exact.assign(500, i);
        ASSERT_EQ(plain.max_size(), settled_vector<int>().max_size());
        ASSERT_EQ(exact.max_size(), 500u);
        ASSERT_EQ(other.back(), i);
        ASSERT_THROW(exact.push_back(1), std::length_error);
    }
}

TEST_F(own_slots, keep_no_name_and_no_protection) {
    live_and_die(many);
    {
        settled_vector<int> named{1, 2, 3};
        named.name("gone soon");
        named.protect(headroom::access::read_only);
    }
    settled_vector<int> next{4};
    next.push_back(5);
    EXPECT_EQ(headroom::owner_of(next.data())->name, "");
    EXPECT_EQ(next.current_access(), headroom::access::read_write);
}

TEST_F(own_slots, never_give_a_range_to_two_owners_while_others_trim) {
    std::atomic<bool> stop{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 3000; ++i) {
                settled_vector<int> one, two;
                for (int k = 0; k < 5; ++k) {
                    one.push_back(t * 100000 + i);
                    two.push_back(-one.back());
                }
                for (int k = 0; k < 5; ++k) {
                    const auto at = static_cast<std::size_t>(k);
                    if (one[at] != t * 100000 + i || two[at] != -one[at]) wrong.fetch_add(1);
                }
            }
        });
    }
    std::thread trimming([&] {
        while (!stop.load()) headroom::trim_cache();
    });
    for (std::thread& each : threads) each.join();
    stop.store(true);
    trimming.join();
    EXPECT_EQ(wrong.load(), 0);
    headroom::trim_cache();
    EXPECT_EQ(headroom::cached_bytes(), 0u);
}

// Every earlier thread has returned its slots.
TEST_F(own_slots, serve_the_five_thousandth_thread_as_the_first) {
#if defined(HEADROOM_HARDENED)
    GTEST_SKIP() << "hardened, a range rests before it is used again";
#endif
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "warm memory is hidden from its next owner";
    std::array<std::uint64_t, 2> calls{};
    std::array<std::uint64_t, 2> hits{};
    for (int i = 0; i < 5000; ++i) {
        std::thread([&, i] {
            live_and_die(8);
            if (i != 0 && i != 4999) return;
            headroom::reset_statistics();
            headroom::testing::count_system_calls();
            live_and_die(many);
            calls[i != 0] = headroom::testing::stop_failing();
            hits[i != 0] = headroom::statistics().cache_hits;
        }).join();
    }
    EXPECT_EQ(calls[0], 0u);
    EXPECT_EQ(calls[1], 0u);
    EXPECT_EQ(hits[0], static_cast<std::uint64_t>(many));
    EXPECT_EQ(hits[1], static_cast<std::uint64_t>(many));
}

// A range in the shared list would serve it.
TEST_F(own_slots, serve_no_other_thread) {
#if defined(HEADROOM_HARDENED)
    GTEST_SKIP() << "hardened, there are no slots";
#endif
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "warm memory is hidden from its next owner";
    if (!headroom_test::threads_have_slots) GTEST_SKIP() << "all threads share the list of kept ranges";
    live_and_die(many);
    std::thread([] {
        headroom::reset_statistics();
        live_and_die(1);
        EXPECT_EQ(headroom::statistics().cache_hits, 0u);
    }).join();
}

TEST_F(own_slots, what_grows_page_by_page_begins_with_none) {
    for (int i = 0; i < many; ++i) {
        headroom::reservation range(MiB, headroom::page_by_page());
        EXPECT_EQ(range.committed(), 0u);
        EXPECT_FALSE(range.commit_to(1));
    }
}

TEST_F(own_slots, serve_those_alone_who_ask_for_as_many_pages) {
    const std::size_t page = headroom::page_size();
    for (int i = 0; i < many; ++i) EXPECT_FALSE(headroom::reservation(4 * page).commit_to(page));
    for (const std::size_t pages : {3U, 4U, 5U, 3U}) EXPECT_EQ(headroom::reservation(pages * page).reserved(), pages * page);
}

}    // namespace
