// SPDX-License-Identifier: MIT
// Extensions of headroom's containers to std::vector: try_ and unchecked_ forms, growth without initialization.
#include <stdexcept>
#include <type_traits>

#include "support/contract/contract.hpp"

namespace {

using headroom_test::append;
using headroom_test::counted;
using headroom_test::filled;
using headroom_test::full;
using headroom_test::make;
using headroom_test::number;
using headroom_test::numbers;
using headroom_test::numbers_list;

template <class Container>
class beyond : public contract<Container> {};
TYPED_TEST_SUITE(beyond, subjects);

TYPED_TEST(beyond, try_push_back_returns_the_new_element) {
    using T = typename TypeParam::value_type;
    for (const bool tight : {false, true}) {
        TypeParam v = tight ? full<TypeParam>(8) : headroom_test::roomy<TypeParam>(8, 3);
        numbers_list expected = numbers(v);
        T* const made = v.try_push_back(make<T>(500));
        ASSERT_EQ(made, std::addressof(v.back()));
        expected.push_back(500);
        T* const emplaced = v.try_emplace_back(make<T>(501));
        ASSERT_EQ(emplaced, std::addressof(v.back()));
        expected.push_back(501);
        if constexpr (std::is_copy_constructible_v<T>) {
            const T value = make<T>(502);
            T* const copied = v.try_push_back(value);
            ASSERT_EQ(copied, std::addressof(v.back()));
            expected.push_back(502);
        }
        EXPECT_EQ(numbers(v), expected);
    }
}

TYPED_TEST(beyond, try_push_back_of_its_own_element) {
    using T = typename TypeParam::value_type;
    if constexpr (std::is_copy_constructible_v<T>) {
        TypeParam v = full<TypeParam>(8);
        ASSERT_NE(v.try_push_back(v[3]), nullptr);
        EXPECT_EQ(number(v.back()), 3);
        v = full<TypeParam>(8);
        ASSERT_NE(v.try_emplace_back(v[4]), nullptr);
        EXPECT_EQ(number(v.back()), 4);
    } else {
        TypeParam v = full<TypeParam>(8);
        ASSERT_NE(v.try_push_back(std::move(v[3])), nullptr);
        EXPECT_EQ(number(v.back()), 3);
    }
}

TYPED_TEST(beyond, a_try_form_lets_the_elements_own_exception_through) {
    using T = typename TypeParam::value_type;
    if constexpr (headroom_test::is_tracked<T>) {
        for (const bool tight : {false, true}) {
            TypeParam v = tight ? full<TypeParam>(8) : headroom_test::roomy<TypeParam>(8, 3);
            const numbers_list before = numbers(v);
            headroom_test::open_book(1);
            EXPECT_THROW((void)v.try_emplace_back(5), headroom_test::planned_failure);
            headroom_test::open_book();
            EXPECT_EQ(numbers(v), before);
        }
    } else {
        EXPECT_NE(filled<TypeParam>(1).try_emplace_back(), nullptr);
    }
}

TYPED_TEST(beyond, unchecked_forms_append_where_room_is_known) {
    using T = typename TypeParam::value_type;
    TypeParam v;
    v.reserve(30);
    for (int i = 0; i < 30; i += 2) {
        T& pushed = v.unchecked_push_back(make<T>(i));
        EXPECT_EQ(std::addressof(pushed), std::addressof(v.back()));
        T& emplaced = v.unchecked_emplace_back(make<T>(i + 1));
        EXPECT_EQ(std::addressof(emplaced), std::addressof(v.back()));
    }
    EXPECT_EQ(numbers(v), counted(30));
}

TYPED_TEST(beyond, try_pop_back_says_whether_there_was_one) {
    TypeParam v = filled<TypeParam>(2);
    EXPECT_TRUE(v.try_pop_back());
    EXPECT_EQ(numbers(v), counted(1));
    EXPECT_TRUE(v.try_pop_back());
    EXPECT_FALSE(v.try_pop_back());
    EXPECT_FALSE(TypeParam().try_pop_back());
    EXPECT_TRUE(v.empty());
}

TYPED_TEST(beyond, resize_default_init_keeps_what_was_there) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(8);
    const std::size_t more = v.capacity() + 20;
    v.resize_default_init(more);
    ASSERT_EQ(v.size(), more);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(number(v[i]), static_cast<int>(i));
    // The other elements are writable; types with their own default constructor are constructed.
    for (std::size_t i = 8; i < more; ++i) {
        if constexpr (!std::is_trivially_default_constructible_v<T>) {
            EXPECT_TRUE(v[i] == T());
        }
        v[i] = make<T>(static_cast<int>(i));
    }
    EXPECT_EQ(numbers(v), counted(more));
    v.resize_default_init(5);
    EXPECT_EQ(numbers(v), counted(5));
}

