// SPDX-License-Identifier: MIT
// Labels: core
// Every operation on a range, over every kind of range (ranges.hpp) x {no failure, the n-th step of the range throws, the n-th
// allocation fails}.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include <gtest/gtest.h>

#include "odd/ranges.hpp"
#include "support/allocators.hpp"
#include "support/iterators.hpp"
#include "support/vectors.hpp"

namespace {

using namespace headroom_test;

// True if the allocator counts and fails allocations; otherwise system calls are refused.
template <class Container>
inline constexpr bool counts_allocations = false;
template <class T>
inline constexpr bool counts_allocations<headroom::vector<T, headroom_test::minimal_allocator<T>>> = true;

// Functions compiled once for each kind of range and container; the checks call them through pointers.
template <class Container>
struct kind_of_range {
    bool once;
    bool size_is_unknown;
    // Both store the number of calls of begin().
    Container (*made_of)(std::size_t count, int& begun);
    void (*performed)(Container& v, operation what, std::size_t count, std::size_t fails_at, int& begun);
};
template <class Container, class Range>
Container made_of(std::size_t count, int& begun) {
    Range values(count);
    Container v(headroom::from_range, values);
    begun = values.begun;
    return v;
}
template <class Container, class Range>
void performed(Container& v, operation what, std::size_t count, std::size_t fails_at, int& begun) {
    Range values(count, fails_at);
    perform(v, what, values);
    begun = values.begun;
}

template <class Container>
void holds_every_element(const kind_of_range<Container>& kind) {
    for (const std::size_t count : {0U, 1U, 7U, 40U}) {
        {
            int begun = 0;
            const Container v = kind.made_of(count, begun);
            EXPECT_EQ(strings(v), new_elements(count));
            EXPECT_EQ(begun, 1);
        }
        for (const std::size_t old : {0U, 3U, 30U}) {
            for (const operation what : {operation::append, operation::insert, operation::assign}) {
                SCOPED_TRACE(std::to_string(count) + " to " + std::to_string(old) + ", operation " +
                             std::to_string(static_cast<int>(what)));
                Container v = old_elements<Container>(old);
                int begun = 0;
                kind.performed(v, what, count, 0, begun);
                EXPECT_EQ(strings(v), expected(what, old, count));
                EXPECT_EQ(begun, 1);
            }
        }
    }
}

// Each step of the range throws in turn: nothing leaks, and a single-pass range leaves no element behind.
template <class Container>
void bears_a_range_that_fails(const kind_of_range<Container>& kind) {
    for (const operation what : {operation::append, operation::insert, operation::assign}) {
        for (std::size_t k = 1; k < 30; k += 3) {
            Container v = old_elements<Container>(9);
            int begun = 0;
            try {
                kind.performed(v, what, 12, k, begun);
            } catch (const broken_range&) {
                if (kind.once && what != operation::assign) {
                    EXPECT_EQ(strings(v), strings(old_elements<model>(9)));
                }
                for (const std::string& x : v) EXPECT_LT(x.size(), 100U);
            }
        }
    }
}

// Each allocation is refused in turn: no effect, with the elements still in place.
template <class Container>
void bears_refused_memory(const kind_of_range<Container>& kind) {
    for (const operation what : {operation::append, operation::insert}) {
        bool refused = true;
        for (long k = 1; refused && k != 30; ++k) {
            Container v = old_elements<Container>(9);
            const auto* const data = v.data();
            const std::size_t capacity = v.capacity();
            int begun = 0;
            headroom_test::open_accounts(k);
            try {
                kind.performed(v, what, 70, 0, begun);
                refused = false;
            } catch (const std::bad_alloc&) {
                EXPECT_EQ(strings(v), strings(old_elements<model>(9)));
                if (kind.size_is_unknown || !kind.once) {
                    EXPECT_EQ(v.data(), data);
                    EXPECT_EQ(v.capacity(), capacity);
                }
            }
            headroom_test::open_accounts();
        }
        EXPECT_FALSE(refused);
    }
}

template <class Container, walks Walks, sized Sized, reads Reads>
void one_kind() {
    using range = odd_range<Walks, Sized, Reads>;
    SCOPED_TRACE("walks " + std::to_string(static_cast<int>(Walks)) + ", sized " + std::to_string(static_cast<int>(Sized)) +
                 ", reads " + std::to_string(static_cast<int>(Reads)));
    const kind_of_range<Container> kind{Walks == walks::once, Sized == sized::by_neither, made_of<Container, range>,
                                        performed<Container, range>};
    holds_every_element(kind);
    bears_a_range_that_fails(kind);
    if constexpr (counts_allocations<Container>) bears_refused_memory(kind);
}

template <class Container, walks Walks, sized Sized>
void all_reads() {
    one_kind<Container, Walks, Sized, reads::reference>();
    one_kind<Container, Walks, Sized, reads::value>();
    one_kind<Container, Walks, Sized, reads::stand_in>();
}
template <class Container, walks Walks>
void all_sizes() {
    all_reads<Container, Walks, sized::by_size>();
    all_reads<Container, Walks, sized::by_sentinel>();
    all_reads<Container, Walks, sized::by_neither>();
    all_reads<Container, Walks, sized::too_small>();
    all_reads<Container, Walks, sized::too_large>();
}

template <class Container>
class odd_ranges : public testing::Test {};
using subjects = testing::Types<headroom::vector<std::string>, headroom_test::mapped_vector<std::string>,
                                headroom::vector<std::string, headroom_test::minimal_allocator<std::string>>,
                                headroom::settled_vector<std::string>>;
TYPED_TEST_SUITE(odd_ranges, subjects);
TYPED_TEST(odd_ranges, walked_once) { all_sizes<TypeParam, walks::once>(); }
TYPED_TEST(odd_ranges, walked_often) { all_sizes<TypeParam, walks::often>(); }
TYPED_TEST(odd_ranges, side_by_side) { all_sizes<TypeParam, walks::side_by_side>(); }

// Single-pass iterator pairs have no effect when memory is refused midway.
TEST(odd_iterators, no_effects_when_memory_is_refused) {
    using container = headroom::vector<int, headroom_test::minimal_allocator<int>>;
    for (const bool at_end : {false, true}) {
        bool refused = true;
        for (long k = 1; refused; ++k) {
            container v;
            for (int n = 0; n != 20; ++n) v.push_back(n);
            const int* const data = v.data();
            headroom_test::old_input_range<int> range(headroom_test::counted(500, 100));
            headroom_test::open_accounts(k);
            try {
                v.insert(at_end ? v.end() : v.begin() + 5, range.begin(), range.end());
                refused = false;
            } catch (const std::bad_alloc&) {
                EXPECT_EQ(v.data(), data);
                EXPECT_EQ(headroom_test::numbers(v), headroom_test::counted(20));
            }
            headroom_test::open_accounts();
        }
    }
}
TEST(odd_iterators, no_effects_past_the_largest_size) {
    headroom::settled_vector<int> v(headroom::max_elements{100});
    for (int n = 0; n != 90; ++n) v.push_back(n);
    headroom_test::old_input_range<int> once(headroom_test::counted(20, 100));
    EXPECT_THROW(v.insert(v.begin() + 3, once.begin(), once.end()), std::length_error);
    EXPECT_EQ(headroom_test::numbers(v), headroom_test::counted(90));
    odd_range<walks::once, sized::by_neither, reads::reference> range(20);
    headroom::settled_vector<std::string> w(headroom::max_elements{10});
    w.push_back("0");
    EXPECT_THROW(w.append_range(range), std::length_error);
    EXPECT_EQ(strings(w), model{"0"});
}

// Allocates once if the size is known.
template <class Container, sized Sized>
void asks_once() {
    odd_range<walks::once, Sized, reads::reference> range(40);
    headroom_test::open_accounts();
    const Container v(headroom::from_range, range);
    EXPECT_EQ(headroom_test::memory_book.allocations, 1);
    EXPECT_EQ(v.size(), 40U);
    Container w;
    odd_range<walks::once, Sized, reads::reference> again(40);
    headroom_test::open_accounts();
    w.append_range(again);
    EXPECT_EQ(headroom_test::memory_book.allocations, 1);
}
TEST(odd_ranges_sized, one_allocation) {
    using container = headroom::vector<std::string, headroom_test::minimal_allocator<std::string>>;
    asks_once<container, sized::by_size>();
    asks_once<container, sized::by_sentinel>();
}

// A range of three elements that claims to have `Promised`.
template <class Iterator, std::size_t Promised>
struct promising {
    static inline int from[] = {1, 2, 3};
    Iterator begin() { return Iterator(from); }
    std::default_sentinel_t end() { return {}; }
    std::size_t size() const { return Promised; }
};
template <bool Often>
struct number_iterator {
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::conditional_t<Often, std::forward_iterator_tag, std::input_iterator_tag>;
    const int* at = nullptr;
    number_iterator() = default;
    explicit number_iterator(const int* first) : at(first), end(first + 3) {}
    const int& operator*() const { return *at; }
    number_iterator& operator++() { return ++at, *this; }
    number_iterator operator++(int) {
        const number_iterator before = *this;
        ++at;
        return before;
    }
    friend bool operator==(const number_iterator& a, const number_iterator& b) { return a.at == b.at; }
    friend bool operator==(const number_iterator& a, std::default_sentinel_t) { return a.at == a.end; }
    const int* end = nullptr;
};
// An impossible size is refused before anything changes; std::vector also believes it. The size that a multi-pass range claims is
// not used.
template <class Container, std::size_t Promised>
void promised_too_much() {
    promising<number_iterator<false>, Promised> once;
    promising<number_iterator<true>, Promised> often;
    for (const operation what : {operation::append, operation::insert, operation::assign}) {
        Container v{7, 8};
        const int* const where = v.data();
        try {
            perform(v, what, once);
            ADD_FAILURE() << "no room can be had for what is promised";
        } catch (const std::length_error&) {
        } catch (const std::bad_alloc&) {}
        EXPECT_EQ(v, (Container{7, 8}));
        EXPECT_EQ(v.data(), where);
        perform(v, what, often);
        EXPECT_EQ(v.size(), what == operation::assign ? 3U : 5U);
    }
    EXPECT_ANY_THROW(Container(headroom::from_range, once));
    EXPECT_EQ(Container(headroom::from_range, often), (Container{1, 2, 3}));
}
template <class Container>
void promised_much_too_much() {
    promised_too_much<Container, SIZE_MAX>();
    promised_too_much<Container, SIZE_MAX - 1>();
    promised_too_much<Container, PTRDIFF_MAX / sizeof(int) + 1>();
    if constexpr (sizeof(std::size_t) >= 8) {    // with 32-bit addresses 2 GiB may be free
        promised_too_much<Container, PTRDIFF_MAX / sizeof(int)>();
        promised_too_much<Container, PTRDIFF_MAX / sizeof(int) - 2>();
    }
}
TEST(odd_ranges_sized, far_more_than_can_be) {
    promised_much_too_much<headroom::vector<int>>();
    promised_much_too_much<headroom::vector<int, headroom_test::minimal_allocator<int>>>();
    promised_much_too_much<headroom::small_vector<int, 4>>();
    promised_much_too_much<headroom::settled_vector<int>>();
}

// Appending many short ranges relocates no more often than appending one element at a time.
template <sized Sized, walks Walks>
void short_ranges() {
    headroom::vector<std::string, headroom_test::minimal_allocator<std::string>> v;
    headroom::vector<std::string, headroom_test::minimal_allocator<std::string>> w;
    headroom_test::open_accounts();
    for (int i = 0; i != 1000; ++i) {
        odd_range<Walks, Sized, reads::reference> one(1);
        v.append_range(one);
        odd_range<Walks, Sized, reads::reference> other(1);
        w.insert_range(w.end(), other);
    }
    EXPECT_EQ(v.size(), 1000U);
    EXPECT_EQ(v, w);
    EXPECT_LT(headroom_test::memory_book.allocations, 50);
}
TEST(odd_ranges_sized, short_ones_one_after_the_other) {
    short_ranges<sized::by_size, walks::once>();
    short_ranges<sized::by_sentinel, walks::once>();
    short_ranges<sized::by_neither, walks::once>();
    short_ranges<sized::by_size, walks::often>();
    short_ranges<sized::by_sentinel, walks::side_by_side>();
}

#if !defined(__clang__) || __clang_major__ >= 16    // earlier ones cannot compile libstdc++'s views
// Iterators of C++20 that are none by earlier standards: their difference type is no standard integer.
template <class Container>
void of_c_plus_plus_20_alone() {
    const auto numbers = std::views::iota(0LL, 5LL);
    const Container expected{0, 1, 2, 3, 4};
    EXPECT_EQ(Container(numbers.begin(), numbers.end()), expected);
    EXPECT_EQ(Container(headroom::from_range, numbers), expected);
    Container v{7};
    v.assign(numbers.begin(), numbers.end());
    EXPECT_EQ(v, expected);
    v.insert(v.begin() + 5, numbers.begin(), numbers.end());
    EXPECT_EQ(v.size(), 10U);
    v.append_range(numbers);
    v.insert_range(v.begin(), numbers);
    EXPECT_EQ(v.size(), 20U);
    EXPECT_EQ(v.back(), 4);
}
TEST(odd_iterators, of_c_plus_plus_20_alone) {
    of_c_plus_plus_20_alone<headroom::vector<long long>>();
    of_c_plus_plus_20_alone<headroom::settled_vector<long long>>();
    of_c_plus_plus_20_alone<headroom::small_vector<long long, 4>>();
}
#endif

// With a known size, even immovable elements can be built from a single-pass range.
struct stays {
    int number;
    stays(const std::string& text) : number(std::stoi(text)) {}
    stays(stays&&) = delete;
};
template <class Container>
void built_where_they_stay() {
    odd_range<walks::once, sized::by_size, reads::reference> range(40);
    const Container v(headroom::from_range, range);
    ASSERT_EQ(v.size(), 40U);
    EXPECT_EQ(v[39].number, 539);
    odd_range<walks::once, sized::by_sentinel, reads::value> measured(3);
    EXPECT_EQ(Container(headroom::from_range, measured).size(), 3U);
}
TEST(odd_ranges_sized, elements_that_cannot_move) {
    built_where_they_stay<headroom::vector<stays>>();
    built_where_they_stay<headroom::settled_vector<stays>>();
    odd_range<walks::once, sized::too_small, reads::reference> longer(40);
    EXPECT_THROW(headroom::vector<stays>(headroom::from_range, longer), std::length_error);
}

// A forward iterator's operator- may mean something else: distances are counted by steps.
struct every_other {
    using iterator_category = std::forward_iterator_tag;
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using pointer = const int*;
    using reference = const int&;
    const int* at = nullptr;
    reference operator*() const { return *at; }
    every_other& operator++() {
        at += 2;
        return *this;
    }
    every_other operator++(int) {
        const every_other before = *this;
        at += 2;
        return before;
    }
    [[maybe_unused]] friend bool operator==(const every_other& a, const every_other& b) { return a.at == b.at; }
    [[maybe_unused]] friend difference_type operator-(const every_other& a, const every_other& b) { return a.at - b.at; }
};
template <class Vector>
class forward_iterators_with_a_difference : public testing::Test {};
using vectors_of_ints = testing::Types<headroom::vector<int>, headroom::settled_vector<int>, headroom::small_vector<int, 3>>;
TYPED_TEST_SUITE(forward_iterators_with_a_difference, vectors_of_ints);
TYPED_TEST(forward_iterators_with_a_difference, are_counted_by_steps) {
    const int numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const every_other first{numbers}, last{numbers + 10};
    const TypeParam made(first, last);
    EXPECT_EQ(made, (TypeParam{0, 2, 4, 6, 8}));
    TypeParam v{1};
    v.insert(v.begin(), first, last);
    EXPECT_EQ(v, (TypeParam{0, 2, 4, 6, 8, 1}));
    v.assign(first, last);
    EXPECT_EQ(v, made);
}

}    // namespace
