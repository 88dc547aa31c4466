// SPDX-License-Identifier: MIT
// A full disk, a quota, a limit of the process, and refusal of each system call in turn.
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <headroom/file_vector.hpp>
#include <headroom/testing.hpp>

#include "support/filed.hpp"
#include "support/sanitizers.hpp"
#include "support/scratch_folder.hpp"
#include "system/in_child.hpp"
#include "system/limits.hpp"

namespace {

using headroom::file_access;
using headroom::file_error;
using headroom::file_vector;
using headroom::max_elements;
using headroom_test::append;
using headroom_test::counted;
using headroom_test::in_child;
using headroom_test::numbers;

constexpr max_elements limit{1 << 24};

struct small_steps : headroom::file_policy {
    static constexpr std::size_t min_step = 4096;
    static constexpr std::size_t max_step = 65536;
};

// Fills the disk through `v`. Returns 0 if the elements stay and are usable.
template <class Vector>
int fill(Vector& v) {
    const std::size_t before = v.size();
    try {
        for (;;) v.push_back(static_cast<int>(v.size()));
    } catch (const headroom::refused& error) {
        if (std::string(error.what()).find("extend") == std::string::npos) return 10;
    }
    if (v.size() == before) return 11;
    if (v.try_push_back(1) != nullptr) return 12;
    for (std::size_t i = 0; i != v.size(); ++i) {
        if (v[i] != static_cast<int>(i)) return 13;
    }
    return 0;
}

template <class Vector>
int full_disk(const std::string& path) {
    Vector v = Vector::create(path, limit);
    if (const int wrong = fill(v)) return wrong;
    v.commit();
    const std::size_t full = v.size();
    v.resize(full / 2);
    v.commit();
    v.shrink_to_fit();
    if (const int wrong = fill(v)) return 20 + wrong;    // space given back can be used again
    v.close();
    const auto again = Vector::open(path, file_access::read_only, limit);
    return again.size() >= full / 2 && again.back() == static_cast<int>(again.size() - 1) ? 0 : 30;
}

// Mounts a file system of 5 MB.
class a_small_file_system : public testing::Test {
protected:
    headroom::testing_support::scratch_folder folder;
    const std::string place = folder.file("small");
    bool mounted = false;

    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "only root mounts a file system";
        std::filesystem::create_directory(place);
        mounted = mount("tmpfs", place.c_str(), "tmpfs", 0, "size=5m") == 0;
        if (!mounted) GTEST_SKIP() << "this root may not mount";
    }
    void TearDown() override { EXPECT_TRUE(!mounted || umount(place.c_str()) == 0); }
};

TEST_F(a_small_file_system, that_is_full_refuses_and_nothing_is_lost) {
    EXPECT_EQ(in_child([&] { return full_disk<file_vector<int>>(place + "/numbers"); }), 0);
    std::filesystem::remove(place + "/numbers");
    EXPECT_EQ(in_child([&] { return full_disk<file_vector<int, small_steps>>(place + "/more"); }), 0);
    {
        std::ofstream rest(place + "/rest");
        while (rest << std::string(4096, 'x') << std::flush) {}
    }
    EXPECT_THROW(file_vector<int>::create(place + "/none", limit), headroom::refused);
    EXPECT_FALSE(std::filesystem::exists(place + "/none"));
}

