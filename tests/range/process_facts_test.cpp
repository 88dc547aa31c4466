// SPDX-License-Identifier: MIT
// Labels: linux posix no-valgrind
// The quarantine and cached facts about the system over fork, exec and the end of a thread. docs/design.md has a table of
// process-wide state.
#define HEADROOM_HARDENED 1
#include <headroom/settled_vector.hpp>

#include <gtest/gtest.h>

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <headroom/pages.hpp>
#include <headroom/reservation.hpp>
#include <headroom/testing.hpp>

#include "support/emulated.hpp"
#include "system/in_child.hpp"
#include "system/mapped.hpp"

// Lets ThreadSanitizer's child of a threaded process start threads.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace {

using headroom::reservation;
using headroom_test::in_child;
using headroom_test::is_mapped;

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr std::size_t quarantined_most = 32;    // mappings in the quarantine
constexpr const char* where = "HEADROOM_TEST_QUARANTINED";

// Returns the address of a range that was in use and is quarantined.
const void* quarantined_range(std::size_t bytes = 8 * MiB) {
    reservation range(bytes);
    EXPECT_FALSE(range.commit_to(MiB));
    std::byte* const base = range.data();
    base[0] = std::byte{1};
    return base;
}

std::vector<const void*> quarantined_ranges(std::size_t count, std::size_t bytes = 8 * MiB) {
    std::vector<const void*> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(quarantined_range(bytes));
    return result;
}
// Fills the quarantine. Too large for the addresses of the ranges that leave it.
std::vector<const void*> all_others() { return quarantined_ranges(quarantined_most, 48 * MiB); }

std::size_t mapped_of(const std::vector<const void*>& ranges) {
    std::size_t count = 0;
    for (const void* const each : ranges) count += is_mapped(each);
    return count;
}

// Reading there faults.
bool is_inaccessible(const void* place) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return false;
    const bool refused = write(ends[1], place, 1) < 0;
    close(ends[0]);
    close(ends[1]);
    return refused;
}

class quarantine : public testing::Test {
protected:
    void SetUp() override {
        if (headroom_test::emulated()) GTEST_SKIP() << "the emulator's list of mappings leaves out what is inaccessible";
        headroom::set_cache_limit(0);    // the cache stays empty
        headroom::trim_cache();
    }
};

TEST_F(quarantine, keeps_the_addresses_of_the_last_ranges) {
    const auto ranges = quarantined_ranges(5);
    EXPECT_EQ(mapped_of(ranges), 5U);
    EXPECT_TRUE(is_inaccessible(ranges.back()));
    const auto others = all_others();
    EXPECT_EQ(mapped_of(ranges), 0U);
    EXPECT_EQ(mapped_of(others), quarantined_most);
}

TEST_F(quarantine, goes_along_to_a_forked_child_which_is_on_its_own_from_then_on) {
    const auto ranges = quarantined_ranges(5);
    EXPECT_EQ(in_child([&] {
                  if (mapped_of(ranges) != 5 || !is_inaccessible(ranges[0])) return 1;
                  const auto others = all_others();
                  if (mapped_of(ranges) != 0) return 2;    // each has left in its turn
                  return mapped_of(others) == quarantined_most ? 0 : 3;
              }),
              0);
    EXPECT_EQ(mapped_of(ranges), 5U);
}

TEST_F(quarantine, is_not_waited_for_in_a_child_of_threads_that_use_it) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
        threads.emplace_back([&] {
            while (!stop.load()) (void)quarantined_range();
        });
    int failed = 0;
    for (int i = 0; i < 25 && failed == 0; ++i)
        failed = in_child([] {
            alarm(20);
            return mapped_of(all_others()) == quarantined_most ? 0 : 1;
        });
    stop.store(true);
    for (auto& each : threads) each.join();
    EXPECT_EQ(failed, 0);
}

TEST_F(quarantine, stays_when_the_thread_ends_that_gave_the_range_back) {
    const void* range = nullptr;
    std::thread([&] { range = quarantined_range(); }).join();
    EXPECT_TRUE(is_mapped(range));
    EXPECT_TRUE(is_inaccessible(range));
}

