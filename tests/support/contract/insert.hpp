// SPDX-License-Identifier: MIT
// [vector.modifiers], [sequence.reqmts]: push_back, emplace_back, every insert and emplace, at each place, with and without spare
// capacity, also with values from the container itself.
#include <initializer_list>
#include <list>
#include <memory>
#include <type_traits>

#include "odd/kinds.hpp"
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
class insert_into : public contract<Container> {};
TYPED_TEST_SUITE(insert_into, subjects);

// Returns `v` with `added` inserted at `position`: the expected content.
[[maybe_unused]] numbers_list with(numbers_list v, std::size_t position, const numbers_list& added) {
    v.insert(v.begin() + static_cast<std::ptrdiff_t>(position), added.begin(), added.end());
    return v;
}

TYPED_TEST(insert_into, push_back_of_a_value_copies_it) {
    using T = typename TypeParam::value_type;
    TypeParam v;
    const T value = make<T>(3);
    v.push_back(value);
    v.push_back(value);
    EXPECT_EQ(numbers(v), (numbers_list{3, 3}));
    EXPECT_EQ(number(value), 3);
}

TYPED_TEST(insert_into, push_back_of_a_temporary_moves_it) {
    using T = typename TypeParam::value_type;
    TypeParam v = headroom_test::roomy<TypeParam>(1, 1);
    T value = make<T>(3);
    headroom_test::open_book();
    v.push_back(std::move(value));
    EXPECT_EQ(headroom_test::book.copies, 0);
    EXPECT_EQ(numbers(v), (numbers_list{0, 3}));
}

TYPED_TEST(insert_into, emplace_back_builds_in_place_and_returns_it) {
    using T = typename TypeParam::value_type;
    TypeParam v = headroom_test::roomy<TypeParam>(1, 1);
    headroom_test::open_book();
    T& made = v.emplace_back(make<T>(5));
    EXPECT_EQ(std::addressof(made), std::addressof(v.back()));
    EXPECT_EQ(number(made), 5);
    EXPECT_EQ(headroom_test::book.copies, 0);
    if constexpr (std::is_constructible_v<T, int> && headroom_test::is_tracked<T>) {
        v.reserve(v.size() + 1);
        headroom_test::open_book();
        v.emplace_back(6);
        EXPECT_EQ(headroom_test::book.built, 1);
        EXPECT_EQ(number(v.back()), 6);
    }
}

TYPED_TEST(insert_into, emplace_back_of_no_arguments_value_initialises) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(100);
    v.clear();
    v.emplace_back();
    EXPECT_TRUE(v.back() == T());
}

TYPED_TEST(insert_into, appending_grows_through_every_capacity) {
    TypeParam v;
    append(v, 5000);
    EXPECT_EQ(numbers(v), counted(5000));
}

// Catches growth by one element at a time.
TYPED_TEST(insert_into, appending_changes_capacity_rarely) {
    TypeParam v;
    int changes = 0;
    std::size_t before = v.capacity();
    for (int i = 0; i < 5000; ++i) {
        append(v, 1, i);
        if (v.capacity() != before) ++changes;
        before = v.capacity();
    }
    // Each growth must add many elements, or a page of them where one element is that large.
    const std::size_t bytes = 5000 * sizeof(typename TypeParam::value_type);
    EXPECT_LE(static_cast<std::size_t>(changes), 20 + bytes / 4096);
}

TYPED_TEST(insert_into, one_copy_at_every_place) {
    using T = typename TypeParam::value_type;
    at_every_place<TypeParam>([](TypeParam& v, std::size_t at) {
        const numbers_list expected = with(numbers(v), at, {500});
        const T value = make<T>(500);
        const auto result = v.insert(nth(v, at), value);
        EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
        EXPECT_EQ(numbers(v), expected);
    });
}

TYPED_TEST(insert_into, one_moved_at_every_place) {
    using T = typename TypeParam::value_type;
    at_every_place<TypeParam>([](TypeParam& v, std::size_t at) {
        const numbers_list expected = with(numbers(v), at, {500});
        const auto result = v.insert(nth(v, at), make<T>(500));
        EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
        EXPECT_EQ(numbers(v), expected);
    });
}

TYPED_TEST(insert_into, one_emplaced_at_every_place) {
    using T = typename TypeParam::value_type;
    at_every_place<TypeParam>([](TypeParam& v, std::size_t at) {
        const numbers_list expected = with(numbers(v), at, {500});
        const auto result = v.emplace(nth(v, at), make<T>(500));
        EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
        EXPECT_EQ(numbers(v), expected);
    });
}

