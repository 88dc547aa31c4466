// SPDX-License-Identifier: MIT
// C++23's construction from a range, assign_range, append_range and insert_range. For headroom's containers only: std::vector has
// none of them in C++20.
#include <array>
#include <list>
#include <ranges>
#include <type_traits>

#include <headroom/detail/vector/ranges.hpp>

#include "support/contract/contract.hpp"

namespace {

using headroom_test::counted;
using headroom_test::filled;
using headroom_test::forward_range;
using headroom_test::make;
using headroom_test::numbers;
using headroom_test::numbers_list;
using headroom_test::single_pass;

template <class Container>
class ranges_into : public contract<Container> {};
TYPED_TEST_SUITE(ranges_into, subjects);

// Runs `body` with elements 500, 501, ... as a range of each category: contiguous, bidirectional and not contiguous, forward,
// unsized forward view, single-pass of temporaries.
template <class T, class Body>
void as_every_kind_of_range(std::size_t count, Body body) {
    {
        SCOPED_TRACE("contiguous");
        std::vector<T> range;
        for (const int n : counted(count, 500)) range.push_back(make<T>(n));
        body(range);
    }
    {
        SCOPED_TRACE("bidirectional");
        std::list<T> range;
        for (const int n : counted(count, 500)) range.push_back(make<T>(n));
        body(range);
    }
    {
        SCOPED_TRACE("forward");
        body(forward_range<T>(counted(count, 500)));
    }
    {
        SCOPED_TRACE("a view that makes its elements, of unknown length");
        body(std::views::iota(0) | std::views::take_while([count](int i) { return i < static_cast<int>(count); }) |
             std::views::transform([](int i) { return make<T>(500 + i); }));
    }
    {
        SCOPED_TRACE("single-pass");
        single_pass<T> range(counted(count, 500));
        body(range);
    }
}

TYPED_TEST(ranges_into, construction) {
    using T = typename TypeParam::value_type;
    for (const std::size_t count : {0U, 1U, 40U}) {
        as_every_kind_of_range<T>(count, [count](auto&& range) {
            const TypeParam v(headroom::from_range, range);
            EXPECT_EQ(numbers(v), counted(count, 500));
        });
    }
}

TYPED_TEST(ranges_into, assign_range_to_shorter_and_longer) {
    using T = typename TypeParam::value_type;
    for (const std::size_t before : {0U, 10U, 40U, 90U}) {
        for (const std::size_t count : {0U, 40U}) {
            as_every_kind_of_range<T>(count, [before, count](auto&& range) {
                TypeParam v = filled<TypeParam>(before);
                v.assign_range(range);
                EXPECT_EQ(numbers(v), counted(count, 500));
            });
        }
    }
}

TYPED_TEST(ranges_into, append_range_with_room_and_without) {
    using T = typename TypeParam::value_type;
    for (const bool tight : {false, true}) {
        for (const std::size_t count : {0U, 1U, 60U}) {
            as_every_kind_of_range<T>(count, [tight, count](auto&& range) {
                TypeParam v = tight ? headroom_test::full<TypeParam>(8) : headroom_test::roomy<TypeParam>(8, 60);
                numbers_list expected = numbers(v);
                for (const int n : counted(count, 500)) expected.push_back(n);
                v.append_range(range);
                EXPECT_EQ(numbers(v), expected);
            });
        }
    }
}

TYPED_TEST(ranges_into, insert_range_at_every_place) {
    using T = typename TypeParam::value_type;
    for (const std::size_t count : {0U, 3U, 60U}) {
        as_every_kind_of_range<T>(count, [count](auto&& range) {
            // A single-pass range is consumed by one use, so each run tests one place.
            TypeParam v = filled<TypeParam>(8);
            numbers_list expected = numbers(v);
            const numbers_list added = counted(count, 500);
            expected.insert(expected.begin() + 3, added.begin(), added.end());
            const auto result = v.insert_range(v.cbegin() + 3, range);
            EXPECT_EQ(result - v.begin(), 3);
            EXPECT_EQ(numbers(v), expected);
        });
        const forward_range<T> range(counted(count, 500));
        at_every_place<TypeParam>([&](TypeParam& v, std::size_t at) {
            numbers_list expected = numbers(v);
            const numbers_list added = counted(count, 500);
            expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(at), added.begin(), added.end());
            const auto result = v.insert_range(nth(v, at), range);
            EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
            EXPECT_EQ(numbers(v), expected);
        });
        at_every_place<TypeParam>([&](TypeParam& v, std::size_t at) {
            single_pass<T> once(counted(count, 500));
            numbers_list expected = numbers(v);
            const numbers_list added = counted(count, 500);
            expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(at), added.begin(), added.end());
            const auto result = v.insert_range(nth(v, at), once);
            EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
            EXPECT_EQ(numbers(v), expected);
        });
    }
}

