// Labels: linux no-valgrind
// What becomes of the state of the whole process (docs/design.md has a table of it) when the process executes another program,
// and what a signal handler may ask.
//
// A test of exec makes a piece of state in a child and executes this very program there: a disabled test of the same name
// looks for it in what is then the process.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <future>
#include <numeric>
#include <string>
#include <thread>

#include <headroom/file_vector.hpp>
#include <headroom/multipool.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>

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

// 0 where the test `found` holds in this program, once it is executed in a child in which `make` has been at work.
template <class Make>
int after_exec(const char* found, Make make) {
    if (!there_is_a_test(found)) return 96;    // (a run of no test would pass)
    return in_child([&] {
        make();
        const std::string filter = std::string("--gtest_filter=") + found;
        execl("/proc/self/exe", "exec_and_signals_test", filter.c_str(), "--gtest_also_run_disabled_tests", "--gtest_fail_fast",
              static_cast<char*>(nullptr));
        return 97;
    });
}

class exec : public testing::Test {
protected:
    void SetUp() override {
        if (headroom_test::emulated()) GTEST_SKIP() << "the system cannot execute an emulated program by its name";
    }
};

TEST_F(exec, leaves_no_range_and_no_warm_memory) {
    EXPECT_EQ(after_exec("in_the_executed_program.DISABLED_no_range",
                         [] {
                             static headroom::settled_vector<int> kept(100'000);
                             kept.name("kept");
                             headroom::settled_vector<int>(1'000'000).clear();    // to the warm cache
                         }),
              0);
}
TEST(in_the_executed_program, DISABLED_no_range) {
    EXPECT_TRUE(headroom::reservations().empty());
    EXPECT_EQ(headroom::cached_bytes(), 0U);
}

TEST_F(exec, begins_the_counters_anew) {
    EXPECT_EQ(
        after_exec("in_the_executed_program.DISABLED_new_counters", [] { headroom::settled_vector<int>(1'000'000).clear(); }), 0);
}
TEST(in_the_executed_program, DISABLED_new_counters) {
    const headroom::page_statistics counted = headroom::statistics();
    EXPECT_EQ(std::accumulate(counted.calls.begin(), counted.calls.end(), std::uint64_t{0}), 0U);
    EXPECT_EQ(counted.cache_hits + counted.cache_misses + counted.refusals, 0U);
}

TEST_F(exec, forgets_the_failures_that_a_test_injects) {
    EXPECT_EQ(after_exec("in_the_executed_program.DISABLED_no_failure", [] { headroom::testing::fail_system_call(1); }), 0);
}
TEST(in_the_executed_program, DISABLED_no_failure) {
    const reservation range(16 * MiB);
    EXPECT_EQ(range.reserved(), 16 * MiB);
    EXPECT_EQ(headroom::statistics().refusals, 0U);
}

// Nor does the helper's mask, which blocks all signals, become the program's.
TEST_F(exec, ends_the_helper_thread_and_a_new_one_is_made_at_need) {
    EXPECT_EQ(after_exec("in_the_executed_program.DISABLED_no_helper",
                         [] {
                             static reservation range(64 * MiB, headroom::prefault_ahead(16 * MiB));
                             fill(range, 6 * MiB, 1);
                         }),
              0);
}
TEST(in_the_executed_program, DISABLED_no_helper) {
    sigset_t blocked;
    ASSERT_EQ(sigprocmask(SIG_SETMASK, nullptr, &blocked), 0);
    EXPECT_EQ(sigismember(&blocked, SIGUSR1), 0);
    std::promise<void> counted;
    std::thread other([&] { counted.get_future().wait(); });    // ThreadSanitizer starts one of its own with the first
    const std::size_t before = entries_of("/proc/self/task");
    reservation range(64 * MiB, headroom::prefault_ahead(16 * MiB));
    fill(range, 6 * MiB, 1);
    EXPECT_EQ(entries_of("/proc/self/task"), before + 1);
    counted.set_value();
    other.join();
}

TEST_F(exec, closes_the_files_of_vectors) {
    EXPECT_EQ(after_exec("in_the_executed_program.DISABLED_no_file",
                         [] {
                             static headroom::file_vector<int> kept = headroom_test::nameless_file<int>(1000);
                             kept.push_back(1);
                         }),
              0);
}
TEST(in_the_executed_program, DISABLED_no_file) {
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        EXPECT_EQ(std::filesystem::read_symlink(each.path(), gone).string().find("headroom-"), std::string::npos);
    }
}

TEST_F(exec, leaves_no_cache_of_a_thread_in_a_pool) {
    EXPECT_EQ(after_exec("in_the_executed_program.DISABLED_new_pools",
                         [] {
                             static headroom::synchronized_multipool_resource pool;
                             pool.deallocate(pool.allocate(64, 8), 64, 8);
                         }),
              0);
}
TEST(in_the_executed_program, DISABLED_new_pools) {
    headroom::synchronized_multipool_resource pool;
    void* const block = pool.allocate(64, 8);
    EXPECT_NE(block, nullptr);
    pool.deallocate(block, 64, 8);
}

// --- Signals.

const void* asked_about = nullptr;
volatile sig_atomic_t asked = 0;
volatile sig_atomic_t wrong = 0;

extern "C" void ask_what_a_handler_may(int) {
    // (A range without a name: to tell one, memory is allocated.)
    const auto found = headroom::owner_of(asked_about);
    if (!found || found->base != asked_about) wrong = wrong + 1;
    if (headroom::owner_of(&asked_about)) wrong = wrong + 1;
    if (headroom::statistics().cache_misses == 0) wrong = wrong + 1;
    asked = asked + 1;
}

// Whatever the program is doing with other ranges when the signal comes.
TEST(signals, a_handler_may_call_owner_of_and_statistics) {
    const reservation range(16 * MiB);
    asked_about = range.data();
    asked = 0;
    wrong = 0;
    struct sigaction action{};
    struct sigaction before{};
    action.sa_handler = ask_what_a_handler_may;
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
    const itimerval often{{0, 200}, {0, 200}};
    ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
    for (int round = 0; asked < 100 && round < 1'000'000; ++round) {
        headroom::settled_vector<int> v(headroom::max_elements{std::size_t{1000} << round % 10});
        v.name("another");
        v.resize(500);
        v.rehome(headroom::max_elements{5000});
        if (round % 16 == 0) headroom::trim_cache();
    }
    const itimerval never{};
    EXPECT_EQ(setitimer(ITIMER_REAL, &never, nullptr), 0);
    EXPECT_EQ(sigaction(SIGALRM, &before, nullptr), 0);
    EXPECT_GE(asked, 100);
    EXPECT_EQ(wrong, 0);
}

}    // namespace