// Inserting at end() keeps the old last element. rvector loses it.
TYPED_TEST(insert_into, at_the_end_keeps_the_last_element) {
    using T = typename TypeParam::value_type;
    TypeParam v = filled<TypeParam>(2);
    v.insert(v.end(), make<T>(2));
    v.emplace(v.cend(), make<T>(3));
    EXPECT_EQ(numbers(v), counted(4));
}

TYPED_TEST(insert_into, into_nothing) {
    using T = typename TypeParam::value_type;
    TypeParam v;
    const auto first = v.insert(v.begin(), make<T>(1));
    EXPECT_TRUE(first == v.begin());
    EXPECT_EQ(numbers(v), (numbers_list{1}));
    TypeParam w;
    const auto first_of_three = w.insert(w.end(), 3, make<T>(2));
    EXPECT_TRUE(first_of_three == w.begin());
    EXPECT_EQ(numbers(w), (numbers_list{2, 2, 2}));
    TypeParam x;
    const auto emplaced = x.emplace(x.cbegin(), make<T>(3));
    EXPECT_TRUE(emplaced == x.begin());
    EXPECT_EQ(numbers(x), (numbers_list{3}));
}

TYPED_TEST(insert_into, copies_of_a_value_at_every_place) {
    using T = typename TypeParam::value_type;
    for (const std::size_t count : {1U, 3U, 7U, 30U}) {
        SCOPED_TRACE(count);
        at_every_place<TypeParam>([count](TypeParam& v, std::size_t at) {
            const numbers_list expected = with(numbers(v), at, numbers_list(count, 500));
            const T value = make<T>(500);
            const auto result = v.insert(nth(v, at), count, value);
            EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
            EXPECT_EQ(numbers(v), expected);
        });
    }
}

TYPED_TEST(insert_into, more_than_doubles_it_at_every_place) {
    using T = typename TypeParam::value_type;
    at_every_place<TypeParam>([](TypeParam& v, std::size_t at) {
        const std::size_t count = v.capacity() * 2 + 3;
        const numbers_list expected = with(numbers(v), at, numbers_list(count, 500));
        v.insert(nth(v, at), count, make<T>(500));
        EXPECT_EQ(numbers(v), expected);
    });
}

TYPED_TEST(insert_into, a_random_access_range_at_every_place) {
    using T = typename TypeParam::value_type;
    const TypeParam source = filled<TypeParam>(30, 500);
    for (const std::size_t count : {1U, 3U, 30U}) {
        SCOPED_TRACE(count);
        at_every_place<TypeParam>([&](TypeParam& v, std::size_t at) {
            const numbers_list expected = with(numbers(v), at, counted(count, 500));
            const T* first = source.data();
            const auto result = v.insert(nth(v, at), first, first + count);
            EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
            EXPECT_EQ(numbers(v), expected);
        });
    }
}

TYPED_TEST(insert_into, a_forward_range_at_every_place) {
    using T = typename TypeParam::value_type;
    for (const std::size_t count : {1U, 3U, 30U}) {
        SCOPED_TRACE(count);
        const headroom_test::forward_range<T> source(counted(count, 500));
        at_every_place<TypeParam>([&](TypeParam& v, std::size_t at) {
            const numbers_list expected = with(numbers(v), at, counted(count, 500));
            const auto result = v.insert(nth(v, at), source.begin(), source.end());
            EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
            EXPECT_EQ(numbers(v), expected);
        });
    }
}

TYPED_TEST(insert_into, a_single_pass_range_at_every_place) {
    using T = typename TypeParam::value_type;
    for (const std::size_t count : {1U, 3U, 60U}) {
        SCOPED_TRACE(count);
        at_every_place<TypeParam>([&](TypeParam& v, std::size_t at) {
            headroom_test::old_input_range<T> source(counted(count, 500));
            const numbers_list expected = with(numbers(v), at, counted(count, 500));
            const auto result = v.insert(nth(v, at), source.begin(), source.end());
            EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
            EXPECT_EQ(numbers(v), expected);
        });
    }
}

TYPED_TEST(insert_into, a_braced_list_at_every_place) {
    using T = typename TypeParam::value_type;
    at_every_place<TypeParam>([](TypeParam& v, std::size_t at) {
        const numbers_list expected = with(numbers(v), at, {500, 400, 300});
        const auto result = v.insert(nth(v, at), {make<T>(500), make<T>(400), make<T>(300)});
        EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
        EXPECT_EQ(numbers(v), expected);
    });
}