// The range's reference type needs only to be convertible to the element type.
TYPED_TEST(ranges_into, ranges_of_another_type_are_converted) {
    using T = typename TypeParam::value_type;
    if constexpr (std::is_convertible_v<short, T>) {
        const std::array<short, 3> source{500, 501, 502};
        TypeParam v(headroom::from_range, source);
        v.append_range(source);
        v.insert_range(v.begin(), source);
        EXPECT_EQ(numbers(v), (numbers_list{500, 501, 502, 500, 501, 502, 500, 501, 502}));
        v.assign_range(source);
        EXPECT_EQ(numbers(v), counted(3, 500));
    } else if constexpr (std::is_convertible_v<const char*, T>) {
        const std::array<const char*, 3> source{"500", "501", "502"};
        TypeParam v(headroom::from_range, source);
        v.append_range(source);
        EXPECT_EQ(numbers(v), (numbers_list{500, 501, 502, 500, 501, 502}));
    } else {
        struct unrelated {};
        constexpr bool takes_unrelated = requires(TypeParam v, std::array<unrelated, 2> r) { v.append_range(r); };
        EXPECT_FALSE(takes_unrelated);
    }
}

TYPED_TEST(ranges_into, elements_of_a_moving_view_are_moved) {
    using T = typename TypeParam::value_type;
    if constexpr (headroom_test::is_tracked<T>) {
        std::vector<T> source;
        source.reserve(20);
        for (const int n : counted(20)) source.push_back(make<T>(n));
        TypeParam v = headroom_test::roomy<TypeParam>(0, 20);
        headroom_test::open_book();
        v.append_range(source | std::views::transform([](T& x) -> T&& { return std::move(x); }));
        EXPECT_EQ(headroom_test::book.copies, 0);
        EXPECT_EQ(numbers(v), counted(20));
        EXPECT_EQ(headroom_test::number(source[3]), headroom_test::moved_from);
    } else {
        TypeParam v = filled<TypeParam>(3);
        TypeParam other = filled<TypeParam>(2, 3);
        v.append_range(std::move(other));
        EXPECT_EQ(numbers(v), counted(5));
    }
}

TYPED_TEST(ranges_into, a_range_that_throws_leaves_whole_elements) {
    using T = typename TypeParam::value_type;
    for (long k = 1; k < 40; ++k) {
        TypeParam v = filled<TypeParam>(8);
        const forward_range<T> range(counted(12, 500));
        headroom_test::open_book(k);
        bool thrown = false;
        try {
            switch (k % 3) {
                case 0: v.assign_range(range); break;
                case 1: v.append_range(range); break;
                default: v.insert_range(v.begin() + 4, range); break;
            }
        } catch (const headroom_test::planned_failure&) {
            thrown = true;
        }
        headroom_test::open_book();
        EXPECT_TRUE(thrown || k > 12) << "step " << k;
        (void)numbers(v);
        v.clear();
        headroom_test::append(v, 3);
        EXPECT_EQ(numbers(v), counted(3));
    }
}

}    // namespace