TYPED_TEST(beyond, append_default_init_returns_the_first_new_element) {
    using T = typename TypeParam::value_type;
    for (const bool tight : {false, true}) {
        TypeParam v = tight ? full<TypeParam>(8) : headroom_test::roomy<TypeParam>(8, 5);
        const std::size_t before = v.size();
        const auto first = v.append_default_init(5);
        ASSERT_EQ(first - v.data(), static_cast<std::ptrdiff_t>(before));
        ASSERT_EQ(v.size(), before + 5);
        int n = static_cast<int>(before);
        for (auto i = first; i != v.data() + v.size(); ++i) *i = make<T>(n++);
        EXPECT_EQ(numbers(v), counted(before + 5));
        const auto none = v.append_default_init(0);
        EXPECT_EQ(none, v.data() + v.size());
    }
}

TYPED_TEST(beyond, resize_and_overwrite_keeps_as_many_as_the_operation_says) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(4);
    const std::size_t more = v.capacity() + 10;
    v.resize_and_overwrite(more, [](T* elements, std::size_t count) {
        for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(number(elements[i]), static_cast<int>(i));
        for (std::size_t i = 4; i < count; ++i) elements[i] = make<T>(static_cast<int>(i));
        return count - 3;
    });
    EXPECT_EQ(numbers(v), counted(more - 3));
    v.resize_and_overwrite(6, [](T*, std::size_t count) { return count; });
    EXPECT_EQ(numbers(v), counted(6));
    v.resize_and_overwrite(0, [](T*, std::size_t) { return std::size_t{0}; });
    EXPECT_TRUE(v.empty());
}

TYPED_TEST(beyond, growth_without_initialisation_past_max_size_throws_length_error) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(3);
    EXPECT_THROW(v.resize_default_init(v.max_size() + 1), std::length_error);
    EXPECT_THROW(v.append_default_init(v.max_size()), std::length_error);
    EXPECT_THROW(v.resize_and_overwrite(v.max_size() + 1, [](T*, std::size_t n) { return n; }), std::length_error);
    EXPECT_EQ(numbers(v), counted(3));
}

TYPED_TEST(beyond, growth_without_initialisation_is_strong_when_a_constructor_throws) {
    using T = typename TypeParam::value_type;
    if constexpr (headroom_test::is_tracked<T>) {
        for (long k = 1; k <= 5; ++k) {
            TypeParam v = full<TypeParam>(8);
            const numbers_list before = numbers(v);
            headroom_test::open_book(k);
            EXPECT_THROW((void)v.append_default_init(5), headroom_test::planned_failure);
            headroom_test::open_book(k);
            EXPECT_THROW(v.resize_default_init(v.size() + 5), headroom_test::planned_failure);
            headroom_test::open_book();
            EXPECT_EQ(numbers(v), before);
        }
    } else {
        EXPECT_TRUE(std::is_nothrow_default_constructible_v<T>);
    }
}

}    // namespace
