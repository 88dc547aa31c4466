// SPDX-License-Identifier: MIT
// Bulk operations on more elements than one step commits: values inside the container, an exception in a late step, and linear
// traversal.
#include <list>
#include <stdexcept>
#include <vector>

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
class large : public contract<Container> {};
// Elements in about 1 MiB; an odd number.
template <class Container>
constexpr std::size_t many_in = (std::size_t{1} << 20) / sizeof(typename Container::value_type) + 13;
TYPED_TEST_SUITE(large, subjects);

TYPED_TEST(large, constructors) {
    using T = typename TypeParam::value_type;
    const std::size_t many = many_in<TypeParam>;
    const TypeParam defaults(many);
    ASSERT_EQ(defaults.size(), many);
    for (const T& x : defaults) ASSERT_TRUE(x == T());
    EXPECT_EQ(numbers(TypeParam(many, make<T>(7))), numbers_list(many, 7));
    const TypeParam source = filled<TypeParam>(many);
    EXPECT_EQ(numbers(source), counted(many));
    EXPECT_EQ(numbers(TypeParam(source)), counted(many));
    EXPECT_EQ(numbers(TypeParam(source.data() + 1, source.data() + many)), counted(many - 1, 1));
    const std::list<T> nodes(source.begin(), source.end());
    EXPECT_EQ(numbers(TypeParam(nodes.begin(), nodes.end())), counted(many));
    headroom_test::old_input_range<T> once(counted(many));
    EXPECT_EQ(numbers(TypeParam(once.begin(), once.end())), counted(many));
}

TYPED_TEST(large, assignments_from_shorter_and_from_longer) {
    using T = typename TypeParam::value_type;
    const std::size_t many = many_in<TypeParam>;
    const TypeParam source = filled<TypeParam>(many, 5);
    const headroom_test::forward_range<T> range(counted(many, 9));
    for (const std::size_t before : {std::size_t{0}, std::size_t{20}, many / 2, many + 100}) {
        SCOPED_TRACE(before);
        TypeParam v = filled<TypeParam>(before);
        v = source;
        EXPECT_EQ(numbers(v), counted(many, 5));
        v.resize(before);
        v.assign(many, make<T>(3));
        EXPECT_EQ(numbers(v), numbers_list(many, 3));
        v.resize(before);
        v.assign(range.begin(), range.end());
        EXPECT_EQ(numbers(v), counted(many, 9));
    }
}

TYPED_TEST(large, its_own_element_as_the_value) {
    const std::size_t many = many_in<TypeParam>;
    for (const std::size_t i : {0U, 5U, 9U}) {
        TypeParam v = filled<TypeParam>(10);
        v.resize(many, v[i]);
        numbers_list expected = counted(10);
        expected.resize(many, static_cast<int>(i));
        EXPECT_EQ(numbers(v), expected);

        if (assigns_its_own_element<TypeParam>) {
            TypeParam w = filled<TypeParam>(10);
            w.assign(many, w[i]);
            EXPECT_EQ(numbers(w), numbers_list(many, static_cast<int>(i)));
        }

        TypeParam x = filled<TypeParam>(10);
        x.insert(x.begin() + 5, many, x[i]);
        expected = counted(10);
        expected.insert(expected.begin() + 5, many, static_cast<int>(i));
        EXPECT_EQ(numbers(x), expected);

        TypeParam y = filled<TypeParam>(10);
        y.insert(y.end(), many, y[i]);
        expected = counted(10);
        expected.insert(expected.end(), many, static_cast<int>(i));
        EXPECT_EQ(numbers(y), expected);
    }
}

TYPED_TEST(large, insertions_into_many) {
    using T = typename TypeParam::value_type;
    const std::size_t many = many_in<TypeParam>;
    const headroom_test::forward_range<T> range(counted(many, 9));
    for (const std::size_t quarter : {0U, 2U, 4U}) {
        TypeParam v = filled<TypeParam>(many);
        const auto at = static_cast<std::ptrdiff_t>(many * quarter / 4);
        numbers_list expected = counted(many);
        const numbers_list added = counted(many, 9);
        v.insert(v.begin() + at, range.begin(), range.end());
        expected.insert(expected.begin() + at, added.begin(), added.end());
        v.insert(v.begin() + at, make<T>(1));
        expected.insert(expected.begin() + at, 1);
        v.erase(v.begin() + at / 2, v.begin() + at);
        expected.erase(expected.begin() + at / 2, expected.begin() + at);
        EXPECT_EQ(numbers(v), expected);
    }
}

// [sequence.reqmts]: linear. One pass counts, one reads.
TYPED_TEST(large, a_range_is_walked_at_most_twice) {
    using T = typename TypeParam::value_type;
    const std::size_t many = many_in<TypeParam>;
    const headroom_test::forward_range<T> range(counted(many));
    const auto walked = [](auto operation) {
        headroom_test::increments = 0;
        operation();
        return static_cast<double>(headroom_test::increments) / static_cast<double>(many);
    };
    EXPECT_LE(walked([&] { const TypeParam v(range.begin(), range.end()); }), 2.0);
    TypeParam v = filled<TypeParam>(10);
    EXPECT_LE(walked([&] { v.insert(v.end(), range.begin(), range.end()); }), 2.0);
    // An insertion before elements and an assignment may walk the range once more, to find where the old elements end.
    v = filled<TypeParam>(many / 2);
    EXPECT_LE(walked([&] { v.insert(v.begin() + 3, range.begin(), range.end()); }), 3.0);
    v = filled<TypeParam>(many / 2);
    EXPECT_LE(walked([&] { v.assign(range.begin(), range.end()); }), 3.0);
}

TYPED_TEST(large, an_exception_in_any_step_leaks_nothing_and_changes_nothing) {
    using T = typename TypeParam::value_type;
    if constexpr (headroom_test::is_tracked<T>) {
        const std::size_t many = many_in<TypeParam>;
        for (std::size_t part = 1; part < 8; ++part) {
            const long k = static_cast<long>(many * part / 8);
            TypeParam v = filled<TypeParam>(10);
            headroom_test::open_book(k);
            EXPECT_THROW(v.resize(many), headroom_test::planned_failure);
            headroom_test::open_book();
            ASSERT_EQ(numbers(v), counted(10));
            const T value = make<T>(3);
            headroom_test::open_book(k);
            EXPECT_THROW(v.resize(many, value), headroom_test::planned_failure);
            headroom_test::open_book();
            ASSERT_EQ(numbers(v), counted(10));
            headroom_test::open_book(k);
            EXPECT_THROW(TypeParam w(many, value), headroom_test::planned_failure);
            headroom_test::open_book(k);
            EXPECT_THROW(v.assign(many, value), headroom_test::planned_failure);
            headroom_test::open_book();
            (void)numbers(v);
        }
    } else {
        TypeParam v = filled<TypeParam>(10);
        EXPECT_THROW(v.resize(v.max_size() + 1), std::length_error);
        EXPECT_EQ(numbers(v), counted(10));
    }
}

}    // namespace