TYPED_TEST(insert_into, nothing_at_every_place) {
    using T = typename TypeParam::value_type;
    at_every_place<TypeParam>([](TypeParam& v, std::size_t at) {
        const numbers_list expected = numbers(v);
        const auto* where = v.data();
        const auto place_of = static_cast<std::ptrdiff_t>(at);
        const T* none = nullptr;
        const headroom_test::forward_range<T> nothing({});
        headroom_test::old_input_range<T> nothing_once({});
        EXPECT_EQ(v.insert(nth(v, at), 0, make<T>(1)) - v.begin(), place_of);
        EXPECT_EQ(v.insert(nth(v, at), none, none) - v.begin(), place_of);
        EXPECT_EQ(v.insert(nth(v, at), nothing.begin(), nothing.end()) - v.begin(), place_of);
        EXPECT_EQ(v.insert(nth(v, at), nothing_once.begin(), nothing_once.end()) - v.begin(), place_of);
        EXPECT_EQ(v.insert(nth(v, at), std::initializer_list<T>{}) - v.begin(), place_of);
        EXPECT_EQ(numbers(v), expected);
        EXPECT_EQ(v.data(), where);
    });
}

// A range of another type is converted element by element. rvector copies it as bytes.
TYPED_TEST(insert_into, a_range_of_another_type_is_converted) {
    using T = typename TypeParam::value_type;
    if constexpr (std::is_same_v<T, int>) {
        const short source[] = {500, 501, 502};
        at_every_place<TypeParam>([&](TypeParam& v, std::size_t at) {
            const numbers_list expected = with(numbers(v), at, counted(3, 500));
            v.insert(nth(v, at), std::begin(source), std::end(source));
            EXPECT_EQ(numbers(v), expected);
        });
        const unsigned char bytes[] = {1, 255};
        EXPECT_EQ(numbers(TypeParam(std::begin(bytes), std::end(bytes))), (numbers_list{1, 255}));
    } else if constexpr (std::is_same_v<T, std::string>) {
        const char* const source[] = {"500", "501", "502"};
        at_every_place<TypeParam>([&](TypeParam& v, std::size_t at) {
            const numbers_list expected = with(numbers(v), at, counted(3, 500));
            v.insert(nth(v, at), std::begin(source), std::end(source));
            EXPECT_EQ(numbers(v), expected);
        });
    } else {
        // Repeats it from a list, whose elements are not contiguous.
        std::list<T> source;
        for (int i = 500; i < 503; ++i) source.push_back(make<T>(i));
        at_every_place<TypeParam>([&](TypeParam& v, std::size_t at) {
            const numbers_list expected = with(numbers(v), at, counted(3, 500));
            v.insert(nth(v, at), source.cbegin(), source.cend());
            EXPECT_EQ(numbers(v), expected);
        });
    }
}

TYPED_TEST(insert_into, with_room_to_spare_what_lies_before_stays_where_it_is) {
    using T = typename TypeParam::value_type;
    TypeParam v = headroom_test::roomy<TypeParam>(10, 20);
    const auto before = v.begin() + 4;
    const T* where = std::addressof(v[4]);
    v.insert(v.begin() + 5, make<T>(500));
    v.insert(v.begin() + 5, 3, make<T>(500));
    v.push_back(make<T>(501));
    EXPECT_EQ(where, std::addressof(v[4]));
    EXPECT_TRUE(before == v.begin() + 4);
    EXPECT_EQ(number(*before), 4);
}

// --- Values inside the container itself. [sequence.reqmts] forbids only ranges of them.

// rvector reads freed memory here; boost appends an empty element when the container is full.
TYPED_TEST(insert_into, push_back_of_its_own_element) {
    for (const place& which : places) {
        if (which.of_four == 4) continue;
        SCOPED_TRACE(which.name);
        for (const bool tight : {false, true}) {
            TypeParam v = tight ? full<TypeParam>(8) : headroom_test::roomy<TypeParam>(8, 2);
            const std::size_t i = v.size() * which.of_four / 4;
            numbers_list expected = numbers(v);
            expected.push_back(expected[i]);
            v.push_back(v[i]);
            EXPECT_EQ(numbers(v), expected);
        }
    }
}

