// SPDX-License-Identifier: MIT
// What the host of a process allows all ranges, by a call or by HEADROOM_OPTIONS. Each case is a process of its own, because the variable is
// read once.
// Labels: linux posix no-valgrind no-sanitizer
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <headroom/concurrent_vector.hpp>
#include <headroom/process_policy.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include "support/emulated.hpp"
#include "support/scratch_folder.hpp"
#include "system/in_child.hpp"

namespace {

using headroom::testing_support::scratch_folder;

constexpr std::size_t KiB = std::size_t{1} << 10, MiB = KiB << 10;

// Runs the body in a process with these options. What it writes to standard error goes to `said`.
template <class Body>
int with_options(const char* options, Body body, std::string* said = nullptr) {
    const scratch_folder folder;
    const std::string file = folder.file("said");
    const int status = headroom_test::in_child([&] {
        setenv("HEADROOM_OPTIONS", options, 1);
        const int out = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
        if (out < 0 || dup2(out, STDERR_FILENO) < 0) return 97;
        return body();
    });
    if (said != nullptr) *said = folder.read("said");
    return status;
}

// The flags of the mapping that has the address, as the system names them ("hg": asks for huge pages, "nh": wants none).
std::string flags_of(const void* place) {
    std::ifstream maps("/proc/self/smaps");
    const auto wanted = reinterpret_cast<std::uintptr_t>(place);
    bool inside = false;
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t from = 0, to = 0;
        char dash = 0;
        if (std::istringstream head(line); head >> std::hex >> from >> dash >> to && dash == '-')
            inside = from <= wanted && wanted < to;
        if (inside && line.rfind("VmFlags:", 0) == 0) return line;
    }
    return "";
}
bool has_flag(const std::string& flags, const char* flag) { return flags.find(std::string(" ") + flag) != std::string::npos; }

template <class Vector>
Vector filled(std::size_t bytes) {
    Vector v;
    for (std::size_t i = 0; i != bytes / sizeof(typename Vector::value_type); ++i) v.push_back({});
    return v;
}

TEST(headroom_options, set_the_limits) {
    EXPECT_EQ(with_options("cache_limit=3M,mapping_limit=100,min_available_memory=1K",
                           [] {
                               const headroom::settled_vector<int> first{1};
                               if (headroom::cache_limit() != 3 * MiB) return 1;
                               return headroom::mapping_limit() == 100 ? 0 : 2;
                           }),
              0);
}

TEST(headroom_options, are_overruled_by_what_the_program_sets) {
    EXPECT_EQ(with_options("cache_limit=3M",
                           [] {
                               headroom::set_cache_limit(5 * MiB);
                               const headroom::settled_vector<int> first{1};
                               return headroom::cache_limit() == 5 * MiB ? 0 : 1;
                           }),
              0);
}

TEST(headroom_options, are_overruled_by_no_minimum) {
    EXPECT_EQ(with_options("min_available_memory=900T",
                           [] {
                               headroom::set_min_available_memory(0);
                               return filled<headroom::settled_vector<int>>(MiB).size() == MiB / 4 ? 0 : 1;
                           }),
              0);
}

struct heap_policy : headroom::vector_policy {
    static constexpr std::size_t map_threshold = SIZE_MAX;
};

TEST(headroom_options, hold_for_blocks_of_the_heap_before_any_range) {
    EXPECT_EQ(with_options("min_available_memory=900T",
                           [] {
                               try {
                                   const headroom::vector<char, std::allocator<char>, heap_policy> v(100 * MiB);
                                   return v.size() != 0 ? 1 : 2;
                               } catch (const std::bad_alloc&) {
                                   return 0;
                               }
                           }),
              0);
}

TEST(headroom_options, leave_errno_alone) {
    EXPECT_EQ(with_options("bogus",
                           [] {
                               close(STDERR_FILENO);
                               errno = 0;
                               const headroom::settled_vector<int> first{1};
                               return errno;
                           }),
              0);
}

TEST(headroom_options, understand_sizes) {
    const std::vector<std::pair<const char*, std::size_t>> sizes{{"0", 0},
                                                                 {"7", 7},
                                                                 {"2K", 2 * KiB},
                                                                 {"3M", 3 * MiB},
                                                                 {"1G", KiB * MiB},
                                                                 {"99999999999999999999999", SIZE_MAX},
                                                                 {"9999999999T", SIZE_MAX}};
    for (const auto& [text, meant] : sizes) {
        std::string said;
        EXPECT_EQ(
            with_options((std::string("mapping_limit=") + text).c_str(),
                         [bytes = meant] { return headroom::mapping_limit() == std::max<std::size_t>(bytes, 1) ? 0 : 1; }, &said),
            0)
            << text;
        EXPECT_EQ(said, "");
    }
}

