// SPDX-License-Identifier: MIT
// Labels: core
// Containers of a type that is incomplete where they are declared, as std::vector allows, and what they take in the object. That static
// data members do not ask for the element's size is seen by MSVC, and by lint_attributes.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include <headroom/concurrent_vector.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

namespace {

template <template <class> class Container>
struct tree {
    std::string name;
    Container<tree> children;
};
template <class T>
using vector_of = headroom::vector<T>;
template <class T>
using settled_vector_of = headroom::settled_vector<T>;
template <class T>
using small_vector_of = headroom::small_vector<T, 0>;    // with elements inside it must know their size

template <template <class> class Container>
void grows_and_moves() {
    tree<Container> root{"root", {}};
    for (int i = 0; i != 20; ++i) {    // each settled_vector takes addresses, of which 32-bit programs have few
        root.children.push_back(tree<Container>{"child " + std::to_string(i), {}});
        root.children.back().children.push_back(tree<Container>{"grandchild", {}});
    }
    const tree<Container> moved = std::move(root);
    ASSERT_EQ(moved.children.size(), 20U);
    EXPECT_EQ(moved.children[19].name, "child 19");
    EXPECT_EQ(moved.children[19].children[0].name, "grandchild");
}

TEST(incomplete_elements, a_vector_of_its_own_class_is_a_tree) {
    grows_and_moves<vector_of>();
    grows_and_moves<settled_vector_of>();
    grows_and_moves<small_vector_of>();
}

struct logged {
    int number = 0;
    headroom::concurrent_vector<logged>* later = nullptr;
    headroom::concurrent_vector<logged> mine;
};
TEST(incomplete_elements, a_class_may_have_a_concurrent_vector_of_itself) {
    logged first;
    first.mine.emplace_back();
    EXPECT_EQ(first.mine.size(), 1U);
}

// Empty allocators and memory take no bytes, in Microsoft's ABI neither.
static_assert(sizeof(headroom::vector<int>) == 3 * sizeof(void*));
static_assert(sizeof(headroom::vector<int>) == sizeof(headroom::vector<tree<vector_of>>));
static_assert(sizeof(headroom::small_vector<int, 4>) == 3 * sizeof(void*) + 4 * sizeof(int));

}    // namespace
