// SPDX-License-Identifier: MIT
// A thread cancelled by pthread_cancel runs on until a cancellation point of the program itself: system calls of the library are
// none.
// Labels: posix thread
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <new>
#include <string>

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <headroom/concurrent_vector.hpp>
#include <headroom/multipool.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include "support/sanitizers.hpp"
#include "system/in_child.hpp"

extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

struct ahead_policy : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::prefault_ahead(8 * MiB);
};
using ahead = headroom::settled_vector<char, ahead_policy>;

// Each in its own process, since the library asks the system for many facts only once.
TEST(a_cancelled_thread, ends_where_the_program_says_so) {
    const std::array<void (*)(), 7> calls{
        [] { headroom::vector<char>().resize(16 * MiB); },
        [] {
            headroom::settled_vector<char> v;
            v.resize(16 * MiB);
            v.resize(1);
            v.shrink_to_fit();
            v.rehome(headroom::max_elements{32 * MiB});
        },
        [] {
            ahead v;
            while (v.size() < 64 * MiB) v.push_back(1);
        },
        [] {
            for (int i = 0; i < 4; ++i) headroom::vector<char>(4 * MiB);
        },
        [] {
            headroom::testing::fail_system_call(1, ENOMEM, headroom::testing::afterwards::keep_failing);
            try {
                headroom::settled_vector<std::string> v(1000);
                _exit(7);
            } catch (const std::bad_alloc&) {}
            headroom::testing::stop_failing();
        },
        [] {
            headroom::multipool_resource pool;
            for (int i = 0; i < 1000; ++i) (void)pool.allocate(10'000);
        },
        [] {
            headroom::concurrent_vector<int> v;
            for (int i = 0; i < 1'000'000; ++i) v.push_back(i);
        },
    };
    for (const auto call : calls) {
        EXPECT_EQ(headroom_test::in_child([&] {
                      alarm(60);
                      pthread_t thread;
                      const auto run = [](void* of) -> void* {
                          pthread_cancel(pthread_self());
                          (*static_cast<void (**)()>(of))();
                          pthread_testcancel();
                          _exit(8);
                      };
                      auto its = call;
                      if (pthread_create(&thread, nullptr, run, &its) != 0) return 1;
                      void* answer = nullptr;
                      if (pthread_join(thread, &answer) != 0) return 2;
                      return answer == PTHREAD_CANCELED ? 0 : 3;
                  }),
                  0);
    }
}

// Cached memory is released before a commit fails, by writer or helper thread.
TEST(prefault_ahead, gives_warm_memory_back_before_it_is_refused) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "its memory counts against the limit";
    EXPECT_EQ(headroom_test::in_child([] {
                  headroom::set_cache_limit(64 * MiB);
                  { headroom::settled_vector<char>().resize(48 * MiB); }
                  const std::size_t room = 60 * MiB;
                  const rlimit limit{room, room};
                  if (setrlimit(RLIMIT_DATA, &limit) != 0) return 1;
                  ahead v;
                  while (v.size() < 30 * MiB) v.push_back(0);
                  return 0;
              }),
              0);
}

}    // namespace
