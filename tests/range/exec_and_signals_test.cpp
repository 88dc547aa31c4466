// SPDX-License-Identifier: MIT
// Labels: linux no-valgrind
// Process-wide state (table in docs/design.md) after the process executes another program, and queries from a signal handler.
//
// A test of exec creates a state in a child and executes this program there, where a disabled test checks that the state is gone.
// The check must find it in a child without exec.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <future>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <headroom/concurrent_vector.hpp>
#include <headroom/file_vector.hpp>
#include <headroom/multipool.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>

#include "support/addresses.hpp"
#include "support/emulated.hpp"
#include "support/filed.hpp"
#include "support/fill.hpp"
#include "system/in_child.hpp"

extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace {

using headroom::reservation;
using headroom_test::fill;
using headroom_test::in_child;

constexpr std::size_t MiB = std::size_t{1} << 20;

std::size_t entries_of(const char* folder) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(folder)) ++count;
    return count;
}

bool there_is_a_test(const std::string& name) {
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i != all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j != suite.total_test_count(); ++j) {
            if (std::string(suite.name()) + "." + suite.GetTestInfo(j)->name() == name) return true;
        }
    }
    return false;
}

// A state: make() creates it; look() returns 0 if it is absent.
struct piece_of_state {
    const char* name;    // of the disabled test that checks it
    void (*make)();
    int (*look)();
};

constexpr std::array<piece_of_state, 7> pieces{{
    {"DISABLED_ranges_and_warm_memory",
     [] {
         static headroom::settled_vector<int> kept(100'000);
         kept.name("kept");
         headroom::settled_vector<int>(1'000'000).clear();    // to the cache
     },
     [] { return (headroom::reservations().empty() ? 0 : 1) + (headroom::cached_bytes() == 0 ? 0 : 2); }},
    {"DISABLED_counters", [] { headroom::settled_vector<int>(1'000'000).clear(); },
     [] {
         const headroom::page_statistics counted = headroom::statistics();
         const auto calls = std::accumulate(counted.calls.begin(), counted.calls.end(), std::uint64_t{0});
         return calls + counted.cache_hits + counted.cache_misses + counted.refusals == 0 ? 0 : 1;
     }},
    {"DISABLED_injected_failures", [] { headroom::testing::fail_system_call(1); },
     [] {
         try {
             const reservation range(24 * MiB);    // of a size that is not cached
             return headroom::statistics().refusals == 0 ? 0 : 1;
         } catch (const headroom::refused&) {
             return 2;
         }
     }},
    {"DISABLED_pretended_limits", [] { headroom::testing::limit_address_space(MiB); },
     [] {
         try {
             return reservation(24 * MiB).reserved() == 24 * MiB ? 0 : 1;
         } catch (const headroom::refused&) {
             return 2;
         }
     }},
    // The helper's signal mask, which blocks all signals, is not inherited either.
    {"DISABLED_helper_thread",
     [] {
         static reservation range(64 * MiB, headroom::prefault_ahead(16 * MiB));
         fill(range, 6 * MiB, 1);
     },
     [] {
         sigset_t blocked;
         if (sigprocmask(SIG_SETMASK, nullptr, &blocked) != 0 || sigismember(&blocked, SIGUSR1) != 0) return 1;
         std::promise<void> counted;
         std::thread other([&] { counted.get_future().wait(); });    // ThreadSanitizer starts its own thread with the first
         const std::size_t before = entries_of("/proc/self/task");
         reservation range(64 * MiB, headroom::prefault_ahead(16 * MiB));
         fill(range, 6 * MiB, 1);
         const bool made = entries_of("/proc/self/task") == before + 1;
         counted.set_value();
         other.join();
         return made ? 0 : 2;
     }},
    {"DISABLED_open_files",
     [] {
         static headroom::file_vector<int> kept = headroom_test::nameless_file<int>(1000);
         kept.push_back(1);
     },
     [] {
         // An unnamed file has a number for a name, in the folder where it was created.
         const std::string folder = headroom_test::folder_for_files().string();
         for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
             std::error_code gone;
             const std::string leads_to = std::filesystem::read_symlink(each.path(), gone).string();
             if (leads_to.starts_with(folder) && leads_to.ends_with(" (deleted)")) return 1;
         }
         return 0;
     }},
    {"DISABLED_caches_of_threads",
     [] {
         static headroom::synchronized_multipool_resource pool;
         pool.deallocate(pool.allocate(64, 8), 64, 8);
     },
     [] {
         for (const headroom::detail::thread_entry& each : headroom::detail::thread_entries) {
             if (each.serial != 0 || each.cache != nullptr) return 1;
         }
         headroom::synchronized_multipool_resource pool;
         pool.deallocate(pool.allocate(64, 8), 64, 8);
         return 0;
     }},
}};

