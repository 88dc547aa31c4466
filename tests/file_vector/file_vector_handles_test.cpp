// SPDX-License-Identifier: MIT
// Other code may close a file_vector's descriptors, such as a daemon with closefrom(), and the system gives their numbers to
// other files. The vector then writes, truncates and closes nothing under these numbers, and stops writing to its own file, whose
// lock is gone.
// Labels: linux no-valgrind
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <headroom/file_vector.hpp>

#include "support/filed.hpp"
#include "system/file_bytes.hpp"
#include "system/in_child.hpp"

namespace {

using headroom::file_access;
using headroom::file_error;
using headroom::file_vector;
using headroom::max_elements;
using headroom_test::in_child;

constexpr max_elements limit{1 << 22};

std::vector<int> open_numbers() {
    std::vector<int> result;
    for (int each = 0; each != 256; ++each) {
        if (fcntl(each, F_GETFD) != -1) result.push_back(each);
    }
    return result;
}

class a_file_whose_handles_were_closed : public testing::Test {
protected:
    headroom_test::folder_of_this_process folder_;
    std::filesystem::path path_ = folder_.file("numbers"), log_ = folder_.file("log");

    void SetUp() override { headroom_test::write_file(log_.string(), std::string(200'000, 'x')); }

    // Opens `v` by `open` and gives those of its descriptors selected by the bits of `which` to the log file. Returns their
    // numbers.
    std::set<int> lose(file_vector<int>& v, const std::function<file_vector<int>()>& open, unsigned which) {
        const std::vector<int> before = open_numbers();
        v = open();
        std::set<int> lost;
        unsigned place = 0;
        for (const int each : open_numbers()) {
            if (std::find(before.begin(), before.end(), each) != before.end()) continue;
            if ((which >> place++ & 1) == 0) continue;
            close(each);
            lost.insert(each);
        }
        std::set<int> logs;
        while (!std::includes(logs.begin(), logs.end(), lost.begin(), lost.end())) {
            logs.insert(::open(log_.c_str(), O_RDWR));
        }
        return logs;
    }

    void expect_untouched(const std::set<int>& logs) {
        for (const int each : logs) {
            EXPECT_NE(fcntl(each, F_GETFD), -1) << "the log was closed";
            close(each);
        }
        EXPECT_EQ(headroom_test::bytes_of_file(log_.string()), std::string(200'000, 'x'));
    }
};

struct deed {
    const char* name;
    std::function<void(file_vector<int>&)> run;
};
const std::vector<deed> deeds{
    {"ends", [](auto&) {}},
    {"commits", [](auto& v) { v.commit(); }},
    {"closes", [](auto& v) { v.close(); }},
    {"appends and closes",
     [](auto& v) {
         v.push_back(7);
         v.close();
     }},
    {"grows", [](auto& v) { v.reserve(v.capacity() + 1); }},
    {"grows further", [](auto& v) { v.resize(1'000'000); }},
    {"publishes", [](auto& v) { v.publish(); }},
    {"gets smaller",
     [](auto& v) {
         v.resize(10);
         v.shrink_to_fit();
     }},
    {"moves", [](auto& v) { v.rehome(max_elements{1 << 23}); }},
    {"looks",
     [](auto& v) {
         v.refresh();
         (void)v.committed_size();
         std::array<int, 10> some{};
         if (v.checked_read(0, some) != 0) {
             EXPECT_EQ(some[9], 9);
         }
     }},
    {"is assigned to", [](auto& v) { v = file_vector<int>(); }},
    {"forks", [](auto& v) { EXPECT_EQ(in_child([&] { return v.size() >= 10 ? 0 : 1; }), 0); }},
};

TEST_F(a_file_whose_handles_were_closed, leaves_alone_whose_they_are_now) {
    for (const auto access : {file_access::read_write, file_access::read_only}) {
        for (const unsigned which : {1U, 2U, 3U}) {
            if (access == file_access::read_only && which != 1) continue;    // a reader has one
            for (const deed& first : deeds) {
                for (const deed& second : deeds) {
                    SCOPED_TRACE(std::string(first.name) + ", then " + second.name + ", lost: " + std::to_string(which));
                    std::filesystem::remove(path_);
                    {
                        auto v = file_vector<int>::create(path_, limit);
                        for (int i = 0; i != 3000; ++i) v.push_back(i);
                    }
                    std::set<int> logs;
                    {
                        file_vector<int> v;
                        logs = lose(v, [&] { return file_vector<int>::open(path_, access, limit); }, which);
                        for (const deed* const each : {&first, &second}) {
                            try {
                                if (v.is_open()) each->run(v);
                            } catch (const file_error& refused) {
                                EXPECT_NE(std::string(refused.what()), "");
                            }
                        }
                    }
                    expect_untouched(logs);
                    const auto found = file_vector<int>::open(path_, file_access::read_write, limit);
                    EXPECT_EQ(found.size(), 3000U);
                    EXPECT_EQ(found[9], 9);
                    if (HasFailure()) return;
                }
            }
        }
    }
}

TEST_F(a_file_whose_handles_were_closed, writes_no_more_where_another_writer_may_have_come) {
    file_vector<int>::create(path_, limit).resize(10, 1);
    file_vector<int> v;
    const std::set<int> logs = lose(v, [&] { return file_vector<int>::open(path_, file_access::read_write, limit); }, 2);
    auto other = file_vector<int>::open(path_, file_access::read_write, limit);    // the lock is gone with the descriptor
    EXPECT_THROW(v.resize(20, 2), file_error);
    EXPECT_FALSE(v.is_writer());
    EXPECT_THROW(v.commit(), file_error);
    other.resize(15, 3);
    other.commit();
    v = file_vector<int>();
    EXPECT_EQ(other.size(), 15U);
    other.close();
    EXPECT_EQ(file_vector<int>::open(path_, file_access::read_only, limit).size(), 15U);
    expect_untouched(logs);
}

class a_file_that_is_read : public testing::Test {
protected:
    headroom_test::folder_of_this_process folder_;
    std::filesystem::path path_ = folder_.file("numbers");
};

TEST_F(a_file_that_is_read, is_not_cut_below_what_a_writer_had_published_who_was_killed) {
    file_vector<int>::create(path_, limit).resize(10, 1);
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t writer = fork();
    if (writer == 0) {
        auto v = file_vector<int>::open(path_, file_access::read_write, limit);
        v.resize(1'000'000, 7);
        v.publish();
        if (write(ready[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    auto reader = file_vector<int>::open(path_, file_access::read_only, limit);
    ASSERT_EQ(reader.size(), 1'000'000U);
    kill(writer, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(writer, &status, 0), writer);
    for (const bool shrink : {true, false}) {
        auto next = file_vector<int>::open(path_, file_access::read_write, limit);
        ASSERT_EQ(next.size(), 10U);
        if (shrink) next.shrink_to_fit();
        next.close();
    }
    EXPECT_EQ(in_child([&] {
                  for (const int each : reader) {
                      if (each != 7 && each != 1) return 1;
                  }
                  return 0;
              }),
              0);
    // Truncated once it has no reader.
    reader = file_vector<int>();
    file_vector<int>::open(path_, file_access::read_write, limit).close();
    EXPECT_EQ(std::filesystem::file_size(path_), 4096U + 40U);
    close(ready[0]);
    close(ready[1]);
}

TEST_F(a_file_that_is_read, is_not_cut_below_what_its_writer_had_published) {
    auto writer = file_vector<int>::create(path_, limit);
    writer.resize(1'000'000, 7);
    writer.publish();
    auto reader = file_vector<int>::open(path_, file_access::read_only, limit);
    writer.resize(10);
    writer.commit();
    writer.shrink_to_fit();
    writer.close();
    EXPECT_EQ(in_child([&] { return reader.back() == 7 ? 0 : 1; }), 0);
    reader.refresh();
    EXPECT_EQ(reader.size(), 10U);
}

}    // namespace
