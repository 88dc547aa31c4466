// SPDX-License-Identifier: MIT
// detail/vector/ranges.hpp finds the ends of a range like std::ranges::begin and end, for the ranges that the library supports.
#include <array>
#include <list>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <headroom/detail/vector/ranges.hpp>
#include <headroom/vector.hpp>

#include <gtest/gtest.h>

namespace {

namespace elsewhere {

struct by_members {
    std::array<int, 3> values{1, 2, 3};
    [[nodiscard]] const int* begin() const { return values.data(); }
    [[nodiscard]] const int* end() const { return values.data() + 3; }
};

// Its ends are found only by argument-dependent lookup.
struct by_friends {
    std::array<int, 3> values{4, 5, 6};
    friend const int* begin(const by_friends& range) { return range.values.data(); }
    friend const int* end(const by_friends& range) { return range.values.data() + 3; }
};

// Its members begin and end are no iterators; the friends are.
struct by_friends_despite_members {
    std::array<int, 3> values{7, 8, 9};
    int begin = 0;
    void end() const {}
    friend const int* begin(const by_friends_despite_members& range) { return range.values.data(); }
    friend const int* end(const by_friends_despite_members& range) { return range.values.data() + 3; }
};

struct only_when_mutable {
    std::array<int, 2> values{1, 2};
    int* begin() { return values.data(); }
    int* end() { return values.data() + 2; }
};

struct without_end {
    [[nodiscard]] const int* begin() const { return nullptr; }
};

struct secretive {
private:
    [[nodiscard]] const int* begin() const { return nullptr; }
    [[nodiscard]] const int* end() const { return nullptr; }
};

enum class plain_enum { a };

}    // namespace elsewhere

template <class R>
constexpr bool agrees = headroom::detail::any_input_range<R> == std::ranges::input_range<R>;

static_assert(agrees<std::vector<int>> && agrees<const std::vector<int>&> && agrees<std::list<int>&> && agrees<std::span<int>>);
static_assert(agrees<int (&)[3]> && agrees<const int (&)[3]> && agrees<int (&)[]> && agrees<int*> && agrees<int> &&
              agrees<void*>);
static_assert(agrees<elsewhere::by_members> && agrees<const elsewhere::by_friends&> &&
              agrees<const elsewhere::by_friends_despite_members&>);
static_assert(agrees<elsewhere::only_when_mutable> && agrees<elsewhere::only_when_mutable&> &&
              agrees<const elsewhere::only_when_mutable&>);
static_assert(agrees<elsewhere::without_end> && agrees<elsewhere::secretive> && agrees<elsewhere::plain_enum>);
static_assert(agrees<std::ranges::iota_view<int, int>> && agrees<std::ranges::istream_view<int>&> &&
              agrees<std::ranges::ref_view<std::list<int>>> && agrees<std::ranges::empty_view<int>>);
static_assert(!headroom::detail::any_input_range<const elsewhere::only_when_mutable&>, "and the statement is not empty");

template <class R>
std::vector<int> appended(R&& range) {
    headroom::vector<int> v;
    v.append_range(range);
    return {v.begin(), v.end()};
}

TEST(range_access, members) { EXPECT_EQ(appended(elsewhere::by_members()), (std::vector<int>{1, 2, 3})); }
TEST(range_access, friends) { EXPECT_EQ(appended(elsewhere::by_friends()), (std::vector<int>{4, 5, 6})); }
TEST(range_access, friends_where_members_of_that_name_are_no_ends) {
    EXPECT_EQ(appended(elsewhere::by_friends_despite_members()), (std::vector<int>{7, 8, 9}));
}
TEST(range_access, arrays) {
    const int values[] = {1, 2, 3, 4};
    EXPECT_EQ(appended(values), (std::vector<int>{1, 2, 3, 4}));
}
TEST(range_access, ranges_that_only_mutable_objects_are) {
    elsewhere::only_when_mutable range;
    EXPECT_EQ(appended(range), (std::vector<int>{1, 2}));
}

TEST(range_access, distance_of_ends_that_do_not_subtract) {
    const std::list<int> values{1, 2, 3};
    EXPECT_EQ(headroom::detail::cursor_over<decltype((values))>(values).count(), 3U);
    auto odd = values | std::views::filter([](int i) { return i % 2 != 0; });
    EXPECT_EQ(headroom::detail::cursor_over<decltype((odd))>(odd).count(), 2U);
}

}    // namespace
