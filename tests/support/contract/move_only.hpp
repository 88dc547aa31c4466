// SPDX-License-Identifier: MIT
// [vector] with move-only elements: every operation that needs no copy compiles and works. rvector's resize and erase do not
// compile.
#include <algorithm>
#include <iterator>

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
class move_only_in : public contract<Container> {};
TYPED_TEST_SUITE(move_only_in, subjects);

TYPED_TEST(move_only_in, constructors_that_copy_nothing) {
    using T = typename TypeParam::value_type;
    const TypeParam counted_ones(5);
    EXPECT_EQ(counted_ones.size(), 5U);
    headroom_test::single_pass<T> source(counted(20));
    TypeParam built;
    for (auto i = source.begin(); i != source.end(); ++i) built.push_back(*i);
    const TypeParam moved(std::make_move_iterator(built.begin()), std::make_move_iterator(built.end()));
    EXPECT_EQ(numbers(moved), counted(20));
    TypeParam taken(std::move(built));
    EXPECT_EQ(taken.size(), 20U);
    TypeParam assigned;
    assigned = std::move(taken);
    EXPECT_EQ(assigned.size(), 20U);
}

TYPED_TEST(move_only_in, appending_grows_through_every_capacity) {
    TypeParam v = filled<TypeParam>(3000);
    EXPECT_EQ(numbers(v), counted(3000));
    v.reserve(v.capacity() + 1);
    EXPECT_EQ(numbers(v), counted(3000));
}

TYPED_TEST(move_only_in, insert_and_emplace_at_every_place) {
    using T = typename TypeParam::value_type;
    at_every_place<TypeParam>([](TypeParam& v, std::size_t at) {
        numbers_list expected = numbers(v);
        expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(at), {700, 701, 500, 501});
        const auto inserted = v.insert(nth(v, at), make<T>(501));
        EXPECT_EQ(inserted - v.begin(), static_cast<std::ptrdiff_t>(at));
        const auto emplaced = v.emplace(nth(v, at), make<T>(500));
        EXPECT_EQ(emplaced - v.begin(), static_cast<std::ptrdiff_t>(at));
        TypeParam source = filled<TypeParam>(2, 700);
        v.insert(nth(v, at), std::make_move_iterator(source.begin()), std::make_move_iterator(source.end()));
        EXPECT_EQ(numbers(v), expected);
    });
}

TYPED_TEST(move_only_in, assign_moves_from_a_range) {
    for (const std::size_t before : {0U, 10U, 90U}) {
        TypeParam source = filled<TypeParam>(30, 100);
        TypeParam v = filled<TypeParam>(before);
        v.assign(std::make_move_iterator(source.begin()), std::make_move_iterator(source.end()));
        EXPECT_EQ(numbers(v), counted(30, 100));
    }
}

TYPED_TEST(move_only_in, erase_pop_back_clear_and_resize) {
    TypeParam v = filled<TypeParam>(10);
    v.erase(v.begin() + 2);
    EXPECT_EQ(numbers(v), (numbers_list{0, 1, 3, 4, 5, 6, 7, 8, 9}));
    v.erase(v.begin() + 1, v.begin() + 3);
    EXPECT_EQ(numbers(v), (numbers_list{0, 4, 5, 6, 7, 8, 9}));
    v.pop_back();
    v.resize(3);
    EXPECT_EQ(numbers(v), (numbers_list{0, 4, 5}));
    v.resize(1000);
    EXPECT_EQ(v.size(), 1000U);
    EXPECT_EQ(number(v[2]), 5);
    EXPECT_EQ(erase_if(v, [](const auto& x) { return number(x) != 4; }), 999U);
    EXPECT_EQ(numbers(v), (numbers_list{4}));
    v.clear();
    EXPECT_TRUE(v.empty());
}

TYPED_TEST(move_only_in, shrink_to_fit_and_swap) {
    TypeParam v = headroom_test::roomy<TypeParam>(10, 100000);
    v.shrink_to_fit();
    EXPECT_EQ(numbers(v), counted(10));
    TypeParam w = filled<TypeParam>(2);
    v.swap(w);
    EXPECT_EQ(numbers(w), counted(10));
    EXPECT_EQ(numbers(v), counted(2));
}

TYPED_TEST(move_only_in, algorithms_that_permute) {
    TypeParam v = filled<TypeParam>(100);
    std::reverse(v.begin(), v.end());
    std::sort(v.begin(), v.end(), [](const auto& a, const auto& b) { return number(a) < number(b); });
    std::rotate(v.begin(), v.begin() + 1, v.end());
    EXPECT_EQ(number(v.back()), 0);
    EXPECT_EQ(number(v.front()), 1);
}

}    // namespace
