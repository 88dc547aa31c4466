// SPDX-License-Identifier: MIT
// Each system call of an operation is refused in turn, then the program goes on with the object: it retries, shrinks, grows,
// forks, closes. The file opens afterwards with the elements of the last commit that returned, or of one tried since.
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <headroom/file_vector.hpp>
#include <headroom/testing.hpp>

#include "support/filed.hpp"
#include "system/in_child.hpp"

namespace {

using headroom::file_access;
using headroom::file_error;
using headroom::max_elements;
using headroom::testing::afterwards;
using headroom_test::in_child;

constexpr max_elements limit{1 << 20};

struct small_steps : headroom::file_policy {
    static constexpr std::size_t min_step = 4096;
    static constexpr std::size_t max_step = 8192;
};
using vector = headroom::file_vector<int, small_steps>;

// A vector, and the sizes that its file may have when opened.
struct subject {
    vector v;
    std::set<std::size_t> possible;

    void append(std::size_t count) {
        for (; count != 0; --count) v.push_back(static_cast<int>(v.size()));
    }
    void commit() {
        if (v.is_writer()) possible.insert(v.size());
        v.commit();
        possible = {v.size()};
    }
    void close() {
        if (!v.is_open()) return;
        const std::size_t size = v.size();
        const bool writer = v.is_writer();
        possible.insert(size);
        v.close();
        if (writer) possible = {size};
    }
};

struct deed {
    const char* name;
    std::function<void(subject&)> run;
};
const std::vector<deed> deeds{
    {"commit", [](subject& s) { s.commit(); }},
    {"grow", [](subject& s) { s.append(5000); }},
    {"grow by much", [](subject& s) { s.v.reserve(100'000); }},
    {"get as small as what is committed",
     [](subject& s) {
         s.v.resize((std::min)(s.v.size(), s.v.committed_size()));
         s.v.shrink_to_fit();
     }},
    {"get small and commit",
     [](subject& s) {
         s.v.resize((std::min<std::size_t>)(s.v.size(), 7));
         s.commit();
         s.v.shrink_to_fit();
     }},
    {"publish and move",
     [](subject& s) {
         s.v.publish();
         s.v.rehome(limit);
     }},
    {"close", [](subject& s) { s.close(); }},
    {"fork",
     [](subject& s) {
         EXPECT_EQ(in_child([&] {
                       for (std::size_t i = 0; i != s.v.size(); ++i) {
                           if (s.v[i] != static_cast<int>(i)) return 1;
                       }
                       try {
                           s.v.commit();
                       } catch (const file_error&) {
                           return 0;
                       }
                       return 2;
                   }),
                   0);
     }},
};

bool quietly(const deed& what, subject& s) {
    if (!s.v.is_open()) return true;
    try {
        what.run(s);
        return true;
    } catch (const file_error&) {
        return false;
    } catch (const headroom::refused&) {
        return false;
    }
}

std::size_t tried = 0;

// Runs `first` with its k-th call refused, then `second` and `third`. Returns true if that call was made.
bool try_out(const std::filesystem::path& path, const deed& first, std::uint64_t k, int error, afterwards then,
             const deed& second, const deed& third) {
    std::filesystem::remove(path);
    std::uint64_t calls = 0;
    std::set<std::size_t> possible;
    bool ended_by_its_destructor = false;
    {
        subject s{vector::create(path, limit), {0}};
        s.append(2000);
        s.commit();
        s.append(3000);
        headroom::testing::fail_system_call(k, error, then);
        const bool whole = quietly(first, s);
        calls = headroom::testing::stop_failing();
        const bool failed = s.v.is_open() && !s.v.is_writer();
        EXPECT_TRUE(!whole || !failed) << "it failed, and nobody was told";
        const std::size_t committed = s.v.committed_size();
        for (const deed* const next : {&second, &third}) {
            quietly(*next, s);
            if (failed && s.v.is_open()) {
                EXPECT_FALSE(s.v.is_writer());
                EXPECT_EQ(s.v.committed_size(), committed);
            }
        }
        ended_by_its_destructor = s.v.is_open();
        if (ended_by_its_destructor && s.v.is_writer()) s.possible = {s.v.size()};
        possible = s.possible;
    }
    try {
        auto found = vector::open(path, file_access::read_write, limit);
        EXPECT_EQ(possible.count(found.size()), 1U) << "found: " << found.size();
        for (std::size_t i = 0; i != found.size(); ++i) {
            if (found[i] != static_cast<int>(i)) {
                ADD_FAILURE() << "element " << i << " of " << found.size();
                break;
            }
        }
        // It can be written to.
        found.resize(found.size() + 1, static_cast<int>(found.size()));
        found.commit();
    } catch (const std::exception& refused) {
        ADD_FAILURE() << refused.what();
    }
    ++tried;
    return calls >= k;
}

TEST(a_failure_in_the_middle, leaves_a_file_that_opens_whatever_the_program_does_then) {
    const headroom_test::folder_of_this_process folder;
    const auto path = folder.file("numbers");
    for (const deed& first : deeds) {
        for (std::uint64_t k = 1;; ++k) {
            bool made = false;
            for (const int error : {EIO, ENOSPC}) {
                for (const auto then : {afterwards::succeed, afterwards::keep_failing}) {
                    for (const deed& second : deeds) {
                        for (const deed& third : {deeds[0], deeds[3], deeds[6]}) {
                            SCOPED_TRACE(std::string(first.name) + " with call " + std::to_string(k) + " refused (" +
                                         std::to_string(error) + "), then " + second.name + ", then " + third.name);
                            made |= try_out(path, first, k, error, then, second, third);
                            if (testing::Test::HasFailure()) return;
                        }
                    }
                }
            }
            if (!made) break;
        }
    }
    EXPECT_GT(tried, 2000U);
}

// The second sync of a commit fails; the program drops the new elements and closes.
TEST(a_failure_in_the_middle, of_a_commit_after_its_record_was_written_leaves_what_the_record_says) {
    const headroom_test::folder_of_this_process folder;
    const auto path = folder.file("numbers");
    subject s{vector::create(path, limit), {0}};
    s.append(10);
    s.commit();
    s.append(90'000);
    static int waits = 0;
    waits = 0;
    headroom::testing::watch_files([](headroom::testing::file_event event) {
        if (event == headroom::testing::file_event::before_sync && ++waits == 2) headroom::testing::fail_system_call(1, EIO);
    });
    EXPECT_THROW(s.v.commit(), file_error);
    headroom::testing::watch_files(nullptr);
    headroom::testing::stop_failing();
    EXPECT_FALSE(s.v.is_writer());
    EXPECT_THROW(s.append(1), file_error);
    EXPECT_THROW(s.v.resize(10), file_error);
    s.v.shrink_to_fit();
    EXPECT_THROW(s.append(1), file_error);
    EXPECT_THROW(s.v.close(), file_error);
    const auto found = vector::open(path, file_access::read_only, limit);
    EXPECT_TRUE(found.size() == 10 || found.size() == 90'010) << found.size();
}

}    // namespace
