// SPDX-License-Identifier: MIT
// [vector.overview], [vector.data], [vector.capacity], [container.requirements]: types, element access, iterators,
// capacity, comparison.
#include <iterator>
#include <ranges>
#include <stdexcept>
#include <type_traits>

#include "support/contract/contract.hpp"
#include "system/mapped.hpp"

namespace {

using headroom_test::append;
using headroom_test::counted;
using headroom_test::filled;
using headroom_test::make;
using headroom_test::number;
using headroom_test::numbers;
using headroom_test::numbers_list;

template <class Container>
class access_to : public contract<Container> {};
TYPED_TEST_SUITE(access_to, subjects);

TYPED_TEST(access_to, the_member_types_are_the_standards) {
    using T = typename TypeParam::value_type;
    EXPECT_TRUE((std::is_same_v<typename TypeParam::reference, T&>));
    EXPECT_TRUE((std::is_same_v<typename TypeParam::size_type, std::size_t>));
    EXPECT_TRUE((std::is_same_v<typename TypeParam::difference_type, std::ptrdiff_t>));
    EXPECT_TRUE((std::is_same_v<std::iter_reference_t<typename TypeParam::iterator>, T&>));
    EXPECT_TRUE((std::is_same_v<typename TypeParam::reverse_iterator, std::reverse_iterator<typename TypeParam::iterator>>));
    EXPECT_TRUE(
        (std::is_same_v<typename TypeParam::const_reverse_iterator, std::reverse_iterator<typename TypeParam::const_iterator>>));
}

// Nothing reached through a const container is mutable. rvector's const_reference is.
TYPED_TEST(access_to, nothing_is_mutable_through_a_const_container) {
    using T = typename TypeParam::value_type;
    using constant = const TypeParam;
    EXPECT_TRUE((std::is_same_v<typename TypeParam::const_reference, const T&>));
    EXPECT_TRUE((std::is_same_v<decltype(std::declval<constant&>()[0]), const T&>));
    EXPECT_TRUE((std::is_same_v<decltype(std::declval<constant&>().at(0)), const T&>));
    EXPECT_TRUE((std::is_same_v<decltype(std::declval<constant&>().front()), const T&>));
    EXPECT_TRUE((std::is_same_v<decltype(std::declval<constant&>().back()), const T&>));
    EXPECT_TRUE((std::is_same_v<decltype(std::declval<constant&>().data()), const T*>));
    EXPECT_TRUE((std::is_same_v<decltype(*std::declval<constant&>().begin()), const T&>));
    EXPECT_TRUE((std::is_same_v<decltype(*std::declval<TypeParam&>().cbegin()), const T&>));
}

TYPED_TEST(access_to, iterators_are_contiguous_and_convert_to_const) {
    EXPECT_TRUE(std::contiguous_iterator<typename TypeParam::iterator>);
    EXPECT_TRUE(std::contiguous_iterator<typename TypeParam::const_iterator>);
    EXPECT_TRUE((std::is_convertible_v<typename TypeParam::iterator, typename TypeParam::const_iterator>));
    EXPECT_FALSE((std::is_convertible_v<typename TypeParam::const_iterator, typename TypeParam::iterator>));
    EXPECT_TRUE(std::ranges::contiguous_range<TypeParam>);
    EXPECT_TRUE(std::ranges::sized_range<TypeParam>);
    EXPECT_TRUE(std::ranges::common_range<const TypeParam>);
}

TYPED_TEST(access_to, default_iterators_are_equal) {
    const typename TypeParam::iterator a{};
    const typename TypeParam::iterator b{};
    const typename TypeParam::const_iterator c{};
    EXPECT_TRUE(a == b);
    EXPECT_TRUE(c == a);
}

TYPED_TEST(access_to, iterators_do_random_access) {
    TypeParam v = filled<TypeParam>(10);
    auto i = v.begin();
    EXPECT_EQ(number(*(i + 4)), 4);
    EXPECT_EQ(number(*(4 + i)), 4);
    EXPECT_EQ(number(i[7]), 7);
    i += 6;
    EXPECT_EQ(number(*i), 6);
    i -= 2;
    EXPECT_EQ(number(*i--), 4);
    EXPECT_EQ(number(*--i), 2);
    EXPECT_EQ(number(*i++), 2);
    EXPECT_EQ(number(*++i), 4);
    EXPECT_EQ(v.end() - v.begin(), 10);
    EXPECT_EQ(v.cend() - v.begin(), 10);
    EXPECT_TRUE(v.begin() < v.cend());
    EXPECT_TRUE(v.begin() <= i && i >= v.cbegin() && v.end() > i && v.begin() != v.end());
    EXPECT_EQ(std::to_address(i), v.data() + 4);
}

TYPED_TEST(access_to, every_begin_and_end_walk_the_elements) {
    TypeParam v = filled<TypeParam>(6);
    const TypeParam& constant = v;
    numbers_list forwards;
    for (auto i = v.begin(); i != v.end(); ++i) forwards.push_back(number(*i));
    for (auto i = v.cbegin(); i != v.cend(); ++i) forwards.push_back(number(*i));
    for (auto i = constant.begin(); i != constant.end(); ++i) forwards.push_back(number(*i));
    EXPECT_EQ(forwards, (numbers_list{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}));
    numbers_list backwards;
    for (auto i = v.rbegin(); i != v.rend(); ++i) backwards.push_back(number(*i));
    for (auto i = v.crbegin(); i != v.crend(); ++i) backwards.push_back(number(*i));
    for (auto i = constant.rbegin(); i != constant.rend(); ++i) backwards.push_back(number(*i));
    EXPECT_EQ(backwards, (numbers_list{5, 4, 3, 2, 1, 0, 5, 4, 3, 2, 1, 0, 5, 4, 3, 2, 1, 0}));
}

TYPED_TEST(access_to, subscript_front_back_and_data_name_the_same_elements) {
    TypeParam v = filled<TypeParam>(10);
    const TypeParam& constant = v;
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(std::addressof(v[i]), v.data() + i);
        EXPECT_EQ(&constant[i], constant.data() + i);
        EXPECT_EQ(number(v[i]), static_cast<int>(i));
    }
    EXPECT_EQ(std::addressof(v.front()), std::addressof(v[0]));
    EXPECT_EQ(std::addressof(v.back()), std::addressof(v[9]));
    EXPECT_EQ(std::addressof(constant.front()), std::addressof(v[0]));
    EXPECT_EQ(std::addressof(constant.back()), std::addressof(v[9]));
}