TYPED_TEST(insert_into, push_back_of_its_own_element_moved) {
    using T = typename TypeParam::value_type;
    for (const bool tight : {false, true}) {
        TypeParam v = tight ? full<TypeParam>(8) : headroom_test::roomy<TypeParam>(8, 2);
        const numbers_list before = numbers(v);
        v.push_back(std::move(v[3]));
        EXPECT_EQ(number(v.back()), 3);
        v[3] = make<T>(3);
        v.pop_back();
        EXPECT_EQ(numbers(v), before);
    }
}

TYPED_TEST(insert_into, emplace_back_of_its_own_element) {
    using T = typename TypeParam::value_type;
    for (const bool tight : {false, true}) {
        for (const std::size_t i : {0U, 5U, 7U}) {
            TypeParam v = tight ? full<TypeParam>(8) : headroom_test::roomy<TypeParam>(8, 2);
            numbers_list expected = numbers(v);
            expected.push_back(headroom_test::emplaced_from_mutable<T>(expected[i]));
            v.emplace_back(v[i]);
            EXPECT_EQ(numbers(v), expected);
        }
    }
}

// The value may lie before, at or after the position, and is shifted itself. rvector uses freed memory.
TYPED_TEST(insert_into, one_copy_of_its_own_element) {
    for (const place& which : places) {
        if (which.of_four == 4) continue;
        SCOPED_TRACE(which.name);
        at_every_place<TypeParam>([&](TypeParam& v, std::size_t at) {
            const std::size_t i = v.size() * which.of_four / 4;
            const numbers_list before = numbers(v);
            const auto result = v.insert(nth(v, at), v[i]);
            EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
            EXPECT_EQ(numbers(v), with(before, at, {before[i]}));
        });
    }
}

// fbvector, amc and the predecessor of settled_vector build the element from one that they already moved or destroyed.
TYPED_TEST(insert_into, emplace_of_its_own_element) {
    using T = typename TypeParam::value_type;
    for (const place& which : places) {
        if (which.of_four == 4) continue;
        SCOPED_TRACE(which.name);
        at_every_place<TypeParam>([&](TypeParam& v, std::size_t at) {
            const std::size_t i = v.size() * which.of_four / 4;
            const numbers_list before = numbers(v);
            const auto result = v.emplace(nth(v, at), v[i]);
            EXPECT_EQ(result - v.begin(), static_cast<std::ptrdiff_t>(at));
            EXPECT_EQ(numbers(v), with(before, at, {headroom_test::emplaced_from_mutable<T>(before[i])}));
        });
    }
}

TYPED_TEST(insert_into, copies_of_its_own_element) {
    for (const place& which : places) {
        if (which.of_four == 4) continue;
        SCOPED_TRACE(which.name);
        for (const std::size_t count : {1U, 3U, 30U}) {
            SCOPED_TRACE(count);
            at_every_place<TypeParam>([&](TypeParam& v, std::size_t at) {
                const std::size_t i = v.size() * which.of_four / 4;
                const numbers_list before = numbers(v);
                v.insert(nth(v, at), count, v[i]);
                EXPECT_EQ(numbers(v), with(before, at, numbers_list(count, before[i])));
            });
        }
    }
}

// rvector destroys the value before copying it.
TYPED_TEST(insert_into, assign_copies_of_its_own_element) {
    if (!assigns_its_own_element<TypeParam>) GTEST_SKIP() << "nor need it";
    for (const std::size_t i : {0U, 4U, 7U}) {
        for (const bool tight : {false, true}) {
            for (const std::size_t count : {1U, 5U, 8U, 20U}) {
                TypeParam v = tight ? full<TypeParam>(8) : headroom_test::roomy<TypeParam>(8, 30);
                v.assign(count, v[i]);
                EXPECT_EQ(numbers(v), numbers_list(count, static_cast<int>(i)));
            }
            TypeParam v = full<TypeParam>(8);
            const std::size_t more = v.capacity() + 1;
            v.assign(more, v[i]);
            EXPECT_EQ(numbers(v), numbers_list(more, static_cast<int>(i)));
        }
    }
}

TYPED_TEST(insert_into, resize_with_its_own_element) {
    for (const std::size_t i : {0U, 7U}) {
        for (const bool tight : {false, true}) {
            TypeParam v = tight ? full<TypeParam>(8) : headroom_test::roomy<TypeParam>(8, 30);
            const numbers_list before = numbers(v);
            v.resize(before.size() + 20, v[i]);
            EXPECT_EQ(numbers(v), with(before, before.size(), numbers_list(20, before[i])));
        }
    }
}

}    // namespace
