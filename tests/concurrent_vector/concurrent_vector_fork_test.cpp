// SPDX-License-Identifier: MIT
// Labels: posix thread no-valgrind
// Forks while threads append: the child has the published elements, waits for no lock of the parent's threads, and can append.
// Left out under Valgrind, which reports memory of those threads as leaked.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <headroom/concurrent_vector.hpp>

#include "support/emulated.hpp"
#include "support/sanitizers.hpp"
#include "system/in_child.hpp"

// Options of ThreadSanitizer: let a child of a threaded process start threads, and do not report the parent's threads as leaked.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0:report_thread_leaks=0"; }

namespace {

using headroom::concurrent_vector;
using headroom::max_elements;
using headroom_test::in_child;

struct entry {
    explicit entry(std::uint64_t n) : number(n), check(~n) {}
    std::uint64_t number;
    std::uint64_t check;
};

bool all_complete(const concurrent_vector<entry>& v) {
    for (const entry& each : v.published()) {
        if (each.check != ~each.number) return false;
    }
    return true;
}

// Appends in every way, on this thread and on another.
int append_on(concurrent_vector<entry>& v) {
    const auto some = [&] {
        for (std::uint64_t i = 0; i < 500; ++i) v.emplace_back(i);
        concurrent_vector<entry>::appender out(v, 30);
        for (std::uint64_t i = 0; i < 500; ++i) out.emplace_back(i);
    };
    const std::size_t before = v.size();
    some();
    if (headroom_test::thread_sanitizer) {    // it would confuse the new thread with one of the parent
        some();
        some();
    } else {
        std::thread other(some);
        some();
        other.join();
    }
    v.wait_for(before + 3000);
    return all_complete(v) && v.size() == before + 3000 ? 0 : 1;
}

TEST(a_forked_child, appends_to_a_vector_that_threads_of_its_parent_were_appending_to) {
    concurrent_vector<entry> v;
    std::atomic<bool> enough{false};
    std::vector<std::thread> writers;
    for (int t = 0; t < 3; ++t) {
        writers.emplace_back([&, t] {
            concurrent_vector<entry>::appender out(v, 50);
            for (std::uint64_t i = 0; !enough && v.size() < 3'000'000; ++i) {
                if (t == 0) {
                    out.emplace_back(i);
                } else {
                    v.emplace_back(i);
                }
            }
        });
    }
    v.wait_for(1000);
    const int children = headroom_test::emulated() ? 5 : 40;
    for (int child = 0; child < children; ++child) {
        const int status = in_child([&] { return all_complete(v) ? append_on(v) : 2; });
        EXPECT_EQ(status, 0) << "child " << child;
        if (status != 0) break;
    }
    enough = true;
    for (auto& each : writers) each.join();
    EXPECT_TRUE(all_complete(v));
}

TEST(a_forked_child, of_a_thread_that_appends_alone_goes_on_where_that_was) {
    concurrent_vector<entry> v;
    for (std::uint64_t i = 0; i < 1000; ++i) v.emplace_back(i);
    EXPECT_EQ(in_child([&] { return append_on(v); }), 0);
    EXPECT_EQ(append_on(v), 0);
    EXPECT_EQ(in_child([&] { return in_child([&] { return append_on(v); }) + append_on(v); }), 0);
}

TEST(a_forked_child, has_room_that_threads_of_its_parent_had_claimed) {
    concurrent_vector<entry> v(max_elements{1000});
    std::atomic<int> stage{0};
    std::thread holder([&] {
        concurrent_vector<entry>::appender out(v, 900);
        out.emplace_back(std::uint64_t{1});
        stage = 1;
        while (stage != 2) std::this_thread::yield();
    });
    while (stage != 1) std::this_thread::yield();
    // That thread's element does not exist in the child; one slot stays claimed for it.
    EXPECT_EQ(in_child([&] {
                  for (std::uint64_t i = 0; i < 999; ++i) v.emplace_back(i);
                  try {
                      v.emplace_back(std::uint64_t{0});
                  } catch (const std::length_error&) {
                      return v.size() == 999 ? 0 : 1;
                  }
                  return 2;
              }),
              0);
    stage = 2;
    holder.join();
    EXPECT_EQ(v.size(), 1U);
}

// A thread of the parent undoes claims all the time: it finds the vector full but for the unpublished elements of the forking
// thread. Their slots stay claimed in the child at any moment of the fork.
TEST(a_forked_child, has_the_room_that_it_had_claimed_itself_though_claims_were_being_taken_back) {
    constexpr std::uint64_t built = 10, all = 1000;
    concurrent_vector<entry> v(max_elements{all});
    concurrent_vector<entry>::appender out(v, 900);
    for (std::uint64_t i = 0; i < built; ++i) out.emplace_back(i);
    for (std::uint64_t i = 0; i < all - built; ++i) v.emplace_back(i);
    const auto finds_it_full = [&] {
        try {
            v.emplace_back(std::uint64_t{0});
        } catch (const std::length_error&) {
            return true;
        }
        return false;
    };
    std::atomic<bool> enough{false}, found_room{false};
    std::atomic<int> rounds{0};
    std::thread taker([&] {
        for (; !enough && !found_room; ++rounds) found_room = !finds_it_full();
    });
    const int children = headroom_test::emulated() ? 5 : 100;
    for (int child = 0; child < children; ++child) {
        for (const int before = rounds; rounds == before && !found_room;) std::this_thread::yield();
        const int status = in_child([&] {
            if (!finds_it_full()) return 1;
            out.flush();
            return all_complete(v) && v.size() == all ? 0 : 2;
        });
        EXPECT_EQ(status, 0) << "child " << child;
        if (status != 0) break;
    }
    enough = true;
    taker.join();
    EXPECT_FALSE(found_room);
    out.flush();
    EXPECT_EQ(v.size(), all);
    EXPECT_TRUE(all_complete(v));
}

}    // namespace