TEST_F(a_small_file_system, that_is_read_only_lets_files_be_read) {
    {
        auto v = file_vector<int>::create(place + "/numbers", limit);
        append(v, 10);
    }
    ASSERT_EQ(mount("tmpfs", place.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=5m"), 0);
    EXPECT_EQ(numbers(file_vector<int>::open(place + "/numbers", file_access::read_only, limit)), counted(10));
    try {
        file_vector<int>::open(place + "/numbers", file_access::read_write, limit);
        ADD_FAILURE();
    } catch (const file_error& error) {
        EXPECT_EQ(error.code(), std::errc::read_only_file_system);
    }
    EXPECT_THROW(file_vector<int>::create(place + "/other", limit), file_error);
}

TEST(limits_on_the_length_of_files, are_refused_without_a_signal) {
    const headroom::testing_support::scratch_folder folder;
    EXPECT_EQ(in_child([&] {
                  rlimit files{};
                  files.rlim_cur = files.rlim_max = 3 << 20;
                  if (setrlimit(RLIMIT_FSIZE, &files) != 0) return 1;
                  return full_disk<file_vector<int>>(folder.file("numbers"));
              }),
              0);
}

// A full disk takes long to refuse each step.
TEST(a_limit_of_files, is_reached_after_few_attempts) {
    const headroom::testing_support::scratch_folder folder;
    for (const rlim_t most : {rlim_t{5'000'000}, rlim_t{20 << 20}}) {
        EXPECT_EQ(in_child([&] {
                      std::signal(SIGXFSZ, SIG_IGN);
                      const rlimit least{most, most};
                      if (setrlimit(RLIMIT_FSIZE, &least) != 0) return 40;
                      auto v = file_vector<int>::create(folder.file(std::to_string(most)), headroom::max_elements(1 << 28));
                      headroom::reset_statistics();
                      try {
                          for (int i = 0;; ++i) v.push_back(i);
                      } catch (const headroom::refused&) {}
                      if (v.size() * sizeof(int) + 3 * 4096 < most) return 41;
                      return headroom::statistics().count(headroom::page_call::file) <= 120 ? 0 : 42;
                  }),
                  0)
            << most;
    }
}

TEST(quotas, are_refused_as_a_full_disk_is) {
    const headroom::testing_support::scratch_folder folder;
    auto v = file_vector<int>::create(folder.file("numbers"), limit);
    append(v, 10);
    headroom::testing::fail_system_call(3, EDQUOT,    // the first two check the file and the lock
                                        headroom::testing::afterwards::keep_failing);
    EXPECT_EQ(v.try_emplace_back(10), v.data() + 10) << "there was room";
    EXPECT_THROW(v.reserve(v.capacity() + 1), headroom::refused);
    headroom::testing::stop_failing();
    v.reserve(v.capacity() + 1);
    EXPECT_EQ(numbers(v), counted(11));
}

TEST(file_systems_without_allocation, get_zeros_written) {
    const headroom::testing_support::scratch_folder folder;
    auto v = file_vector<int, small_steps>::create(folder.file("numbers"), limit);
    headroom::testing::fail_system_call(3, EOPNOTSUPP);    // the first two check the file and the lock
    v.reserve(10000);
    headroom::testing::stop_failing();
    append(v, 10000);
    EXPECT_EQ(numbers(v), counted(10000));
    struct stat about{};
    ASSERT_EQ(stat(folder.file("numbers").c_str(), &about), 0);
    EXPECT_GE(about.st_blocks * 512, 40000);
}

TEST(holes_left_by_another_program, are_filled_before_they_are_written_to) {
    const headroom::testing_support::scratch_folder folder;
    const std::string path = folder.file("numbers");
    {
        auto v = file_vector<int>::create(path, limit);
        v.resize(1 << 20);
    }
    // Like a copy by a program that skips zeros.
    const std::string bytes = folder.read("numbers").substr(0, 4096);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    std::filesystem::resize_file(path, 4096 + (4 << 20));
    struct stat about{};
    ASSERT_EQ(stat(path.c_str(), &about), 0);
    ASSERT_LT(about.st_blocks * 512, 1 << 20);
    auto v = file_vector<int>::open(path, file_access::read_write, limit);
    ASSERT_EQ(stat(path.c_str(), &about), 0);
    EXPECT_GE(about.st_blocks * 512, 4 << 20);
    v.close();
    // On a file system without fallocate() holes are filled with zeros; data is not overwritten.
    auto w = file_vector<int>::open(path, file_access::read_write, limit);
    append(w, 10);
    EXPECT_EQ(w.size(), (1U << 20) + 10U);
}

// Repeats `operation` with its first system call refused, then its second, ... until none is. Each time it throws one of two
// exceptions or completes; `check` runs afterwards.
template <class Prepare, class Operation, class Check>
int refuse_each(int error, headroom::testing::afterwards then, Prepare prepare, Operation operation, Check check) {
    int thrown = 0;
    for (std::uint64_t k = 1;; ++k) {
        SCOPED_TRACE("system call " + std::to_string(k) + " refused with " + std::to_string(error));
        headroom::trim_cache();
        const std::size_t reservations = headroom::reservations().size();
        bool failed = false;
        std::uint64_t calls = 0;
        {
            auto subject = prepare();
            headroom::testing::fail_system_call(k, error, then);
            try {
                operation(subject);
            } catch (const file_error& refusal) {
                failed = true;
                EXPECT_NE(std::string(refusal.what()), "");
            } catch (const headroom::refused&) {
                failed = true;
            }
            calls = headroom::testing::stop_failing();
            thrown += failed ? 1 : 0;
            EXPECT_TRUE(!failed || calls >= k) << "thrown though nothing was refused";
            check(subject, failed);
        }
        EXPECT_EQ(headroom::reservations().size(), reservations) << "a range was leaked";
        if (calls < k || testing::Test::HasFailure()) return thrown;
    }
}

constexpr int errors[] = {ENOMEM, ENOSPC, EIO, EPERM, EMFILE, EOPNOTSUPP};
constexpr headroom::testing::afterwards both[] = {headroom::testing::afterwards::succeed,
                                                  headroom::testing::afterwards::keep_failing};

std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/dev/fd")) ++count;
    return count;
}

class refused_calls : public testing::Test {
protected:
    std::filesystem::path folder = headroom_test::folder_for_files() / ("headroom-refused-" + std::to_string(getpid()));
    std::string path = (folder / "numbers").string();
    std::size_t files_before = 0;

    void SetUp() override {
        std::filesystem::create_directory(folder);
        files_before = open_files();
    }
    void TearDown() override {
        EXPECT_EQ(open_files(), files_before) << "a file was left open";
        std::filesystem::remove_all(folder);
    }
    file_vector<int> with_ten() {
        std::filesystem::remove(path);
        auto v = file_vector<int>::create(path, limit);
        append(v, 10);
        v.commit();
        return v;
    }
};

TEST_F(refused_calls, while_a_file_is_made_leave_nothing_behind) {
    for (const int error : errors) {
        for (const auto then : both) {
            EXPECT_GT(refuse_each(
                          error, then,
                          [&] {
                              std::filesystem::remove(path);
                              return file_vector<int>();
                          },
                          [&](auto& v) { v = file_vector<int>::create(path, limit); },
                          [&](auto& v, bool failed) {
                              EXPECT_EQ(std::filesystem::exists(path), !failed);
                              EXPECT_EQ(v.is_open(), !failed);
                              EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), failed ? 0 : 1);
                          }),
                      3);
        }
    }
}

