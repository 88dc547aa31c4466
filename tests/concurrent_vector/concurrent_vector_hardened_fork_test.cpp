// SPDX-License-Identifier: MIT
// Hardened: a vector destroyed in a forked child does not wait for appenders of the parent's threads, which do not exist there.
// Labels: posix thread no-valgrind
#define HEADROOM_HARDENED 1
#include <headroom/concurrent_vector.hpp>

#include <gtest/gtest.h>

#include <signal.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "support/sanitizers.hpp"
#include "system/in_child.hpp"

extern "C" const char* __tsan_default_options() { return "die_after_fork=0:report_thread_leaks=0"; }

namespace {

using headroom::concurrent_vector;
using headroom_test::in_child;

TEST(a_hardened_concurrent_vector, ends_in_a_child_without_the_appenders_of_its_parents_threads) {
    auto v = std::make_unique<concurrent_vector<int>>();
    std::atomic<int> stage{0};
    std::thread holder([&] {
        concurrent_vector<int>::appender out(*v);
        out.emplace_back(1);
        stage = 1;
        while (stage != 2) std::this_thread::yield();
    });
    while (stage != 1) std::this_thread::yield();
    EXPECT_EQ(in_child([&] {
                  v->push_back(2);
                  v.reset();
                  return 0;
              }),
              0);
    EXPECT_EQ(in_child([&] { return std::move(*v).take().size() == 0 ? 0 : 1; }), 0);
    stage = 2;
    holder.join();
}

// A thread of the child can reuse the stack of a thread of the parent, and so the addresses of its variables.
TEST(a_hardened_concurrent_vector, ends_on_a_thread_of_the_child) {
    auto v = std::make_unique<concurrent_vector<int>>();
    std::atomic<int> stage{0};
    std::vector<std::thread> holders;
    for (int i = 0; i < 4; ++i) {
        holders.emplace_back([&] {
            concurrent_vector<int>::appender out(*v);
            out.emplace_back(1);
            ++stage;
            while (stage >= 0) std::this_thread::yield();
        });
    }
    while (stage != 4) std::this_thread::yield();
    if (!headroom_test::thread_sanitizer) {    // it would confuse the new thread with one of the parent
        EXPECT_EQ(in_child([&] {
                      std::thread([&] { v.reset(); }).join();
                      return 0;
                  }),
                  0);
        EXPECT_EQ(in_child([&] {
                      std::size_t left = 1;
                      std::thread([&] { left = std::move(*v).take().size(); }).join();
                      return static_cast<int>(left);
                  }),
                  0);
    }
    stage = -1;
    for (std::thread& each : holders) each.join();
}

// Appenders created in the parent are not checked, since their threads may not exist in the child.
TEST(a_hardened_concurrent_vector, does_not_end_in_a_child_before_the_appenders_that_were_made_there) {
    auto v = std::make_unique<concurrent_vector<int>>();
    EXPECT_EQ(in_child([&] {
                  concurrent_vector<int>::appender out(*v);
                  v.reset();
                  return 0;
              }),
              1000 + SIGABRT);
}

}    // namespace
