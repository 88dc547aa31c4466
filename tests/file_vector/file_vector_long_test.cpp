// SPDX-License-Identifier: MIT
// A file longer than a 32-bit off_t can hold. 64-bit programs open it in any case.
// Labels: posix core
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include <headroom/file_vector.hpp>

#include "support/filed.hpp"

namespace {

using headroom::file_vector;
using headroom::max_elements;

TEST(a_long_file, is_opened) {
    const headroom_test::folder_of_this_process folder;
    const std::filesystem::path path = folder.file("numbers");
    auto v = file_vector<int>::create(path, max_elements{1000});
    headroom_test::append(v, 10);
    v.close();
    std::filesystem::resize_file(path, std::uintmax_t{3} << 30);    // a hole
    v = file_vector<int>::open(path, headroom::file_access::read_only, max_elements{1000});
    EXPECT_EQ(headroom_test::numbers(v), headroom_test::counted(10));
}

}    // namespace