TYPED_TEST(access_to, writing_through_a_reference_changes_the_element) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(4);
    v[0] = make<T>(10);
    v.at(1) = make<T>(11);
    *(v.begin() + 2) = make<T>(12);
    v.back() = make<T>(13);
    EXPECT_EQ(numbers(v), counted(4, 10));
}

TYPED_TEST(access_to, at_checks_and_throws_out_of_range) {
    TypeParam v = filled<TypeParam>(10);
    const TypeParam& constant = v;
    EXPECT_EQ(number(v.at(9)), 9);
    EXPECT_EQ(number(constant.at(0)), 0);
    EXPECT_THROW((void)v.at(10), std::out_of_range);
    EXPECT_THROW((void)constant.at(10), std::out_of_range);
    EXPECT_THROW((void)v.at(static_cast<std::size_t>(-1)), std::out_of_range);
    EXPECT_THROW((void)TypeParam().at(0), std::out_of_range);
}

TYPED_TEST(access_to, size_and_empty_follow_the_elements) {
    TypeParam v;
    EXPECT_TRUE(v.empty());
    append(v, 5);
    EXPECT_FALSE(v.empty());
    EXPECT_EQ(v.size(), 5U);
    v.clear();
    EXPECT_TRUE(v.empty());
}

TYPED_TEST(access_to, capacity_is_never_less_than_size) {
    TypeParam v;
    for (int i = 0; i < 1000; ++i) {
        append(v, 1, i);
        ASSERT_GE(v.capacity(), v.size());
    }
    EXPECT_EQ(numbers(v), counted(1000));
}

TYPED_TEST(access_to, reserve_makes_room_that_is_then_used_in_place) {
    TypeParam v = filled<TypeParam>(3);
    const std::size_t room = v.capacity() + 500;
    v.reserve(room);
    EXPECT_GE(v.capacity(), room);
    EXPECT_EQ(numbers(v), counted(3));
    const auto* where = v.data();
    while (v.size() < room) append(v, 1, static_cast<int>(v.size()));
    EXPECT_EQ(v.data(), where);
    EXPECT_EQ(numbers(v), counted(room));
}