// Registers the disabled tests.
class in_the_executed_program : public testing::Test {
public:
    explicit in_the_executed_program(int (*look)()) noexcept : look_(look) {}
    void TestBody() override { EXPECT_EQ(look_(), 0); }

private:
    int (*look_)();
};

class exec : public testing::TestWithParam<piece_of_state> {
protected:
    void SetUp() override {
        if (headroom_test::emulated()) GTEST_SKIP() << "the system cannot execute an emulated program by its name";
    }
};

TEST_P(exec, leaves_nothing_of) {
    const piece_of_state& piece = GetParam();
    const std::string looking = std::string("in_the_executed_program.") + piece.name;
    ASSERT_TRUE(there_is_a_test(looking));    // a run without tests would pass
    EXPECT_EQ(in_child([&] {
                  piece.make();
                  const std::string filter = "--gtest_filter=" + looking;
                  execl("/proc/self/exe", "exec_and_signals_test", filter.c_str(), "--gtest_also_run_disabled_tests",
                        "--gtest_fail_fast", static_cast<char*>(nullptr));
                  return 97;
              }),
              0);
    EXPECT_NE(in_child([&] {
                  piece.make();
                  return piece.look();
              }),
              0)
        << "what is there is not found";
}
INSTANTIATE_TEST_SUITE_P(state, exec, testing::ValuesIn(pieces),
                         [](const auto& each) { return std::string(each.param.name).substr(sizeof "DISABLED"); });

const bool looks_are_tests = [] {
    for (const piece_of_state& each : pieces) {
        testing::RegisterTest("in_the_executed_program", each.name, nullptr, nullptr, __FILE__, __LINE__,
                              [look = each.look]() -> in_the_executed_program* { return new in_the_executed_program(look); });
    }
    return true;
}();

// --- Signals.

const void* asked_about = nullptr;
volatile sig_atomic_t asked = 0;
volatile sig_atomic_t wrong = 0;

extern "C" void ask_what_a_handler_may(int) {
    // A range without a name: owner_of() allocates for a name.
    const auto found = headroom::owner_of(asked_about);
    if (!found || found->base != asked_about) wrong = wrong + 1;
    if (headroom::owner_of(&asked_about)) wrong = wrong + 1;
    if (headroom::statistics().cache_misses == 0) wrong = wrong + 1;
    asked = asked + 1;
}

// Signals interrupt `work` on other ranges at any point. A handler waiting for a lock of its own thread would hang: the alarm
// ends that.
int ask_often(void (*handler)(int), void (*work)(int round)) {
    alarm(60);
    asked = 0;
    wrong = 0;
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    if (sigaction(SIGPROF, &action, nullptr) != 0) return 1;
    const itimerval often{{0, 200}, {0, 200}};
    if (setitimer(ITIMER_PROF, &often, nullptr) != 0) return 2;
    for (int round = 0; asked < 100; ++round) work(round);
    const itimerval never{};
    if (setitimer(ITIMER_PROF, &never, nullptr) != 0) return 3;
    return wrong == 0 ? 0 : 4;
}