// In the executed program, checks ranges quarantined before.
TEST(in_the_executed_program, DISABLED_quarantine) {
    const char* text = std::getenv(where);
    ASSERT_NE(text, nullptr);
    std::vector<const void*> ranges;
    for (char* end = nullptr; *text != '\0'; text = *end == '\0' ? end : end + 1)
        ranges.push_back(reinterpret_cast<const void*>(std::strtoull(text, &end, 16)));
    ASSERT_EQ(ranges.size(), 5U);
    EXPECT_LT(mapped_of(ranges), ranges.size());    // other mappings may be at one of the addresses
    EXPECT_EQ(mapped_of(all_others()), quarantined_most);
}

int execute(const char* looking, const char* more) {
    const std::string filter = std::string("--gtest_filter=in_the_executed_program.") + looking;
    setenv(where, more, 1);
    execl("/proc/self/exe", "process_facts_test", filter.c_str(), "--gtest_also_run_disabled_tests", static_cast<char*>(nullptr));
    return 97;
}

TEST_F(quarantine, is_gone_in_an_executed_program) {
    EXPECT_EQ(in_child([] {
                  std::string text;
                  for (const void* const each : quarantined_ranges(5)) {
                      char number[32];
                      std::snprintf(number, sizeof number, "%s%llx", text.empty() ? "" : ",",
                                    static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(each)));
                      text += number;
                  }
                  return execute("DISABLED_quarantine", text.c_str());
              }),
              0);
}

// --- Facts are read once. Tested with huge pages, which a process can disable for itself, its children and the programs
// that it executes.

class facts : public testing::Test {
protected:
    void SetUp() override {
        if (headroom_test::emulated()) GTEST_SKIP() << "the system cannot execute an emulated program by its name";
        if (headroom::huge_page_size() == 0) GTEST_SKIP() << "the system has no huge pages";
    }
    static bool refuse_huge_pages() { return prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0; }
};

TEST_F(facts, go_along_to_a_forked_child_and_what_changes_later_is_not_seen) {
    const std::size_t known = headroom::huge_page_size();
    EXPECT_EQ(in_child([=] {
                  if (!refuse_huge_pages()) return 77;
                  if (headroom::huge_page_size() != known) return 1;
                  return in_child([=] { return headroom::huge_page_size() == known ? 0 : 2; });
              }),
              0);
}

TEST_F(facts, hold_for_all_threads_also_when_the_one_that_asked_has_ended) {
    EXPECT_EQ(in_child([] {
                  const std::size_t known = headroom::huge_page_size();
                  std::size_t seen = 0;
                  std::thread([&] {
                      if (refuse_huge_pages()) seen = headroom::huge_page_size();
                  }).join();
                  return seen == known && headroom::huge_page_size() == known ? 0 : 1;
              }),
              0);
}

// Inherits disabled huge pages, which shows that it asks again.
TEST(in_the_executed_program, DISABLED_huge_pages_are_refused) { EXPECT_EQ(headroom::huge_page_size(), 0U); }
TEST(in_the_executed_program, DISABLED_huge_pages_are_there) { EXPECT_NE(headroom::huge_page_size(), 0U); }

TEST_F(facts, are_read_anew_by_an_executed_program) {
    EXPECT_EQ(in_child([] { return refuse_huge_pages() ? execute("DISABLED_huge_pages_are_refused", "") : 77; }), 0);
    EXPECT_EQ(in_child([] { return execute("DISABLED_huge_pages_are_there", ""); }), 0);
}

TEST_F(facts, that_are_only_pretended_are_gone_in_an_executed_program) {
    headroom::trim_cache();
    const std::size_t real = headroom::page_size();
    EXPECT_EQ(in_child([=] {
                  headroom::testing::pretend_page_size(4 * real);
                  return execute("DISABLED_pages_are_real", std::to_string(real).c_str());
              }),
              0);
    EXPECT_EQ(in_child([=] {
                  headroom::testing::pretend_page_size(4 * real);
                  return in_child([=] { return headroom::page_size() == 4 * real ? 0 : 1; });
              }),
              0);
}
TEST(in_the_executed_program, DISABLED_pages_are_real) {
    const char* const text = std::getenv(where);
    ASSERT_NE(text, nullptr);
    EXPECT_EQ(std::to_string(headroom::page_size()), text);
}

}    // namespace
