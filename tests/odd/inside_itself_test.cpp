// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Left out under Valgrind: each node of a tree of settled_vectors reserves 4 GiB of addresses, more than it has.
//
// Assigns a part of a container's own element to the container, as a child that replaces its tree. The old elements must be
// destroyed last.
#include <cstddef>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>
#include <headroom/winked.hpp>

#include <gtest/gtest.h>

#include "support/addresses.hpp"

#include "support/allocators.hpp"
#include "support/vectors.hpp"

namespace {

// A tree; each node keeps its children in a container of nodes.
template <template <class> class Container>
struct node {
    std::string name;
    Container<node> children;
};

template <template <class> class Container>
Container<node<Container>> forest(std::size_t width, std::size_t depth, const std::string& name) {
    Container<node<Container>> result;
    for (std::size_t i = 0; depth != 0 && i != width; ++i) {
        const std::string own = name + "." + std::to_string(i);
        result.push_back(node<Container>{own, forest<Container>(i == 0 ? 5 : 2, depth - 1, own)});
    }
    return result;
}

template <class T>
using plain_vector = headroom::vector<T>;
template <class T>
using settled = headroom::settled_vector<T>;
template <class T>
using none_inside = headroom::small_vector<T, 0>;
template <class T>
using two_inside = headroom::small_vector<T, 2>;
template <class T>
using many_inside = headroom::small_vector<T, 10>;
template <class T>
using numbered = headroom::vector<T, headroom_test::numbered_allocator<T, false>>;
template <class T>
using travelling = headroom::vector<T, headroom_test::numbered_allocator<T, true>>;

template <template <class> class Container>
void names_are(const Container<node<Container>>& v, const std::string& parent, std::size_t count) {
    ASSERT_EQ(v.size(), count);
    for (std::size_t i = 0; i != count; ++i) {
        EXPECT_EQ(v[i].name, parent + "." + std::to_string(i));
        EXPECT_EQ(v[i].children.size(), i == 0 ? 5U : 2U);
    }
}

template <template <class> class Container>
void replaced_by_a_child() {
    const auto fresh = [] { return forest<Container>(3, 4, "a name too long for a small string"); };
    const std::string root = "a name too long for a small string";
    {
        SCOPED_TRACE("moved");
        auto v = fresh();
        v = std::move(v[0].children);
        names_are<Container>(v, root + ".0", 5);
        v = std::move(v[4].children[1].children);
        EXPECT_EQ(v.size(), 2U);
    }
    {
        SCOPED_TRACE("moved, from deeper");
        auto v = fresh();
        v = std::move(v[0].children[0].children);
        names_are<Container>(v, root + ".0.0", 5);
    }
    {
        SCOPED_TRACE("copied, longer");
        auto v = fresh();
        v = v[0].children;
        names_are<Container>(v, root + ".0", 5);
    }
    {
        SCOPED_TRACE("copied, shorter");
        auto v = fresh();
        v = v[1].children;
        names_are<Container>(v, root + ".1", 2);
    }
    {
        SCOPED_TRACE("copied, longer, from deeper");
        auto v = fresh();
        v.shrink_to_fit();
        // Like std::vector, only if this takes a larger block. Otherwise the parent is assigned first, which destroys the child.
        if (v.capacity() < 5) {
            v = v[0].children[0].children;
            names_are<Container>(v, root + ".0.0", 5);
        }
    }
    {
        SCOPED_TRACE("assigned, longer");
        auto v = fresh();
        v.shrink_to_fit();
        if (v.capacity() < 5) {    // see above
            v.assign(v[0].children.begin(), v[0].children.end());
            names_are<Container>(v, root + ".0", 5);
        }
    }
    {
        SCOPED_TRACE("inserted, with room");
        auto v = fresh();
        v.reserve(20);
        v.insert(v.begin() + 1, v[0].children.begin(), v[0].children.end());
        ASSERT_EQ(v.size(), 8U);
        EXPECT_EQ(v[1].name, root + ".0.0");
        EXPECT_EQ(v[5].name, root + ".0.4");
        EXPECT_EQ(v[6].name, root + ".1");
        EXPECT_EQ(v[0].children.size(), 5U);
    }
    {
        SCOPED_TRACE("inserted, before the parent");
        auto v = fresh();
        v.shrink_to_fit();
        v.insert(v.begin(), v[1].children.begin(), v[1].children.end());
        ASSERT_EQ(v.size(), 5U);
        EXPECT_EQ(v[1].name, root + ".1.1");
        EXPECT_EQ(v[3].children.size(), 2U);
    }
    {
        SCOPED_TRACE("appended");
        auto v = fresh();
        for (int round = 0; round != 5; ++round) v.append_range(v[0].children);
        EXPECT_EQ(v.size(), 28U);
        EXPECT_EQ(v.back().name, root + ".0.4");
        v.push_back(v[0].children[2]);
        v.push_back(std::move(v[0].children[2]));
        EXPECT_EQ(v.back().name, root + ".0.2");
    }
    {
        SCOPED_TRACE("exchanged with what was a child");
        auto v = fresh();
        auto child = std::move(v[0].children);
        v.swap(child);
        names_are<Container>(v, root + ".0", 5);
        EXPECT_EQ(child.size(), 3U);
    }
    {
        SCOPED_TRACE("itself");
        auto v = fresh();
        auto& same = v;
        v = same;
        v = std::move(same);
        EXPECT_EQ(v.size(), 3U);
    }
}

TEST(inside_itself, vector) { replaced_by_a_child<plain_vector>(); }
TEST(inside_itself, vector_in_a_reservation) { replaced_by_a_child<headroom_test::mapped_vector>(); }
TEST(inside_itself, small_vector) { replaced_by_a_child<none_inside>(); }
TEST(inside_itself, settled_vector) {
    if (!headroom_test::many_addresses) GTEST_SKIP() << "32 bits of addresses hold too few reservations for a tree of them";
    replaced_by_a_child<settled>();
}
TEST(inside_itself, vector_with_allocators_that_stay) { replaced_by_a_child<numbered>(); }
TEST(inside_itself, vector_with_allocators_that_travel) { replaced_by_a_child<travelling>(); }

// A tree of maps of vectors: the child is not in the container's memory.
template <template <class> class Container>
struct branch {
    int number = 0;
    std::map<std::string, Container<branch>> children;
};
template <template <class> class Container>
void replaced_through_a_map() {
    Container<branch<Container>> v(2);
    v[1].children["left"].resize(3);
    v[1].children["left"][2].number = 7;
    v[1].children["left"][2].children["right"].resize(9);
    v = std::move(v[1].children["left"]);
    ASSERT_EQ(v.size(), 3U);
    EXPECT_EQ(v[2].number, 7);
    v = Container<branch<Container>>(v[2].children["right"]);
    EXPECT_EQ(v.size(), 9U);
}
TEST(inside_itself, a_tree_of_maps) {
    replaced_through_a_map<plain_vector>();
    replaced_through_a_map<settled>();
    replaced_through_a_map<two_inside>();
    replaced_through_a_map<many_inside>();
}

// At compile time.
constexpr int replaced_at_compile_time() {
    struct leaf {
        int number = 0;
        headroom::vector<int> numbers{};
    };
    headroom::vector<headroom::vector<int>> unused;
    headroom::vector<leaf> v(2);
    v[0].numbers = {1, 2, 3};
    headroom::vector<leaf> w;
    w = v;
    w = std::move(v);
    return w[0].numbers[2];
}
static_assert(replaced_at_compile_time() == 3);

// A reservation that owns another one, placed in its own memory.
TEST(inside_itself, reservation) {
    headroom::reservation outer(std::size_t{1} << 20);
    outer.commit_to(4096);
    auto* const inner = ::new (static_cast<void*>(outer.data())) headroom::reservation(std::size_t{1} << 21);
    inner->commit_to(4096);
    std::byte* const data = inner->data();
    data[7] = std::byte{42};
    outer = std::move(*inner);
    EXPECT_EQ(outer.data(), data);
    EXPECT_EQ(outer.data()[7], std::byte{42});
}
TEST(inside_itself, arena) {
    headroom::arena outer(std::size_t{1} << 20);
    auto* const inner =
        ::new (outer.allocate(sizeof(headroom::arena), alignof(headroom::arena))) headroom::arena(std::size_t{1} << 21);
    auto* const block = static_cast<char*>(inner->allocate(100));
    block[7] = 42;
    outer = std::move(*inner);
    EXPECT_EQ(block[7], 42);
    EXPECT_EQ(outer.used(), 100U);
}
TEST(inside_itself, winked) {
    struct chained {
        int number = 0;
        headroom::winked<chained>* next = nullptr;
    };
    headroom::monotonic_resource memory;
    headroom::winked<chained> second(memory);
    second->number = 2;
    headroom::winked<chained> first(memory);
    first->next = &second;
    first = std::move(*first->next);
    EXPECT_EQ(first->number, 2);
}

}    // namespace
