// SPDX-License-Identifier: MIT
// Labels: core
// Allocators with one optional member each: the vector calls it where the standard requires.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <headroom/vector.hpp>

#include <gtest/gtest.h>

#include "odd/every_operation.hpp"

namespace {

int asked = 0;

// The minimum that every allocator has.
template <class Derived, class T>
struct minimum {
    using value_type = T;
    T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
    void deallocate(T* memory, std::size_t count) { std::allocator<T>().deallocate(memory, count); }
    friend bool operator==(const Derived&, const Derived&) { return true; }
};
#define ALLOCATOR(name, ...)            \
    template <class T>                  \
    struct name : minimum<name<T>, T> { \
        name() = default;               \
        template <class U>              \
        name(const name<U>&) {}         \
        template <class U>              \
        struct rebind {                 \
            using other = name<U>;      \
        };                              \
        __VA_ARGS__                     \
    }

ALLOCATOR(
    moves_in, void construct(T* place, T&& value) {
        ::new (static_cast<void*>(place)) T(std::move(value));
        ++asked;
    });
ALLOCATOR(
    copies_in, void construct(T* place, const T& value) {
        ::new (static_cast<void*>(place)) T(value);
        ++asked;
    });
ALLOCATOR(
    copies_mutable, void construct(T* place, T& value) {
        ::new (static_cast<void*>(place)) T(std::as_const(value));
        ++asked;
    });
ALLOCATOR(
    makes_default, void construct(T* place) {
        ::new (static_cast<void*>(place)) T();
        ++asked;
    });
ALLOCATOR(
    destroys, void destroy(T* place) {
        place->~T();
        ++asked;
    });
ALLOCATOR(
    has_a_limit, [[nodiscard]] std::size_t max_size() const {
        ++asked;
        return 1000;
    });
ALLOCATOR(
    chooses_for_copies, [[nodiscard]] chooses_for_copies select_on_container_copy_construction() const {
        ++asked;
        return {};
    });
ALLOCATOR(travels_when_copied, using propagate_on_container_copy_assignment = std::true_type;);
ALLOCATOR(travels_when_moved, using propagate_on_container_move_assignment = std::true_type;);
ALLOCATOR(travels_when_swapped, using propagate_on_container_swap = std::true_type;);
ALLOCATOR(never_equal, using is_always_equal = std::false_type;);
ALLOCATOR(counts_small, using size_type = std::uint16_t; using difference_type = std::int16_t;);
ALLOCATOR(
    takes_hints,
    T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); } T* allocate(std::size_t count, const void*) {
        return allocate(count);
    });

struct number {
    int value = 0;
};
struct text {
    std::string value;
};

// Runs every operation on trivially copyable elements and on others. asks() counts calls of the optional member.
template <template <class> class Allocator>
void works() {
    headroom_test::every_operation<headroom::vector<number, Allocator<number>>>([](int n) { return number{n}; },
                                                                                [](const number& x) { return x.value; });
    headroom_test::every_operation<headroom::vector<text, Allocator<text>>>(
        [](int n) { return text{std::to_string(n)}; }, [](const text& x) { return x.value.empty() ? 0 : std::stoi(x.value); });
}
template <template <class> class Allocator, class Operation>
int asks(Operation operation) {
    headroom::vector<int, Allocator<int>> v;
    for (int n = 0; n != 3; ++n) v.push_back(std::as_const(n));
    v.shrink_to_fit();
    asked = 0;
    operation(v);
    return asked;
}

TEST(odd_allocators, one_that_constructs_from_what_is_given_away) {
    works<moves_in>();
    EXPECT_GE(asks<moves_in>([](auto& v) { v.reserve(100); }), 3);
    EXPECT_GE(asks<moves_in>([](auto& v) { v.push_back(7); }), 4);
    EXPECT_GE(asks<moves_in>([](auto& v) { v.insert(v.begin(), 7); }), 4);
    int from[] = {1, 2};
    EXPECT_GE(
        asks<moves_in>([&](auto& v) { v.insert(v.end(), std::make_move_iterator(from), std::make_move_iterator(from + 2)); }), 2);
}
TEST(odd_allocators, one_that_constructs_copies) {
    works<copies_in>();
    EXPECT_GE(asks<copies_in>([](auto& v) { v.push_back(v[0]); }), 1);
    EXPECT_EQ(asks<copies_in>([](auto& v) { const auto copy(v); }), 3);
    EXPECT_GE(asks<copies_in>([](auto& v) { v.resize(10, 4); }), 7);
}
TEST(odd_allocators, one_that_constructs_from_mutable_objects) {
    works<copies_mutable>();
    int from[] = {1, 2};
    EXPECT_EQ(asks<copies_mutable>([&](auto& v) { v.insert(v.end(), from, from + 2); }), 2);
}
TEST(odd_allocators, one_that_constructs_defaults) {
    works<makes_default>();
    EXPECT_EQ(asks<makes_default>([](auto& v) { v.resize(10); }), 7);
    EXPECT_EQ(asks<makes_default>([](auto& v) { v.emplace_back(); }), 1);
}
TEST(odd_allocators, one_that_destroys) {
    works<destroys>();
    EXPECT_EQ(asks<destroys>([](auto& v) { v.clear(); }), 3);
    EXPECT_EQ(asks<destroys>([](auto& v) { v.pop_back(); }), 1);
    EXPECT_GE(asks<destroys>([](auto& v) { v.reserve(100); }), 3);
    EXPECT_EQ(asks<destroys>([](auto& v) { v.erase(v.begin()); }), 1);
}
TEST(odd_allocators, one_with_a_limit) {
    works<has_a_limit>();
    headroom::vector<int, has_a_limit<int>> v;
    EXPECT_EQ(v.max_size(), 1000U);
    EXPECT_THROW(v.resize(1001), std::length_error);
}
TEST(odd_allocators, one_that_chooses_for_copies) {
    works<chooses_for_copies>();
    EXPECT_EQ(asks<chooses_for_copies>([](auto& v) { const auto copy(v); }), 1);
}
TEST(odd_allocators, one_that_travels_or_stays) {
    works<travels_when_copied>();
    works<travels_when_moved>();
    works<travels_when_swapped>();
    works<never_equal>();
}
TEST(odd_allocators, one_with_small_sizes) {
    works<counts_small>();
    EXPECT_LE((headroom::vector<int, counts_small<int>>().max_size()), 32767U);
}
TEST(odd_allocators, one_that_takes_hints) { works<takes_hints>(); }

}    // namespace
