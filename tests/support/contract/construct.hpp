// SPDX-License-Identifier: MIT
// [vector.cons], [container.reqmts], [sequence.reqmts]: constructors, assignment, assign(), move and swap.
#include <initializer_list>
#include <list>
#include <type_traits>

#include "support/contract/contract.hpp"

namespace {

using headroom_test::append;
using headroom_test::counted;
using headroom_test::filled;
using headroom_test::full;
using headroom_test::make;
using headroom_test::numbers;
using headroom_test::numbers_list;

template <class Container>
class construct : public contract<Container> {};
TYPED_TEST_SUITE(construct, subjects);

TYPED_TEST(construct, default_has_no_elements) {
    const TypeParam v;
    EXPECT_TRUE(v.empty());
    EXPECT_EQ(v.size(), 0U);
    EXPECT_TRUE(v.begin() == v.end());
}

TYPED_TEST(construct, a_count_gives_value_initialised_elements) {
    using T = typename TypeParam::value_type;
    const TypeParam v(7);
    ASSERT_EQ(v.size(), 7U);
    for (const T& x : v) EXPECT_TRUE(x == T());
}

TYPED_TEST(construct, a_count_of_zero_gives_none) {
    const TypeParam v(0);
    EXPECT_TRUE(v.empty());
}

TYPED_TEST(construct, a_count_and_a_value_give_copies_of_it) {
    using T = typename TypeParam::value_type;
    const T value = make<T>(5);
    const TypeParam v(4, value);
    EXPECT_EQ(numbers(v), (numbers_list{5, 5, 5, 5}));
}

// Two integers of one type must not be taken for iterators.
TYPED_TEST(construct, two_integers_are_a_count_and_a_value) {
    if constexpr (std::is_same_v<typename TypeParam::value_type, int>) {
        const TypeParam v(3, 9);
        EXPECT_EQ(numbers(v), (numbers_list{9, 9, 9}));
        TypeParam w;
        w.assign(2, 8);
        EXPECT_EQ(numbers(w), (numbers_list{8, 8}));
        w.insert(w.begin(), 2, 7);
        EXPECT_EQ(numbers(w), (numbers_list{7, 7, 8, 8}));
    } else {
        EXPECT_FALSE((std::is_constructible_v<TypeParam, int*, int>));
    }
}

TYPED_TEST(construct, from_a_random_access_range) {
    using T = typename TypeParam::value_type;
    const TypeParam source = filled<TypeParam>(9);
    const T* first = source.data();
    const TypeParam v(first, first + 9);
    EXPECT_EQ(numbers(v), counted(9));
}

TYPED_TEST(construct, from_a_bidirectional_range) {
    using T = typename TypeParam::value_type;
    std::list<T> source;
    for (int i = 0; i < 9; ++i) source.push_back(make<T>(i));
    const TypeParam v(source.cbegin(), source.cend());
    EXPECT_EQ(numbers(v), counted(9));
}

TYPED_TEST(construct, from_a_forward_range) {
    using T = typename TypeParam::value_type;
    const headroom_test::forward_range<T> source(counted(9));
    const TypeParam v(source.begin(), source.end());
    EXPECT_EQ(numbers(v), counted(9));
}

TYPED_TEST(construct, from_a_single_pass_range) {
    using T = typename TypeParam::value_type;
    headroom_test::old_input_range<T> source(counted(100));
    const TypeParam v(source.begin(), source.end());
    EXPECT_EQ(numbers(v), counted(100));
}

TYPED_TEST(construct, from_an_empty_range) {
    using T = typename TypeParam::value_type;
    const T* none = nullptr;
    const TypeParam v(none, none);
    EXPECT_TRUE(v.empty());
    headroom_test::old_input_range<T> source({});
    const TypeParam w(source.begin(), source.end());
    EXPECT_TRUE(w.empty());
}

TYPED_TEST(construct, from_a_braced_list) {
    using T = typename TypeParam::value_type;
    const TypeParam v{make<T>(3), make<T>(1), make<T>(2)};
    EXPECT_EQ(numbers(v), (numbers_list{3, 1, 2}));
    const TypeParam w = {};
    EXPECT_TRUE(w.empty());
}

TYPED_TEST(construct, a_copy_is_equal_and_independent) {
    using T = typename TypeParam::value_type;
    const TypeParam source = filled<TypeParam>(20);
    TypeParam copy(source);
    EXPECT_EQ(numbers(copy), counted(20));
    EXPECT_NE(copy.data(), source.data());
    copy.front() = make<T>(77);
    copy.pop_back();
    EXPECT_EQ(numbers(source), counted(20));
}

TYPED_TEST(construct, a_copy_of_nothing_is_nothing) {
    const TypeParam source;
    const TypeParam copy(source);
    EXPECT_TRUE(copy.empty());
}

// A copy has the capacity that its elements need. rvector's has the capacity of its source.
TYPED_TEST(construct, a_copy_does_not_take_the_capacity_of_its_source) {
    TypeParam source = filled<TypeParam>(3);
    source.reserve((std::size_t{1} << 20) / sizeof(typename TypeParam::value_type) + 100);
    const TypeParam copy(source);
    EXPECT_EQ(numbers(copy), counted(3));
    EXPECT_LT(copy.capacity(), source.capacity() / 2);
}

TYPED_TEST(construct, moving_takes_the_elements_where_they_are) {
    TypeParam source = filled<TypeParam>(20);
    const auto* where = source.data();
    const auto third = source.begin() + 2;
    const TypeParam v(std::move(source));
    if (moves_in_one_piece<TypeParam>) {
        EXPECT_EQ(v.data(), where);
        EXPECT_EQ(headroom_test::number(*third), 2);
    }
    EXPECT_EQ(numbers(v), counted(20));
}

TYPED_TEST(construct, a_moved_from_container_is_empty_and_usable) {
    TypeParam source = filled<TypeParam>(20);
    const TypeParam v(std::move(source));
    EXPECT_TRUE(source.empty());    // NOLINT: that is the question
    EXPECT_TRUE(source.begin() == source.end());
    append(source, 30);
    EXPECT_EQ(numbers(source), counted(30));
    EXPECT_EQ(numbers(v), counted(20));
}

TYPED_TEST(construct, moving_never_throws) {
    EXPECT_EQ(std::is_nothrow_move_constructible_v<TypeParam>, moves_without_fail<TypeParam>);
    EXPECT_EQ(std::is_nothrow_move_assignable_v<TypeParam>, moves_without_fail<TypeParam>);
    EXPECT_EQ(std::is_nothrow_swappable_v<TypeParam>, moves_without_fail<TypeParam>);
    EXPECT_TRUE(std::is_nothrow_destructible_v<TypeParam>);
}

TYPED_TEST(construct, copy_assignment_to_shorter_longer_and_equal) {
    for (const std::size_t before : {0U, 3U, 10U, 100U}) {
        SCOPED_TRACE(before);
        const TypeParam source = filled<TypeParam>(10, 50);
        TypeParam v = filled<TypeParam>(before);
        TypeParam& same = (v = source);
        EXPECT_EQ(&same, &v);
        EXPECT_EQ(numbers(v), counted(10, 50));
        EXPECT_EQ(numbers(source), counted(10, 50));
    }
}

TYPED_TEST(construct, copy_assignment_from_nothing_empties) {
    const TypeParam source;
    TypeParam v = filled<TypeParam>(10);
    v = source;
    EXPECT_TRUE(v.empty());
}

TYPED_TEST(construct, copy_assignment_within_capacity_keeps_the_place) {
    const TypeParam source = filled<TypeParam>(10, 50);
    TypeParam v = filled<TypeParam>(20);
    const auto* where = v.data();
    v = source;
    EXPECT_EQ(v.data(), where);
}

TYPED_TEST(construct, copy_assignment_to_itself_changes_nothing) {
    TypeParam v = filled<TypeParam>(10);
    TypeParam& same = v;
    v = same;
    EXPECT_EQ(numbers(v), counted(10));
}

TYPED_TEST(construct, move_assignment_takes_the_elements_where_they_are) {
    for (const std::size_t before : {0U, 3U, 100U}) {
        SCOPED_TRACE(before);
        TypeParam source = filled<TypeParam>(10, 50);
        const auto* where = source.data();
        TypeParam v = filled<TypeParam>(before);
        v = std::move(source);
        if (moves_in_one_piece<TypeParam>) {
            EXPECT_EQ(v.data(), where);
        }
        EXPECT_EQ(numbers(v), counted(10, 50));
    }
}

TYPED_TEST(construct, move_assignment_leaves_the_source_usable) {
    TypeParam source = filled<TypeParam>(10, 50);
    TypeParam v = filled<TypeParam>(3);
    v = std::move(source);
    source.clear();    // NOLINT: that is the question
    append(source, 5);
    EXPECT_EQ(numbers(source), counted(5));
    EXPECT_EQ(numbers(v), counted(10, 50));
}

TYPED_TEST(construct, move_assignment_to_itself_leaves_it_usable) {
    TypeParam v = filled<TypeParam>(10);
    TypeParam& same = v;
    v = std::move(same);
    v.clear();
    append(v, 5);
    EXPECT_EQ(numbers(v), counted(5));
}

TYPED_TEST(construct, assignment_of_a_braced_list) {
    using T = typename TypeParam::value_type;
    for (const std::size_t before : {0U, 2U, 3U, 50U}) {
        TypeParam v = filled<TypeParam>(before);
        TypeParam& same = (v = {make<T>(3), make<T>(1), make<T>(2)});
        EXPECT_EQ(&same, &v);
        EXPECT_EQ(numbers(v), (numbers_list{3, 1, 2}));
    }
}

TYPED_TEST(construct, assign_a_count_and_a_value) {
    using T = typename TypeParam::value_type;
    for (const std::size_t before : {0U, 2U, 5U, 50U}) {
        SCOPED_TRACE(before);
        TypeParam v = filled<TypeParam>(before);
        v.assign(5, make<T>(8));
        EXPECT_EQ(numbers(v), (numbers_list{8, 8, 8, 8, 8}));
        v.assign(0, make<T>(8));
        EXPECT_TRUE(v.empty());
    }
}

TYPED_TEST(construct, assign_more_than_fits) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(3);
    const std::size_t more = v.capacity() * 2 + 5;
    v.assign(more, make<T>(8));
    EXPECT_EQ(numbers(v), numbers_list(more, 8));
}

