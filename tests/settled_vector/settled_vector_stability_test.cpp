// SPDX-License-Identifier: MIT
// Elements never move, except by rehome().
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

#include "support/contract/contract.hpp"

namespace {

using headroom::max_elements;
using headroom::settled_vector;
using headroom_test::counted;
using headroom_test::filled;
using headroom_test::make;
using headroom_test::number;
using headroom_test::numbers;
using headroom_test::numbers_list;

template <class Container>
class stability_of : public contract<Container> {};
using subjects = testing::Types<settled_vector<int>, settled_vector<std::string>, settled_vector<std::unique_ptr<int>>>;
TYPED_TEST_SUITE(stability_of, subjects);

TYPED_TEST(stability_of, a_million_appends_move_nothing) {
    using T = typename TypeParam::value_type;
    TypeParam v;
    std::vector<const T*> places;
    for (int i = 0; i < 1'000'000; ++i) {
        v.push_back(make<T>(i));
        if (i % 1000 == 0) places.push_back(&v.back());
    }
    ASSERT_EQ(v.size(), 1'000'000U);
    for (std::size_t i = 0; i < places.size(); ++i) {
        ASSERT_EQ(places[i], &v[i * 1000]);
        ASSERT_EQ(number(*places[i]), static_cast<int>(i * 1000));
    }
}

TYPED_TEST(stability_of, inserting_moves_only_what_lies_behind) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(2000);
    const T* const first = v.data();
    const auto half = v.begin() + 1000;
    // From the end towards the middle: many times the elements, through many commits.
    for (int i = 0; i < 3000; ++i) v.insert(v.end() - 500, make<T>(i));
    v.emplace(v.end() - 1, make<T>(1));
    EXPECT_EQ(v.data(), first);
    EXPECT_TRUE(half == v.begin() + 1000);
    for (std::size_t i = 0; i < 1500; ++i) ASSERT_EQ(number(first[i]), static_cast<int>(i));
}

TYPED_TEST(stability_of, nothing_but_rehome_changes_the_place) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(10);
    const T* const first = v.data();
    v.reserve(v.capacity() * 3 + 1);
    EXPECT_EQ(v.data(), first);
    v.resize(v.capacity() + 1);
    EXPECT_EQ(v.data(), first);
    v.erase(v.begin() + 10, v.end());
    v.shrink_to_fit();
    EXPECT_EQ(v.data(), first);
    v.append_default_init(100);
    v.resize(10);
    EXPECT_EQ(numbers(v), counted(10));
    v.clear();
    v.shrink_to_fit();
    v.push_back(make<T>(0));
    EXPECT_EQ(v.data(), first);
    if constexpr (std::is_copy_constructible_v<T>) {
        v.assign(5000, make<T>(3));
        EXPECT_EQ(v.data(), first);
        v = filled<TypeParam>(20, 7);    // a temporary: takes over its reservation
        const T* const taken = v.data();
        const TypeParam longer = filled<TypeParam>(4000);
        v = longer;
        EXPECT_EQ(v.data(), taken);
    }
}

TYPED_TEST(stability_of, pointers_survive_moving_and_swapping_the_vector) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(100);
    const T* const fifth = &v[5];
    TypeParam w(std::move(v));
    EXPECT_EQ(&w[5], fifth);
    TypeParam x;
    x.swap(w);
    EXPECT_EQ(&x[5], fifth);
    TypeParam y = filled<TypeParam>(3);
    y = std::move(x);
    EXPECT_EQ(&y[5], fifth);
    EXPECT_EQ(number(*fifth), 5);
}

TYPED_TEST(stability_of, rehome_makes_a_larger_reservation_and_keeps_the_elements) {
    using T = typename TypeParam::value_type;
    TypeParam v(max_elements{3000});
    headroom_test::append(v, 3000);
    EXPECT_THROW(v.push_back(make<T>(1)), std::length_error);
    v.rehome(max_elements{10000});
    EXPECT_EQ(v.max_size(), 10000U);
    EXPECT_EQ(numbers(v), counted(3000));
    headroom_test::append(v, 7000, 3000);
    EXPECT_EQ(numbers(v), counted(10000));
    EXPECT_THROW(v.push_back(make<T>(1)), std::length_error);
}

TYPED_TEST(stability_of, rehome_may_shrink_down_to_the_size_and_no_further) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(100);
    const T* const first = v.data();
    const std::size_t before = v.max_size();
    EXPECT_THROW(v.rehome(max_elements{99}), std::length_error);
    EXPECT_EQ(v.data(), first);
    EXPECT_EQ(v.max_size(), before);
    v.rehome(max_elements{100});
    EXPECT_EQ(v.max_size(), 100U);
    EXPECT_EQ(numbers(v), counted(100));
    EXPECT_THROW(v.emplace_back(), std::length_error);
}

TYPED_TEST(stability_of, rehome_of_nothing) {
    TypeParam v;
    v.rehome(max_elements{50});
    EXPECT_EQ(v.max_size(), 50U);
    EXPECT_TRUE(v.empty());
    TypeParam taken(std::move(v));
    v.rehome(max_elements{60});    // owns nothing
    EXPECT_EQ(v.max_size(), 60U);
    headroom_test::append(v, 60);
    EXPECT_EQ(numbers(v), counted(60));
    EXPECT_TRUE(taken.empty());
}

// Elements whose move may throw are copied, so that the old reservation stays whole until the new one is.
TEST(stability_of_throwing_elements, a_rehome_that_throws_changes_nothing) {
    using headroom_test::throwing;
    const long live = headroom_test::book.live;
    {
        settled_vector<throwing> v = filled<settled_vector<throwing>>(50);
        const throwing* const first = v.data();
        const std::size_t reservations = headroom::reservations().size();
        for (long k = 1; k <= 50; ++k) {
            headroom_test::open_book(k);
            EXPECT_THROW(v.rehome(max_elements{1000}), headroom_test::planned_failure);
            headroom_test::open_book();
            ASSERT_EQ(v.data(), first);
            ASSERT_EQ(numbers(v), counted(50));
        }
        EXPECT_EQ(headroom::reservations().size(), reservations);
        v.rehome(max_elements{1000});
        EXPECT_EQ(numbers(v), counted(50));
    }
    EXPECT_EQ(headroom_test::book.live, live);
}

// Advantage in the document: a pointer's vector is easy to find, since a vector's range never changes.
TEST(stability_of_ranges, every_element_and_all_that_is_reserved_belong_to_the_vector) {
    settled_vector<int> v(max_elements{1'000'000});
    headroom_test::append(v, 1000);
    const auto of_first = headroom::owner_of(&v.front());
    const auto of_last = headroom::owner_of(&v.back());
    const auto of_unused = headroom::owner_of(v.data() + 999'999);
    ASSERT_TRUE(of_first && of_last && of_unused);
    EXPECT_EQ(of_first->base, v.data());
    EXPECT_EQ(of_last->base, v.data());
    EXPECT_EQ(of_unused->base, v.data());
    EXPECT_GE(of_first->reserved, 4'000'000U);
    EXPECT_GE(of_first->committed, 4000U);
    const int elsewhere = 0;
    EXPECT_FALSE(headroom::owner_of(&elsewhere));
}

}    // namespace