TEST_F(refused_calls, while_a_file_is_opened_leave_it_as_it_was) {
    for (const file_access access : {file_access::read_only, file_access::read_write}) {
        for (const int error : errors) {
            for (const auto then : both) {
                EXPECT_GT(refuse_each(
                              error, then,
                              [&] {
                                  with_ten();
                                  return file_vector<int>();
                              },
                              [&](auto& v) { v = file_vector<int>::open(path, access, limit); },
                              [&](auto& v, bool failed) {
                                  EXPECT_EQ(v.is_open(), !failed);
                                  v = file_vector<int>();
                                  EXPECT_EQ(numbers(file_vector<int>::open(path, file_access::read_write, limit)), counted(10));
                              }),
                          3);
            }
        }
    }
}

TEST_F(refused_calls, while_it_grows_change_nothing) {
    for (const int error : errors) {
        for (const auto then : both) {
            // After one "not supported", or a filter's "not permitted", statx and fallocate have replacements; mprotect has none.
            const int survived =
                (error == EOPNOTSUPP || error == EPERM) && then == headroom::testing::afterwards::succeed ? 1 : 0;
            EXPECT_GT(refuse_each(
                          error, then, [&] { return with_ten(); }, [&](auto& v) { v.reserve(v.capacity() + 1000); },
                          [&](auto& v, bool failed) {
                              EXPECT_EQ(numbers(v), counted(10));
                              EXPECT_TRUE(failed || v.capacity() >= 1000U);
                              append(v, 500000, 10);
                              EXPECT_EQ(v.back(), 500009);
                              v.commit();
                              EXPECT_EQ(v.committed_size(), 500010U);
                          }),
                      1 - survived);
        }
    }
}