TYPED_TEST(construct, assign_a_random_access_range) {
    using T = typename TypeParam::value_type;
    const TypeParam source = filled<TypeParam>(30, 100);
    for (const std::size_t before : {0U, 10U, 30U, 90U}) {
        SCOPED_TRACE(before);
        TypeParam v = filled<TypeParam>(before);
        const T* first = source.data();
        v.assign(first, first + 30);
        EXPECT_EQ(numbers(v), counted(30, 100));
    }
}

TYPED_TEST(construct, assign_a_forward_range) {
    using T = typename TypeParam::value_type;
    const headroom_test::forward_range<T> source(counted(30, 100));
    for (const std::size_t before : {0U, 10U, 30U, 90U}) {
        SCOPED_TRACE(before);
        TypeParam v = filled<TypeParam>(before);
        v.assign(source.begin(), source.end());
        EXPECT_EQ(numbers(v), counted(30, 100));
    }
}

TYPED_TEST(construct, assign_a_single_pass_range) {
    using T = typename TypeParam::value_type;
    for (const std::size_t before : {0U, 10U, 30U, 90U}) {
        SCOPED_TRACE(before);
        headroom_test::old_input_range<T> source(counted(30, 100));
        TypeParam v = filled<TypeParam>(before);
        v.assign(source.begin(), source.end());
        EXPECT_EQ(numbers(v), counted(30, 100));
    }
}