TEST(headroom_options, say_what_they_do_not_understand_and_take_the_rest) {
    for (const char* const wrong :
         {"x", "x=1", "cache_limit", "cache_limit=", "cache_limit=K", "cache_limit=1k", "cache_limit=-1", "cache_limit=1M1",
          "huge_pages", "huge_pages=1", "huge_pages=yes,huge_pages=maybe", "=", "\x01\x02"}) {
        std::string said;
        EXPECT_EQ(with_options((std::string(wrong) + ",,mapping_limit=77").c_str(),
                               [] { return headroom::mapping_limit() == 77 ? 0 : 1; }, &said),
                  0)
            << wrong;
        EXPECT_EQ(said.find("headroom: HEADROOM_OPTIONS has \""), 0U) << wrong << ": " << said;
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    }
    std::string said;
    const std::string very_long(100'000, 'y');
    EXPECT_EQ(with_options(very_long.c_str(), [] { return headroom::mapping_limit() != 0 ? 0 : 1; }, &said), 0);
    EXPECT_LT(said.size(), 400U);
}

TEST(headroom_options, are_silent_when_empty) {
    std::string said;
    EXPECT_EQ(with_options("", [] { return filled<headroom::settled_vector<int>>(KiB).size() == 256 ? 0 : 1; }, &said), 0);
    EXPECT_EQ(said, "");
}

// Without huge_page_size(), which remembers what it read.
bool system_has_huge_pages() {
    std::string mode;
    std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled") >> std::ws, mode);
    return !headroom_test::emulated() && !mode.empty() && mode.find("[never]") == std::string::npos;
}

// Asks for huge pages past the first 4 MiB, unless told not to.
template <class Vector>
int asks_for_huge_pages() {
    const Vector v = filled<Vector>(12 * MiB);
    return has_flag(flags_of(reinterpret_cast<const char*>(v.data()) + 8 * MiB), "hg") ? 1 : 0;
}

struct late_policy : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::huge_pages(256 * MiB);
};

// Of elements whose number is known.
template <class Vector>
int asks_for_known_elements() {
    const Vector v(16 * MiB / sizeof(typename Vector::value_type));
    return has_flag(flags_of(reinterpret_cast<const char*>(v.data()) + 8 * MiB), "hg") ? 1 : 0;
}

TEST(huge_pages, are_asked_for_known_elements_as_the_policy_says) {
    if (!system_has_huge_pages()) GTEST_SKIP() << "no huge pages here";
    EXPECT_EQ(with_options("", asks_for_known_elements<headroom::settled_vector<int>>), 1);
    EXPECT_EQ(with_options("", asks_for_known_elements<headroom::vector<char>>), 1);
    EXPECT_EQ(with_options("", asks_for_known_elements<headroom::settled_vector<int, late_policy>>), 0);
    EXPECT_EQ(with_options("huge_pages=no", asks_for_known_elements<headroom::settled_vector<int>>), 0);
}

TEST(huge_pages, are_not_asked_for_where_the_host_wants_none) {
    if (!system_has_huge_pages()) GTEST_SKIP() << "no huge pages here";
    EXPECT_EQ(with_options("huge_pages=yes", asks_for_huge_pages<headroom::settled_vector<int>>), 1);
    EXPECT_EQ(with_options("huge_pages=no", asks_for_huge_pages<headroom::settled_vector<int>>), 0);
    EXPECT_EQ(with_options("huge_pages=no", asks_for_huge_pages<headroom::vector<char>>), 0);
    EXPECT_EQ(with_options("largest_step=64K", asks_for_huge_pages<headroom::settled_vector<int>>), 0);
    EXPECT_EQ(with_options("",
                           [] {
                               headroom::set_process_policy({.huge_pages = false, .largest_step = 64 << 10});
                               return asks_for_huge_pages<headroom::settled_vector<int>>();
                           }),
              0);
}

struct sparing_policy : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::least_memory();
};

// Where the system gives huge pages unasked (pretended), who wants none declines.
template <class Vector>
int declines_huge_pages() {
    const scratch_folder root;
    const std::filesystem::path folder = root.file("sys/kernel/mm/transparent_hugepage");
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "enabled") << "[always] madvise never\n";
    std::ofstream(folder / "hpage_pmd_size") << "2097152\n";
    const std::string kept = root.file("");
    headroom::testing::pretend_system_files(kept.c_str());
    const Vector v = filled<Vector>(12 * MiB);
    return has_flag(flags_of(reinterpret_cast<const char*>(v.data()) + 8 * MiB), "nh") ? 1 : 0;
}

TEST(huge_pages, are_declined_where_they_come_unasked) {
    if (!system_has_huge_pages()) GTEST_SKIP() << "no huge pages here";
    EXPECT_EQ(with_options("huge_pages=no", declines_huge_pages<headroom::settled_vector<int>>), 1);
    EXPECT_EQ(with_options("", declines_huge_pages<headroom::settled_vector<int, sparing_policy>>), 1);
    EXPECT_EQ(with_options("", declines_huge_pages<headroom::settled_vector<int>>), 0);
}

struct ahead_policy : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::prefault_ahead();
};

// 0: never are more than 64 KiB committed and unused.
template <class Vector>
int commits_little_ahead() {
    Vector v;
    for (std::size_t i = 0; i != 3 * MiB; ++i) {
        v.push_back(1);
        if ((v.capacity() - v.size()) * sizeof(int) > 64 * KiB) return 1;
    }
    return 0;
}

TEST(largest_step, bounds_what_is_committed_and_unused) {
    for (const char* const options : {"largest_step=64K", "largest_step=64K,huge_pages=no"}) {
        EXPECT_EQ(with_options(options, commits_little_ahead<headroom::settled_vector<int>>), 0);
        EXPECT_EQ(with_options(options, commits_little_ahead<headroom::settled_vector<int, sparing_policy>>), 0);
        EXPECT_EQ(with_options(options, commits_little_ahead<headroom::settled_vector<int, ahead_policy>>), 0);
    }
    EXPECT_EQ(
        with_options("largest_step=0", [] { return filled<headroom::settled_vector<int>>(2 * MiB).size() == MiB / 2 ? 0 : 1; }),
        0);
}

}    // namespace
