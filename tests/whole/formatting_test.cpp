// SPDX-License-Identifier: MIT
// Vectors print like std::vector in fmt, if available, and in the standard library of C++23.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

#if __has_include(<fmt/ranges.h>)
#if !defined(FMT_HEADER_ONLY)
#define FMT_HEADER_ONLY
#endif
#include <fmt/ranges.h>
#endif
#if __has_include(<format>)
#include <format>
#endif

namespace {

// `print(values)` returns them as a string.
template <class Print>
void prints_alike(Print print) {
    EXPECT_EQ(print(headroom::vector<int>{1, -2, 3}), print(std::vector<int>{1, -2, 3}));
    EXPECT_EQ(print(headroom::settled_vector<int>{1, -2, 3}), print(std::vector<int>{1, -2, 3}));
    EXPECT_EQ(print(headroom::small_vector<int, 2>{1, -2, 3}), print(std::vector<int>{1, -2, 3}));
    EXPECT_EQ(print(headroom::vector<int>{}), print(std::vector<int>{}));
    EXPECT_EQ(print(headroom::vector<std::string>{"a", "b\n"}), print(std::vector<std::string>{"a", "b\n"}));
    EXPECT_EQ(print(headroom::settled_vector<double>{0.5}), print(std::vector<double>{0.5}));
    EXPECT_EQ(print(headroom::vector<char>{'x'}), print(std::vector<char>{'x'}));
    EXPECT_EQ(print(headroom::vector<bool>{true, false}), print(std::vector<bool>{true, false}));
    EXPECT_EQ(print(headroom::vector<headroom::vector<int>>{{1}, {2, 3}}), print(std::vector<std::vector<int>>{{1}, {2, 3}}));
}

TEST(vectors, print_alike_in_fmt) {
#if defined(FMT_VERSION)
    prints_alike([](const auto& values) { return fmt::format("{}", values); });
    EXPECT_EQ(fmt::format("{}", headroom::vector<int>{1, 2}), "[1, 2]");
    EXPECT_EQ(fmt::format("{}", fmt::join(headroom::vector<int>{1, 2}, "-")), "1-2");
#else
    GTEST_SKIP() << "fmt is not installed";
#endif
}

TEST(vectors, print_alike_in_the_standard_library) {
#if defined(__cpp_lib_format_ranges)
    prints_alike([](const auto& values) { return std::format("{}", values); });
    EXPECT_EQ(std::format("{}", headroom::vector<int>{1, 2}), "[1, 2]");
#else
    GTEST_SKIP() << "the standard library of C++20 formats no ranges";
#endif
}

}    // namespace
