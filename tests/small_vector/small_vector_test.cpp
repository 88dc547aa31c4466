// SPDX-License-Identifier: MIT
// Labels: core own-heap
// Not under Valgrind: a_small_vector_that_is_refused_memory.is_as_it_was_inside a_small_vectors_elements.are_inside_up_to_the_number
// small_vector's own promises: where its elements are, what allocates, what moving does to them.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <headroom/relocatable.hpp>
#include <headroom/reservation.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/testing.hpp>

#include "support/elements.hpp"
#include "support/refusing_new.hpp"

namespace {

using headroom::small_vector;
using headroom_test::allocations_alive;
using headroom_test::allocations_until_refused;
using headroom_test::book;
using headroom_test::counted;
using headroom_test::filled;
using headroom_test::numbers;
using headroom_test::open_book;
using headroom_test::throwing;

template <class Vector>
bool is_inside(const Vector& v) {
    const auto at = reinterpret_cast<std::uintptr_t>(v.data());
    const auto object = reinterpret_cast<std::uintptr_t>(std::addressof(v));
    return at >= object && at < object + sizeof(v);
}

// Alignment above malloc's, so that its heap is operator new, which is counted here.
struct alignas(64) text : std::string {
    using std::string::string;
    text(const std::string& from) : std::string(from) {}    // NOLINT: implicit, as strings are
};
static_assert(sizeof(small_vector<int, 4>) == 3 * sizeof(void*) + 4 * sizeof(int));
static_assert(sizeof(small_vector<int, 0>) == 3 * sizeof(void*));
static_assert(!headroom::is_trivially_relocatable_v<small_vector<int, 4>>);

static_assert(std::is_nothrow_default_constructible_v<small_vector<throwing, 4>>);
static_assert(std::is_nothrow_move_constructible_v<small_vector<std::unique_ptr<int>, 4>>);
static_assert(std::is_nothrow_move_assignable_v<small_vector<text, 4>>);
static_assert(std::is_nothrow_swappable_v<small_vector<text, 4>>);
static_assert(!std::is_nothrow_move_constructible_v<small_vector<throwing, 4>>);
static_assert(!std::is_nothrow_move_assignable_v<small_vector<throwing, 4>>);
static_assert(!std::is_nothrow_swappable_v<small_vector<throwing, 4>>);
static_assert(std::is_nothrow_move_constructible_v<small_vector<throwing, 0>>);    // no inline elements

constexpr int in_a_constant_expression() {
    small_vector<int, 3> v{1, 2};
    v.push_back(3);
    v.push_back(v[0]);
    small_vector<int, 3> w = v;
    v = std::move(w);
    w = {7};
    v.insert(v.begin() + 1, 2, 5);
    v.erase(v.begin(), v.begin() + 4);
    v.shrink_to_fit();
    small_vector<int, 3> x(std::move(v));
    x.swap(w);
    v = w;
    return static_cast<int>(100 * v.size()) + 10 * v[0] + x[0];
}
static_assert(in_a_constant_expression() == 237);

TEST(a_small_vectors_elements, are_inside_up_to_the_number) {
    small_vector<text, 4> v;
    const long before = allocations_alive;
    EXPECT_EQ(v.capacity(), 4U);
    for (int i = 0; i != 4; ++i) {
        v.push_back("short");
        EXPECT_TRUE(is_inside(v));
    }
    v.insert(v.begin(), v[3]);
    EXPECT_FALSE(is_inside(v));
    EXPECT_EQ(allocations_alive, before + 1);
    EXPECT_GT(v.capacity(), 4U);
    v.clear();
    EXPECT_FALSE(is_inside(v));
    v.push_back("again");
    v.shrink_to_fit();
    EXPECT_TRUE(is_inside(v));
    EXPECT_EQ(v.capacity(), 4U);
    EXPECT_EQ(v[0], "again");
    EXPECT_EQ(allocations_alive, before);
}

TEST(a_small_vectors_elements, allocate_nothing_in_any_way_of_making_so_many) {
    const long before = allocations_alive;
    const std::array<text, 3> three{"a", "b", "c"};
    using small = small_vector<text, 3>;
    small a(3), b(3, "x"), c(three.begin(), three.end()), d{"a", "b"}, e(headroom::from_range, three), f(e), g(std::move(f));
    a = g;
    b.assign(3, "y");
    c.assign_range(three);
    d.append_range(std::vector<text>());
    d.resize(3);
    e.reserve(3);
    g.resize_default_init(2);
    for (const small* each : {&a, &b, &c, &d, &e, &f, &g}) {
        EXPECT_TRUE(is_inside(*each));
        EXPECT_EQ(each->capacity(), 3U);
    }
    swap(a, b);
    EXPECT_EQ(allocations_alive, before);
}

TEST(a_small_vectors_elements, are_in_a_block_of_exactly_as_many_when_there_are_more) {
    using small = small_vector<text, 2>;
    const small a{"a", "b", "c"};
    EXPECT_EQ(a.capacity(), 3U);
    EXPECT_EQ(small(a).capacity(), 3U);
    EXPECT_EQ(small(5).capacity(), 5U);
}

TEST(a_small_vectors_elements, are_in_a_reservation_when_there_are_many) {
    small_vector<int, 4> v;
    for (int i = 0; i != 300'000; ++i) v.push_back(i);
    const int* const before = v.data();
    v.resize(3'000'000);
    EXPECT_EQ(v.data(), before);
    small_vector<int, 4> w(std::move(v));
    EXPECT_EQ(w.data(), before);
    EXPECT_TRUE(v.empty());    // NOLINT: that is the question
    EXPECT_TRUE(is_inside(v));
    w.resize(3);
    w.shrink_to_fit();
    EXPECT_TRUE(is_inside(w));
    EXPECT_EQ(w[2], 2);
}

// Inline up to N elements, although the policy would use a reservation earlier.
struct mapped : headroom::vector_policy {
    static constexpr std::size_t map_threshold = 0;
};
TEST(a_small_vectors_elements, are_inside_whatever_the_policy_says) {
    small_vector<int, 100, mapped> v;
    for (int i = 0; i != 100; ++i) v.push_back(i);
    EXPECT_TRUE(is_inside(v));
    v.push_back(100);
    EXPECT_FALSE(is_inside(v));
    for (int i = 0; i != 101; ++i) EXPECT_EQ(v[static_cast<std::size_t>(i)], i);
    v.resize(50);
    v.shrink_to_fit();
    EXPECT_TRUE(is_inside(v));
    small_vector<int, 0, mapped> none;
    none.push_back(7);
    none.shrink_to_fit();
    EXPECT_EQ(none[0], 7);
    none.clear();
    none.shrink_to_fit();
    EXPECT_EQ(none.capacity(), 0U);
}

// In stepwise construction, the first step may be smaller than the inline storage: the vector still knows that its elements are
// in a reservation, and releases it.
struct page_by_page : headroom::vector_policy {
    static constexpr headroom::commit_policy commit = headroom::page_by_page();
};
TEST(a_small_vectors_elements, are_known_to_be_outside_from_the_first_step_on) {
    struct wide {
        std::array<int, 64> value{7};
        wide() = default;
        wide(const wide& other) : value(other.value) {}    // NOLINT: not trivial, so that nothing moves as bytes
        wide& operator=(const wide&) = default;
        ~wide() { value[0] = 0; }
    };
    using small = small_vector<wide, 6000, page_by_page>;
    const std::size_t before = headroom::reservations().size();
    for (const std::size_t count : {6000U, 6001U, 9000U, 30'000U}) {
        const wide one;
        const auto made = std::make_unique<small>(count);
        const auto filled = std::make_unique<small>(count, one);
        const auto copied = std::make_unique<small>(*made);
        const auto resized = std::make_unique<small>();
        resized->resize(count);
        const auto assigned = std::make_unique<small>();
        assigned->assign(made->begin(), made->end());
        const std::size_t each = count == 6000 ? 0 : 1;
        EXPECT_EQ(headroom::reservations().size(), before + 5 * each);
        for (const small* v : {made.get(), filled.get(), copied.get(), resized.get(), assigned.get()}) {
            EXPECT_EQ(is_inside(*v), count == 6000);
            EXPECT_EQ(v->back().value[0], 7);
        }
    }
    EXPECT_EQ(headroom::reservations().size(), before);
}

TEST(a_small_vectors_elements, are_aligned_inside_and_outside) {
    struct alignas(256) wide {
        int value = 0;
    };
    for (std::size_t count = 0; count != 20; ++count) {
        small_vector<wide, 3> v(count);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % 256, 0U);
        const auto w = std::move(v);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(w.data()) % 256, 0U);
        EXPECT_EQ(w.size(), count);
    }
}

// A defaulted constructor would zero the inline storage in value-initialization: N elements written for nothing.
TEST(a_small_vector, writes_nothing_into_its_room_when_made) {
    using small = small_vector<unsigned char, 200>;
    alignas(small) std::array<unsigned char, sizeof(small)> memory;
    // Volatile: the bytes before an object's construction are not its own, so GCC may leave other writes out.
    for (volatile unsigned char& each : memory) each = 0xa5;
    auto* volatile where = memory.data();
    small* const v = ::new (static_cast<void*>(where)) small();
    std::size_t kept = 0;
    for (std::size_t i = sizeof(small) - 200; i != sizeof(small); ++i) kept += *(where + i) == 0xa5 ? 1U : 0U;
    EXPECT_EQ(kept, 200U);
    v->~small();
}

// Catches GCC warnings about reads past the array.
TEST(a_small_vector, takes_a_part_of_a_short_array) {
    for (std::size_t count = 0; count != 4; ++count) {
        const std::array<int, 3> numbers{1, 2, 3};
        const int* const last = numbers.data() + count;
        small_vector<int, 8> inserted, assigned, before(2, 7);
        inserted.insert(inserted.end(), numbers.data(), last);
        assigned.assign(numbers.data(), last);
        before.insert(before.begin(), numbers.data(), last);
        EXPECT_EQ(inserted, (small_vector<int, 8>(numbers.data(), last)));
        EXPECT_EQ(assigned, inserted);
        EXPECT_EQ(before.size(), count + 2);
    }
}

TEST(a_small_vector, may_hold_what_cannot_be_moved) {
    const small_vector<std::mutex, 4> inside(3);
    const small_vector<std::mutex, 2> outside(5);
    EXPECT_EQ(inside.size() + outside.size(), 8U);
}

// Runs `body` on pairs of vectors, each inline or not, with all pairs of sizes.
template <class Vector, class Body>
void every_pair(Body body) {
    for (const std::size_t a : {0U, 1U, 3U, 4U, 5U, 9U}) {
        for (const std::size_t b : {0U, 2U, 4U, 7U}) {
            for (const std::size_t spare : {0U, 30U}) {
                SCOPED_TRACE(std::to_string(a) + ", " + std::to_string(b) + ", " + std::to_string(spare));
                Vector first = filled<Vector>(a);
                Vector second = filled<Vector>(b, 100);
                if (spare != 0) first.reserve(a + spare);
                body(first, second, a, b);
            }
        }
    }
}

template <class T>
class moves_of_a_small_vector : public testing::Test {};
using kinds = testing::Types<int, text, std::unique_ptr<int>, throwing, headroom_test::opted_in, headroom_test::self_referential,
                             headroom_test::throwing_move_only>;
TYPED_TEST_SUITE(moves_of_a_small_vector, kinds);

TYPED_TEST(moves_of_a_small_vector, leave_the_other_empty_and_inside) {
    using small = small_vector<TypeParam, 4>;
    open_book();
    const long live = book.live;
    every_pair<small>([](small& first, small& second, std::size_t a, std::size_t b) {
        const auto* const outside = is_inside(second) ? nullptr : second.data();
        first = std::move(second);
        EXPECT_EQ(numbers(first), counted(b, 100));
        EXPECT_TRUE(second.empty());    // NOLINT: that is the question
        EXPECT_TRUE(is_inside(second));
        if (outside != nullptr) {
            EXPECT_EQ(first.data(), outside);
        }
        headroom_test::append(second, a);
        EXPECT_EQ(numbers(second), counted(a));
        small third(std::move(first));
        EXPECT_TRUE(first.empty());    // NOLINT: that is the question
        EXPECT_EQ(numbers(third), counted(b, 100));
        small& same = third;
        third = std::move(same);
        EXPECT_EQ(numbers(third), counted(b, 100));
    });
    EXPECT_EQ(book.live, live);
}

TYPED_TEST(moves_of_a_small_vector, swap_elements_wherever_they_are) {
    using small = small_vector<TypeParam, 4>;
    open_book();
    const long live = book.live;
    every_pair<small>([](small& first, small& second, std::size_t a, std::size_t b) {
        const auto* const of_first = first.data();
        const bool outside = !is_inside(first) && !is_inside(second);
        swap(first, second);
        EXPECT_EQ(numbers(first), counted(b, 100));
        EXPECT_EQ(numbers(second), counted(a));
        if (outside) {
            EXPECT_EQ(second.data(), of_first);
        }
        second.swap(second);
        EXPECT_EQ(numbers(second), counted(a));
    });
    EXPECT_EQ(book.live, live);
}

// For each k, step k throws: nothing leaks, and both vectors stay valid.
TEST(moves_of_a_small_vector_that_throw, leak_nothing_and_leave_two_vectors) {
    using small = small_vector<throwing, 4>;
    open_book();
    const long live = book.live;
    const auto each_step = [&](auto operation) {
        every_pair<small>([&](small& first, small& second, std::size_t, std::size_t) {
            for (long k = 1;; ++k) {
                small a(first), b(second);
                open_book(k);
                bool failed = false;
                try {
                    operation(a, b);
                } catch (const headroom_test::planned_failure&) {
                    failed = true;
                }
                open_book();
                (void)numbers(a);
                (void)numbers(b);
                headroom_test::append(a, 9);
                headroom_test::append(b, 9);
                if (!failed) break;
            }
        });
    };
    each_step([](small& a, small& b) { a = std::move(b); });
    each_step([](small& a, small& b) {
        small c(std::move(b));
        a.clear();
    });
    each_step([](small& a, small& b) { a.swap(b); });
    each_step([](small& a, small& b) { a = b; });
    each_step([](small& a, small&) {
        a.resize(a.size() < 2 ? 0 : a.size() - 2);
        a.shrink_to_fit();
    });
    EXPECT_EQ(book.live, live);
}

// shrink_to_fit() is a request: if a copy throws, nothing changes.
TEST(shrinking_a_small_vector, changes_nothing_where_a_copy_throws) {
    small_vector<throwing, 4> v = filled<small_vector<throwing, 4>>(9);
    v.resize(3);
    const auto* const before = v.data();
    open_book(2);
    v.shrink_to_fit();
    open_book();
    EXPECT_EQ(v.data(), before);
    EXPECT_EQ(numbers(v), counted(3));
    v.shrink_to_fit();
    EXPECT_TRUE(is_inside(v));
    EXPECT_EQ(numbers(v), counted(3));
}

TEST(a_small_vector_that_is_refused_memory, is_as_it_was_inside) {
    using small = small_vector<text, 4>;
    small v{"0", "1", "2", "3"};
    const small same = v;
    const std::array<text, 3> more{"4", "5", "6"};
    const auto refused = [&](auto operation) {
        allocations_until_refused = 1;
        EXPECT_THROW(operation(), std::bad_alloc);
        allocations_until_refused = 0;
        EXPECT_EQ(v, same);
        EXPECT_TRUE(is_inside(v));
    };
    refused([&] { v.push_back("4"); });
    refused([&] { v.push_back(v[1]); });
    refused([&] { v.insert(v.begin() + 1, "4"); });
    refused([&] { v.insert(v.begin() + 1, more.begin(), more.end()); });
    refused([&] { v.append_range(more); });
    refused([&] { v.resize(9); });
    refused([&] { v.resize(9, v[0]); });
    refused([&] { v.reserve(5); });
    refused([&] { v.assign(5, "x"); });
    refused([&] { small w(7); });
    refused([&] { small w(7, v[2]); });
    allocations_until_refused = 1;
    EXPECT_EQ(v.try_push_back("4"), nullptr);
    allocations_until_refused = 0;
    EXPECT_EQ(v, same);
    v.push_back(v[0]);
    EXPECT_EQ(v.size(), 5U);
}

TEST(a_small_vector_that_is_refused_memory, gives_length_error_past_its_limit) {
    small_vector<int, 4> v{1, 2};
    EXPECT_THROW(v.reserve(v.max_size() + 1), std::length_error);
    EXPECT_THROW(v.resize(v.max_size() + 1), std::length_error);
    EXPECT_THROW(v.insert(v.begin(), v.max_size(), 7), std::length_error);
    EXPECT_EQ(v, (small_vector<int, 4>{1, 2}));
}

// Any member accepts the vector's own element: with a full inline storage, which it leaves, and with spare capacity.
TEST(a_small_vectors_own_element, may_be_passed_to_any_member) {
    using small = small_vector<text, 4>;
    for (const std::size_t size : {2U, 4U, 8U}) {
        for (std::size_t i = 0; i != size; ++i) {
            small v;
            for (std::size_t n = 0; n != size; ++n) v.push_back("a text of some length, number " + std::to_string(n));
            const text value = v[i];
            const small fresh = v;
            v.push_back(v[i]);
            EXPECT_EQ(v.back(), value);
            v = fresh;
            v.insert(v.begin(), v[i]);
            EXPECT_EQ(v.front(), value);
            v = fresh;
            v.insert(v.begin() + 1, 9, v[i]);
            EXPECT_EQ(v[9], value);
            v = fresh;
            v.resize(30, v[i]);
            EXPECT_EQ(v.back(), value);
            v = fresh;
            v.assign(20, v[i]);
            EXPECT_EQ(v.back(), value);
            v = fresh;
            v.emplace_back(std::move(v[i]));
            EXPECT_EQ(v.back(), value);
        }
    }
}

}    // namespace
