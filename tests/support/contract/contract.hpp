// SPDX-License-Identifier: MIT
// Shared fixture and helpers of the contract suites.
//
// Each contract suite is a header of typed tests of the standard's requirements on a vector. A test file defines the containers
// to test as `subjects`, then includes it:
//
//     using subjects = testing::Types<std::vector<int>, headroom::vector<int>>;
//     #include "support/contract/insert.hpp"
//
// std::vector is among the subjects where possible: a test that it fails is a wrong test.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "support/elements.hpp"
#include "support/iterators.hpp"

// Checks after each test that every element that was built is destroyed.
template <class Container>
class contract : public testing::Test {
protected:
    void SetUp() override {
        headroom_test::open_book();
        live_before_ = headroom_test::book.live;
    }
    void TearDown() override {
        EXPECT_EQ(headroom_test::book.live, live_before_) << "elements were leaked, or destroyed more than once";
        headroom_test::open_book();
    }

private:
    long live_before_ = 0;
};

// True if assign(count, value) accepts a reference to the container's own element. The standard does not require it, unlike for
// insert and resize, and the vectors of libc++ and MSVC do not support it.
template <class Container>
constexpr bool assigns_its_own_element = true;
#if defined(_LIBCPP_VERSION) || defined(_MSVC_STL_VERSION)
template <class T, class Allocator>
constexpr bool assigns_its_own_element<std::vector<T, Allocator>> = false;
#endif

// True if max_size() elements fit the address space that differences of pointers have: not so in MSVC's vector.
template <class Container>
constexpr bool max_size_is_half = true;
#if defined(_MSVC_STL_VERSION)
template <class T, class Allocator>
constexpr bool max_size_is_half<std::vector<T, Allocator>> = false;
#endif

// moves_in_one_piece: moving or swapping the container leaves its elements in place. moves_without_fail: moving it never throws.
// Both depend on the element type for small_vector.
template <class Container>
constexpr bool moves_in_one_piece = true;
template <class Container>
constexpr bool moves_without_fail = true;

// A position inside a container. at_every_place() runs them all.
struct place {
    const char* name;
    std::size_t of_four;    // quarters of the size from the beginning
};
inline constexpr place places[] = {{"begin", 0}, {"early", 1}, {"middle", 2}, {"late", 3}, {"end", 4}};

// Runs `body(container, position)` on a fresh container for each place, once with spare capacity and once when full.
template <class Container, class Body>
void at_every_place(Body body, std::size_t count = 8, std::size_t spare = 40) {
    for (const place& where : places) {
        {
            SCOPED_TRACE(std::string("room to spare, at ") + where.name);
            Container container = headroom_test::roomy<Container>(count, spare);
            body(container, container.size() * where.of_four / 4);
        }
        {
            SCOPED_TRACE(std::string("full, at ") + where.name);
            Container container = headroom_test::full<Container>(count);
            body(container, container.size() * where.of_four / 4);
        }
    }
}

// Iterator to element `position`.
template <class Container>
[[nodiscard]] auto nth(Container& container, std::size_t position) {
    return container.begin() + static_cast<typename Container::difference_type>(position);
}