TEST(signals, a_handler_may_call_owner_of_and_statistics) {
    const reservation range(16 * MiB);
    asked_about = range.data();
    EXPECT_EQ(in_child([] {
                  return ask_often(ask_what_a_handler_may, [](int round) {
                      headroom::settled_vector<int> v(headroom::max_elements{std::size_t{1000} << round % 10});
                      v.name("another");
                      v.resize(500);
                      v.rehome(headroom::max_elements{5000});
                      if (round % 16 == 0) headroom::trim_cache();
                  });
              }),
              0);
}

std::atomic<bool> is_held_up{false}, may_go_on{false};

extern "C" void hold_up(int) {
    is_held_up.store(true);
    while (!may_go_on.load()) {}
}

// Interrupts a lookup within a list while its control block moves to another list: it must still find ranges behind it in its
// own. Small ranges 4 GiB apart share a list.
TEST(signals, a_lookup_that_is_held_up_meanwhile_finds_a_range_that_stays) {
    if (!headroom_test::many_addresses) GTEST_SKIP() << "too few addresses for ranges that far apart";
    EXPECT_EQ(in_child([] {
                  alarm(60);
                  headroom::trim_cache();
                  // Leaves holes 4 GiB apart, which small ranges then occupy again and again.
                  std::vector<reservation> between, holes, leave;
                  for (int i = 0; i < 9; ++i) {
                      between.emplace_back(4096 * MiB - 12 * MiB);
                      holes.emplace_back(5 * MiB);
                  }
                  holes.clear();
                  headroom::trim_cache();
                  const reservation stays(MiB);    // the last in its list
                  for (int i = 0; i < 8; ++i) leave.emplace_back(MiB);
                  if (signal(SIGUSR1, hold_up) == SIG_ERR) return 1;
                  std::atomic<bool> stop{false};
                  std::atomic<std::uint64_t> lookups{0}, missed{0};
                  std::thread reader([&] {
                      while (!stop.load()) {
                          if (!headroom::owner_of(stays.data())) missed.fetch_add(1);
                          lookups.fetch_add(1);
                      }
                  });
                  for (int round = 0; round < 300; ++round) {
                      is_held_up.store(false);
                      may_go_on.store(false);
                      if (pthread_kill(reader.native_handle(), SIGUSR1) != 0) return 2;
                      while (!is_held_up.load()) std::this_thread::yield();
                      leave.clear();
                      headroom::trim_cache();
                      std::vector<reservation> elsewhere;    // reuses the control blocks
                      for (int i = 0; i < 8; ++i) elsewhere.emplace_back(100 * MiB);
                      const std::uint64_t before = lookups.load();
                      may_go_on.store(true);
                      while (lookups.load() < before + 2) std::this_thread::yield();
                      elsewhere.clear();
                      headroom::trim_cache();
                      for (int i = 0; i < 8; ++i) leave.emplace_back(MiB);
                  }
                  stop.store(true);
                  reader.join();
                  return missed.load() == 0 ? 0 : 3;
              }),
              0);
}

headroom::concurrent_vector<int>* volatile appended_to = nullptr;

extern "C" void read_what_is_published(int) {
    if (appended_to == nullptr) return;
    const auto there = appended_to->published();
    for (std::size_t i = 0; i != there.size(); ++i) {
        if (there[i] != static_cast<int>(i) + 1) wrong = wrong + 1;
    }
    asked = asked + 1;
}

// Also while the interrupted thread appends.
TEST(signals, a_handler_may_read_what_a_concurrent_vector_has_published) {
    EXPECT_EQ(in_child([] {
                  return ask_often(read_what_is_published, [](int) {
                      headroom::concurrent_vector<int> v;
                      appended_to = &v;
                      for (int i = 1; i <= 3000; ++i) v.push_back(i);
                      headroom::concurrent_vector<int>::appender out(v, 10);
                      for (int i = 3001; i <= 5000; ++i) out.push_back(i);
                      out.flush();
                      appended_to = nullptr;
                  });
              }),
              0);
}

}    // namespace
