// SPDX-License-Identifier: MIT
// [vector.modifiers], [vector.capacity], [vector.erasure]: erase, pop_back, clear, resize, erase and erase_if by value.
#include <stdexcept>

#include "support/contract/contract.hpp"

namespace {

using headroom_test::append;
using headroom_test::counted;
using headroom_test::filled;
using headroom_test::make;
using headroom_test::number;
using headroom_test::numbers;
using headroom_test::numbers_list;

template <class Container>
class erase_from : public contract<Container> {};
TYPED_TEST_SUITE(erase_from, subjects);

TYPED_TEST(erase_from, one_at_every_place) {
    for (std::size_t at = 0; at < 8; ++at) {
        TypeParam v = filled<TypeParam>(8);
        numbers_list expected = counted(8);
        expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(at));
        const auto result = v.erase(v.cbegin() + static_cast<std::ptrdiff_t>(at));
        EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
        EXPECT_EQ(numbers(v), expected);
    }
}

TYPED_TEST(erase_from, every_range_of_eight) {
    for (std::ptrdiff_t first = 0; first <= 8; ++first) {
        for (std::ptrdiff_t last = first; last <= 8; ++last) {
            TypeParam v = filled<TypeParam>(8);
            numbers_list expected = counted(8);
            expected.erase(expected.begin() + first, expected.begin() + last);
            const auto result = v.erase(v.cbegin() + first, v.cbegin() + last);
            EXPECT_EQ(result - v.begin(), first);
            EXPECT_EQ(numbers(v), expected);
        }
    }
}

TYPED_TEST(erase_from, an_empty_range_changes_nothing) {
    TypeParam v = filled<TypeParam>(8);
    headroom_test::open_book();
    EXPECT_TRUE(v.erase(v.begin() + 3, v.begin() + 3) == v.begin() + 3);
    EXPECT_TRUE(v.erase(v.end(), v.end()) == v.end());
    EXPECT_EQ(headroom_test::book.moves + headroom_test::book.copies, 0);
    EXPECT_EQ(numbers(v), counted(8));
    TypeParam none;
    EXPECT_TRUE(none.erase(none.begin(), none.end()) == none.end());
    EXPECT_TRUE(none.empty());
}

TYPED_TEST(erase_from, what_lies_before_stays_where_it_is) {
    TypeParam v = filled<TypeParam>(8);
    const auto before = v.begin() + 2;
    const auto* where = v.data();
    v.erase(v.begin() + 3);
    v.erase(v.begin() + 3, v.end());
    EXPECT_EQ(v.data(), where);
    EXPECT_EQ(number(*before), 2);
}

TYPED_TEST(erase_from, elements_are_moved_down_and_none_is_copied) {
    TypeParam v = filled<TypeParam>(8);
    headroom_test::open_book();
    v.erase(v.begin() + 1);
    v.erase(v.begin() + 1, v.begin() + 3);
    EXPECT_EQ(headroom_test::book.copies, 0);
    EXPECT_EQ(numbers(v), (numbers_list{0, 4, 5, 6, 7}));
}

TYPED_TEST(erase_from, erasing_changes_no_capacity) {
    TypeParam v = filled<TypeParam>(100);
    const std::size_t before = v.capacity();
    v.erase(v.begin() + 10, v.end());
    v.pop_back();
    v.clear();
    EXPECT_EQ(v.capacity(), before);
}

TYPED_TEST(erase_from, pop_back_removes_the_last) {
    TypeParam v = filled<TypeParam>(5);
    for (std::size_t left = 5; left-- > 0;) {
        v.pop_back();
        EXPECT_EQ(numbers(v), counted(left));
    }
    EXPECT_TRUE(v.empty());
}

TYPED_TEST(erase_from, clear_destroys_all) {
    TypeParam v = filled<TypeParam>(50);
    const long live = headroom_test::book.live;
    v.clear();
    EXPECT_TRUE(v.empty());
    if constexpr (headroom_test::is_tracked<typename TypeParam::value_type>) {
        EXPECT_EQ(headroom_test::book.live, live - 50);
    }
    v.clear();
    append(v, 3);
    EXPECT_EQ(numbers(v), counted(3));
}

TYPED_TEST(erase_from, resize_to_fewer_destroys_the_last) {
    TypeParam v = filled<TypeParam>(50);
    v.resize(20);
    EXPECT_EQ(numbers(v), counted(20));
    v.resize(20);
    EXPECT_EQ(numbers(v), counted(20));
    v.resize(0);
    EXPECT_TRUE(v.empty());
}

TYPED_TEST(erase_from, resize_to_more_appends_value_initialised_elements) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(5);
    const std::size_t more = v.capacity() * 2 + 10;
    v.resize(more);
    ASSERT_EQ(v.size(), more);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(number(v[i]), static_cast<int>(i));
    for (std::size_t i = 5; i < more; ++i) ASSERT_TRUE(v[i] == T());
}

// resize() value-initializes new elements. The predecessor of settled_vector shows stale values.
TYPED_TEST(erase_from, resize_shows_no_stale_values) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(50, 1);
    v.resize(10);
    v.resize(50);
    ASSERT_EQ(v.size(), 50U);
    for (std::size_t i = 10; i < 50; ++i) ASSERT_TRUE(v[i] == T());
}

TYPED_TEST(erase_from, resize_with_a_value_appends_copies_of_it) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(3);
    v.resize(6, make<T>(9));
    EXPECT_EQ(numbers(v), (numbers_list{0, 1, 2, 9, 9, 9}));
    v.resize(2, make<T>(8));
    EXPECT_EQ(numbers(v), (numbers_list{0, 1}));
    v.resize(2, make<T>(8));
    EXPECT_EQ(numbers(v), (numbers_list{0, 1}));
}

TYPED_TEST(erase_from, resize_past_max_size_throws_length_error) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(5);
    EXPECT_THROW(v.resize(v.max_size() + 1), std::length_error);
    EXPECT_THROW(v.resize(v.max_size() + 1, make<T>(1)), std::length_error);
    EXPECT_THROW(v.insert(v.begin() + 1, v.max_size(), make<T>(1)), std::length_error);
    EXPECT_THROW(v.insert(v.end(), static_cast<std::size_t>(-1), make<T>(1)), std::length_error);
    EXPECT_THROW(v.assign(v.max_size() + 1, make<T>(1)), std::length_error);
    EXPECT_EQ(numbers(v), counted(5));
}

TYPED_TEST(erase_from, by_value_returns_how_many_went) {
    using T = typename TypeParam::value_type;
    TypeParam v;
    for (const int n : {1, 2, 1, 3, 1}) v.push_back(make<T>(n));
    EXPECT_EQ(erase(v, make<T>(1)), 3U);
    EXPECT_EQ(numbers(v), (numbers_list{2, 3}));
    EXPECT_EQ(erase(v, make<T>(9)), 0U);
    EXPECT_EQ(numbers(v), (numbers_list{2, 3}));
}

TYPED_TEST(erase_from, by_condition_returns_how_many_went) {
    TypeParam v = filled<TypeParam>(10);
    EXPECT_EQ(erase_if(v, [](const auto& x) { return number(x) % 3 == 0; }), 4U);
    EXPECT_EQ(numbers(v), (numbers_list{1, 2, 4, 5, 7, 8}));
    EXPECT_EQ(erase_if(v, [](const auto&) { return true; }), 6U);
    EXPECT_TRUE(v.empty());
    EXPECT_EQ(erase_if(v, [](const auto&) { return true; }), 0U);
}

}    // namespace
