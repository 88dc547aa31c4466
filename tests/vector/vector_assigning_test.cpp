// SPDX-License-Identifier: MIT
// Cost of assignment: existing elements are assigned, only missing ones are constructed. Makes at most as many constructions,
// assignments and allocations as std::vector from an equal state.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include "support/vectors.hpp"

namespace {

struct counts {
    long built = 0;
    long assigned = 0;
    long allocations = 0;
};
counts now;

template <class T>
struct counting {
    using value_type = T;
    counting() = default;
    template <class U>
    explicit(false) counting(const counting<U>&) noexcept {}
    T* allocate(std::size_t count) {
        ++now.allocations;
        return std::allocator<T>{}.allocate(count);
    }
    void deallocate(T* memory, std::size_t count) noexcept { std::allocator<T>{}.deallocate(memory, count); }
    friend bool operator==(counting, counting) noexcept { return true; }
};

using text = std::basic_string<char, std::char_traits<char>, counting<char>>;
text make_held(int n, const text*) { return text(40 + static_cast<std::size_t>(n) % 7, static_cast<char>('a' + n % 26)); }
using numbers = std::vector<int, counting<int>>;
numbers make_held(int n, const numbers*) { return numbers(static_cast<std::size_t>(n) % 9 + 1, n); }

// Counts operations on it; owns memory that an assignment can reuse.
template <class Held, bool Throwing>
struct counted {
    explicit counted(int n) : held(make_held(n, static_cast<const Held*>(nullptr))) {}
    counted(const counted& other) : held(other.held) { ++now.built; }
    counted(counted&& other) noexcept(!Throwing) : held(std::move(other.held)) { ++now.built; }
    counted& operator=(const counted& other) {
        held = other.held;
        ++now.assigned;
        return *this;
    }
    counted& operator=(counted&& other) noexcept(!Throwing) {
        held = std::move(other.held);
        ++now.assigned;
        return *this;
    }
    ~counted() = default;
    friend bool operator==(const counted& a, const counted& b) { return a.held == b.held; }
    Held held;
};

template <class Container>
Container with(int size, int spare) {
    Container made;
    made.reserve(static_cast<std::size_t>(size + spare));
    for (int i = 0; i != size; ++i) made.emplace_back(i);
    return made;
}

enum class way { copy, between, range, same, own };

// Counts the operations that assign `count` elements to a container with `size` elements and capacity for `spare` more.
template <class Container>
counts taken(way how, int size, int spare, int count) {
    using T = typename Container::value_type;
    Container to = with<Container>(size, spare);
    const Container from = with<Container>(count, 0);
    const T value(77);
    std::vector<T> expected(from.begin(), from.end());
    if (how == way::same) expected.assign(static_cast<std::size_t>(count), value);
    if (how == way::own) {
        if (size == 0) return {};
        expected.assign(static_cast<std::size_t>(count), T(size / 2));
    }
    now = {};
    if (how == way::copy) to = from;
    if (how == way::between) to.assign(from.begin(), from.end());
    if (how == way::same) to.assign(static_cast<std::size_t>(count), value);
    if (how == way::own) to.assign(static_cast<std::size_t>(count), to[static_cast<std::size_t>(size / 2)]);
    if (how == way::range) {
        if constexpr (requires { to.assign_range(from); }) {
            to.assign_range(from);
        } else {
            to.assign(from.begin(), from.end());
        }
    }
    const counts result = now;
    EXPECT_EQ(to.size(), expected.size());
    EXPECT_TRUE(std::equal(to.begin(), to.end(), expected.begin(), expected.end()));
    return result;
}

template <class Element>
class assigning : public testing::Test {};
using elements = testing::Types<counted<text, false>, counted<text, true>, counted<numbers, false>, counted<numbers, true>>;
TYPED_TEST_SUITE(assigning, elements);

template <class Body>
void in_every_case(Body body) {
    for (const way how : {way::copy, way::between, way::range, way::same, way::own}) {
#if defined(_MSVC_STL_VERSION)
        if (how == way::own) continue;    // which MSVC's vector does not support
#endif
        for (const int size : {0, 1, 5, 8, 30}) {
            for (const int count : {0, 1, 4, 5, 6, 8, 9, 20, 31, 64}) {
                for (const int spare : {0, 1, 40}) {
                    SCOPED_TRACE(testing::Message() << "way " << static_cast<int>(how) << ", " << count << " for " << size
                                                    << " with room for " << spare);
                    body(how, size, spare, count);
                }
            }
        }
    }
}

TYPED_TEST(assigning, takes_no_more_of_anything_than_in_a_std_vector) {
    in_every_case([](way how, int size, int spare, int count) {
        const counts theirs = taken<std::vector<TypeParam, counting<TypeParam>>>(how, size, spare, count);
        const counts ours = taken<headroom::vector<TypeParam, counting<TypeParam>>>(how, size, spare, count);
        EXPECT_LE(ours.built, theirs.built);
        EXPECT_LE(ours.assigned, theirs.assigned);
        EXPECT_LE(ours.allocations, theirs.allocations);
        const counts own_heap = taken<headroom::vector<TypeParam>>(how, size, spare, count);
        EXPECT_LE(own_heap.built, theirs.built);
        EXPECT_LE(own_heap.assigned, theirs.assigned);
        EXPECT_LE(own_heap.allocations, theirs.allocations);
    });
}

// Capacity comes in pages, so an assignment can take the place of a construction.
TYPED_TEST(assigning, in_ranges_takes_no_more_than_in_a_std_vector) {
    in_every_case([](way how, int size, int spare, int count) {
        const counts theirs = taken<std::vector<TypeParam, counting<TypeParam>>>(how, size, spare, count);
        for (const counts& ours : {taken<headroom::settled_vector<TypeParam>>(how, size, spare, count),
                                   taken<headroom_test::mapped_vector<TypeParam>>(how, size, spare, count)}) {
            EXPECT_LE(ours.built, theirs.built);
            EXPECT_LE(ours.built + ours.assigned, theirs.built + theirs.assigned);
            EXPECT_LE(ours.allocations, theirs.allocations);
        }
    });
}

}    // namespace