TEST_F(refused_calls, while_it_commits_leave_the_commit_before) {
    for (const int error : errors) {
        for (const auto then : both) {
            EXPECT_GT(refuse_each(
                          error, then, [&] { return with_ten(); },
                          [&](auto& v) {
                              append(v, 5, 10);
                              v.commit();
                          },
                          [&](auto& v, bool failed) {
                              EXPECT_EQ(numbers(v), counted(15));
                              EXPECT_EQ(v.committed_size(), failed ? 10U : 15U);
                              std::size_t found = 0;
                              {
                                  // Read from another object: the last commit, or the record whose sync failed.
                                  const auto r = file_vector<int>::open(path, file_access::read_only, limit);
                                  found = r.committed_size();
                              }
                              EXPECT_TRUE(found == 15 || (failed && found == 10)) << found;
                          }),
                      2);
        }
    }
}

TEST_F(refused_calls, of_the_disk_make_every_later_commit_fail_until_it_is_opened_anew) {
    auto v = with_ten();
    append(v, 5, 10);
    headroom::testing::fail_system_call(3, EIO);    // calls 1 and 2 check the file and the lock, call 3 is the sync
    EXPECT_THROW(v.commit(), file_error);
    headroom::testing::stop_failing();
    EXPECT_THROW(v.commit(), file_error) << "the system has forgotten what it could not write, and would call it written";
    EXPECT_THROW(v.close(), file_error);
    auto again = file_vector<int>::open(path, file_access::read_write, limit);
    EXPECT_EQ(numbers(again), counted(10));
    append(again, 5, 10);
    again.commit();
    EXPECT_EQ(again.committed_size(), 15U);
}

TEST_F(refused_calls, while_it_closes_lose_no_commit) {
    for (const auto then : both) {
        refuse_each(
            EIO, then,
            [&] {
                auto v = with_ten();
                append(v, 5, 10);
                return v;
            },
            [&](auto& v) { v.close(); },
            [&](auto& v, bool failed) {
                EXPECT_FALSE(v.is_open());
                const auto r = file_vector<int>::open(path, file_access::read_write, limit);
                EXPECT_EQ(numbers(r), counted(r.size()));
                EXPECT_TRUE(r.size() == 15 || (failed && r.size() == 10)) << r.size();
            });
    }
}

TEST_F(refused_calls, of_a_reader_leave_it_with_what_it_had) {
    auto writer = with_ten();
    for (const auto then : both) {
        refuse_each(
            EIO, then,
            [&] {
                writer.resize(10);
                writer.publish();
                writer.commit();
                writer.shrink_to_fit();
                auto r = file_vector<int>::open(path, file_access::read_only, limit);
                writer.resize(1000000);
                writer.publish();
                return r;
            },
            [&](auto& r) {
                r.refresh();
                int three[3] = {};
                (void)r.checked_read(2, three);
                (void)r.committed_size();
            },
            [&](auto& r, bool) { EXPECT_TRUE(r.size() == 10 || r.size() == 1000000) << r.size(); });
    }
}

TEST_F(refused_calls, while_it_moves_elsewhere_change_nothing) {
    for (const auto then : both) {
        EXPECT_GT(refuse_each(
                      ENOMEM, then, [&] { return with_ten(); }, [&](auto& v) { v.rehome(max_elements(1 << 25)); },
                      [&](auto& v, bool failed) {
                          EXPECT_EQ(numbers(v), counted(10));
                          EXPECT_EQ(v.max_size(), failed ? limit.value : std::size_t{1} << 25);
                          append(v, 10, 10);
                          v.commit();
                      }),
                  1);
    }
}

TEST(few_addresses, are_refused) {
    if (sizeof(void*) < 8) GTEST_SKIP() << "32 bits of addresses are fewer than the limit that this test sets";
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "the sanitizer needs more addresses than there would be";
    if (!headroom_test::limits_are_kept()) GTEST_SKIP() << headroom_test::limits_are_forgotten;
    const headroom::testing_support::scratch_folder folder;
    EXPECT_EQ(in_child([&] {
                  if (!headroom_test::limit_addresses(std::size_t{1} << 30)) return 1;
                  try {
                      file_vector<int>::create(folder.file("numbers"), max_elements(std::size_t{1} << 29));
                      return 2;
                  } catch (const headroom::refused&) {}
                  if (std::filesystem::exists(folder.file("numbers"))) return 3;
                  auto v = file_vector<int>::create(folder.file("numbers"), max_elements(1 << 20));
                  append(v, 10);
                  return 0;
              }),
              0);
}

}    // namespace
