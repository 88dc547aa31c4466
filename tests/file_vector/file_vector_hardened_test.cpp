// SPDX-License-Identifier: MIT
// Hardened: a broken precondition ends the program with a message that names the file_vector.
// Labels: posix no-valgrind
#define HEADROOM_HARDENED 1
#include <headroom/file_vector.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/scratch_folder.hpp"

namespace {

using headroom::file_access;
using headroom::file_vector;
using headroom::max_elements;

TEST(hardened_file_vectors, end_the_program_where_an_element_is_not_there) {
    const headroom::testing_support::scratch_folder folder;
    auto v = file_vector<int>::create(folder.file("points"), max_elements(100));
    v.assign({1, 2, 3});
    EXPECT_DEATH(static_cast<void>(v[3]), "file_vector \"points\" of 3 elements at .*: operator\\[\\] of index 3");
    EXPECT_DEATH(v.erase(v.end() + 1), "file_vector \"points\".*which is no position in it");
    v.clear();
    EXPECT_DEATH(v.pop_back(), "file_vector \"points\".*pop_back\\(\\) of an empty container");
    v.assign({1, 2, 3});
    v.publish();
    auto reader = file_vector<int>::open(folder.file("points"), file_access::read_only, max_elements(100));
    EXPECT_DEATH(reader.unchecked_push_back(4), "past the capacity");
}

TEST(hardened_file_vectors, leave_addresses_that_serve_nobody_for_a_while_and_no_file_behind) {
    const headroom::testing_support::scratch_folder folder;
    auto v = file_vector<int>::create(folder.file("points"), max_elements(100));
    v.assign({1, 2, 3});
    const int* const first = v.data();
    v.close();
    EXPECT_DEATH(static_cast<void>(*const_cast<const volatile int*>(first)), "");
    auto next = file_vector<int>::open(folder.file("points"), file_access::read_only, max_elements(100));
    EXPECT_NE(next.data(), first);
    // Deleted and closed, it is no longer mapped, so that its disk space is free.
    next = file_vector<int>();
    std::filesystem::remove(folder.file("points"));
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) EXPECT_EQ(line.find(folder.file("points")), std::string::npos) << line;
}

}    // namespace
