// What the contract suites share.
//
// A contract_*.hpp holds one suite of typed tests: what the standard asks of every vector-like container. A test file says
// which containers to run it on, then includes it:
//
//     using subjects = testing::Types<std::vector<int>, headroom::vector<int>>;
//     #include "support/contract/insert.hpp"
//
// std::vector itself is among the subjects where that proves something: a test that it fails is a wrong test.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "support/elements.hpp"
#include "support/iterators.hpp"

// Opens and closes the book around each test: what was built must have been destroyed.
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

// Whether assign(count, value) takes an element of the container itself for the value. The standard asks nobody to (it does for
// insert and resize), and libc++'s vector does not.
template <class Container>
constexpr bool assigns_its_own_element = true;
#if defined(_LIBCPP_VERSION)
template <class T, class Allocator>
constexpr bool assigns_its_own_element<std::vector<T, Allocator>> = false;
#endif

// Whether the elements of a container that is moved or swapped stay where they are, and whether moving it cannot fail: of a
// small_vector that depends.
template <class Container>
constexpr bool moves_in_one_piece = true;
template <class Container>
constexpr bool moves_without_fail = true;

// Where inside a container something happens; a test that says nothing else tries them all.
struct place {
    const char* name;
    std::size_t of_four;    // quarters of the size from the beginning
};
inline constexpr place places[] = {{"begin", 0}, {"early", 1}, {"middle", 2}, {"late", 3}, {"end", 4}};

// Runs `body(container, position)` on a fresh container for each place, once with room to spare and once when full.
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

// The iterator `position` elements from the beginning.
template <class Container>
[[nodiscard]] auto nth(Container& container, std::size_t position) {
    return container.begin() + static_cast<typename Container::difference_type>(position);
}