TYPED_TEST(construct, assign_a_braced_list) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(10);
    v.assign({make<T>(3), make<T>(1)});
    EXPECT_EQ(numbers(v), (numbers_list{3, 1}));
    v.assign(std::initializer_list<T>{});
    EXPECT_TRUE(v.empty());
}

TYPED_TEST(construct, swap_exchanges_elements_and_their_places) {
    TypeParam a = filled<TypeParam>(10);
    TypeParam b = filled<TypeParam>(3, 70);
    const auto* where_a = a.data();
    const auto* where_b = b.data();
    a.swap(b);
    EXPECT_EQ(numbers(a), counted(3, 70));
    EXPECT_EQ(numbers(b), counted(10));
    if (moves_in_one_piece<TypeParam>) {
        EXPECT_EQ(a.data(), where_b);
        EXPECT_EQ(b.data(), where_a);
    }
    using std::swap;
    swap(a, b);
    EXPECT_EQ(numbers(a), counted(10));
    EXPECT_EQ(numbers(b), counted(3, 70));
}

TYPED_TEST(construct, swap_with_nothing_and_with_itself) {
    TypeParam a = filled<TypeParam>(10);
    TypeParam none;
    a.swap(none);
    EXPECT_TRUE(a.empty());
    EXPECT_EQ(numbers(none), counted(10));
    none.swap(none);
    EXPECT_EQ(numbers(none), counted(10));
    append(a, 2);
    EXPECT_EQ(numbers(a), counted(2));
}

}    // namespace