TYPED_TEST(access_to, reserving_less_changes_nothing) {
    TypeParam v = filled<TypeParam>(30);
    const std::size_t before = v.capacity();
    const auto* where = v.data();
    v.reserve(0);
    v.reserve(30);
    v.reserve(before);
    EXPECT_EQ(v.capacity(), before);
    EXPECT_EQ(v.data(), where);
    EXPECT_EQ(numbers(v), counted(30));
}

// reserve() past max_size() throws length_error and changes nothing. rvector's reserve(1 << 62) returns normally.
TYPED_TEST(access_to, reserving_past_max_size_throws_length_error) {
    TypeParam v = filled<TypeParam>(5);
    const std::size_t before = v.capacity();
    EXPECT_THROW(v.reserve(v.max_size() + 1), std::length_error);
    EXPECT_THROW(v.reserve(static_cast<std::size_t>(-1)), std::length_error);
    if (max_size_is_half<TypeParam>) {
        EXPECT_THROW(v.reserve((SIZE_MAX / 2 + 1) / sizeof(typename TypeParam::value_type) + 1), std::length_error);
    }
    EXPECT_EQ(v.capacity(), before);
    EXPECT_EQ(numbers(v), counted(5));
}

// max_size() fits the address space. fbvector's and amc's are larger.
TYPED_TEST(access_to, max_size_fits_the_address_space) {
    const TypeParam v = filled<TypeParam>(1);
    EXPECT_GT(v.max_size(), 1000U);
    if (max_size_is_half<TypeParam>) {
        EXPECT_LE(v.max_size(), static_cast<std::size_t>(-1) / 2 / sizeof(typename TypeParam::value_type));
    }
}

// shrink_to_fit() gives back memory and keeps the elements. rvector's keeps all memory.
TYPED_TEST(access_to, shrink_to_fit_gives_room_back_and_keeps_the_elements) {
    if constexpr (requires(TypeParam& v) { v.committed_size(); } && !headroom_test::mapped_files_are_cut) {
        GTEST_SKIP() << "this system cuts no file that is mapped";
    }
    TypeParam v = filled<TypeParam>(10);
    v.reserve((std::size_t{1} << 20) / sizeof(typename TypeParam::value_type) + 100);
    const std::size_t before = v.capacity();
    v.shrink_to_fit();
    EXPECT_LT(v.capacity(), before / 2);
    EXPECT_GE(v.capacity(), 10U);
    EXPECT_EQ(numbers(v), counted(10));
    append(v, 10, 10);
    EXPECT_EQ(numbers(v), counted(20));
}

TYPED_TEST(access_to, shrink_to_fit_of_nothing) {
    TypeParam v;
    v.shrink_to_fit();
    v.reserve(100);
    v.shrink_to_fit();
    EXPECT_TRUE(v.empty());
    append(v, 3);
    EXPECT_EQ(numbers(v), counted(3));
}

TYPED_TEST(access_to, equality_compares_lengths_and_elements) {
    using T = typename TypeParam::value_type;
    const TypeParam a = filled<TypeParam>(5);
    TypeParam b = filled<TypeParam>(5);
    EXPECT_TRUE(a == b);
    EXPECT_FALSE(a != b);
    b.back() = make<T>(9);
    EXPECT_FALSE(a == b);
    EXPECT_TRUE(a != b);
    b.pop_back();
    EXPECT_FALSE(a == b);
    EXPECT_TRUE(TypeParam() == TypeParam());
    EXPECT_FALSE(a == TypeParam());
}

TYPED_TEST(access_to, ordering_is_lexicographic) {
    using T = typename TypeParam::value_type;
    const TypeParam a{make<T>(2), make<T>(4), make<T>(6)};
    const TypeParam longer{make<T>(2), make<T>(4), make<T>(6), make<T>(0)};
    const TypeParam later{make<T>(2), make<T>(5)};
    EXPECT_TRUE(a < longer && a <= longer && longer > a && longer >= a);
    EXPECT_TRUE(longer < later);
    EXPECT_TRUE(a <= a && a >= a && !(a < a));    // NOLINT: that is the question
    EXPECT_TRUE(TypeParam() < a);
    EXPECT_TRUE((a <=> later) < 0);
    EXPECT_TRUE((later <=> a) > 0);
    EXPECT_TRUE((a <=> a) == 0);    // NOLINT: that is the question
}

}    // namespace
