// SPDX-License-Identifier: MIT
// Types that convert to containers, or are built from one, such as types for JSON. They are compared only by their own operators.
// Each expression is valid for headroom's containers if it is for std::vector.
#include <compare>
#include <functional>
#include <memory>
#include <memory_resource>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <headroom/file_vector.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

#include <gtest/gtest.h>

namespace {

template <class V>
concept container = requires { typename V::const_reverse_iterator; };

// Converts to any container, and is constructed from any; a comparison with one compares two documents.
struct document {
    int number = 0;
    document() = default;
    template <container V>
    document(const V& from) : number(static_cast<int>(from.size())) {}
    template <container V>
    operator V() const;

    friend bool operator==(const document& a, const document& b) { return a.number == b.number; }
    friend std::strong_ordering operator<=>(const document& a, const document& b) { return a.number <=> b.number; }
};
// Converts to any container; has no operators.
struct convertible {
    template <container V>
    operator V() const;
};
// Derived from a container, without own operators.
template <class V>
struct derived : V {
    using V::V;
};

template <class A, class B>
concept equals = requires(const A& a, const B& b) { a == b; };
template <class A, class B>
concept differs = requires(const A& a, const B& b) { a != b; };
template <class A, class B>
concept less = requires(const A& a, const B& b) { a < b; };
template <class A, class B>
concept at_most = requires(const A& a, const B& b) { a <= b; };
template <class A, class B>
concept compares = requires(const A& a, const B& b) { a <=> b; };

// Returns the validity of every comparison of two types, in both orders.
template <class A, class B>
std::vector<bool> comparisons() {
    return {equals<A, B>,  differs<A, B>, less<A, B>,    less<B, A>,     at_most<A, B>,
            at_most<B, A>, equals<B, A>,  differs<B, A>, compares<A, B>, compares<B, A>};
}

template <class V, class Standard>
void answers_alike() {
    EXPECT_EQ((comparisons<V, V>()), (comparisons<Standard, Standard>()));
    EXPECT_EQ((comparisons<V, document>()), (comparisons<Standard, document>()));
    EXPECT_EQ((comparisons<V, convertible>()), (comparisons<Standard, convertible>()));
    EXPECT_EQ((comparisons<V, std::reference_wrapper<const V>>()),
              (comparisons<Standard, std::reference_wrapper<const Standard>>()));
    EXPECT_EQ((comparisons<V, derived<V>>()), (comparisons<Standard, derived<Standard>>()));
    EXPECT_EQ((comparisons<derived<V>, derived<V>>()), (comparisons<derived<Standard>, derived<Standard>>()));
    EXPECT_EQ((comparisons<V, int>()), (comparisons<Standard, int>()));
    EXPECT_EQ((std::is_nothrow_swappable_v<V>), (std::is_nothrow_swappable_v<Standard>));
    EXPECT_EQ((std::is_swappable_with_v<V&, derived<V>&>), (std::is_swappable_with_v<Standard&, derived<Standard>&>));
    EXPECT_EQ((std::is_swappable_with_v<V&, convertible&>), (std::is_swappable_with_v<Standard&, convertible&>));
}

struct no_operators {};
struct equal_only {
    bool operator==(const equal_only&) const = default;
};

TEST(odd_conversions, vector) {
    answers_alike<headroom::vector<int>, std::vector<int>>();
    answers_alike<headroom::vector<std::string>, std::vector<std::string>>();
    answers_alike<headroom::vector<std::unique_ptr<int>>, std::vector<std::unique_ptr<int>>>();
    answers_alike<headroom::vector<equal_only>, std::vector<equal_only>>();
    answers_alike<headroom::vector<no_operators>, std::vector<no_operators>>();
    answers_alike<headroom::pmr::vector<int>, std::pmr::vector<int>>();
    answers_alike<headroom::vector<document>, std::vector<document>>();
}
TEST(odd_conversions, small_vector) {
    answers_alike<headroom::small_vector<int, 4>, std::vector<int>>();
    answers_alike<headroom::small_vector<std::string, 4>, std::vector<std::string>>();
    answers_alike<headroom::small_vector<equal_only, 4>, std::vector<equal_only>>();
    answers_alike<headroom::small_vector<document, 4>, std::vector<document>>();
}
TEST(odd_conversions, settled_vector) {
    answers_alike<headroom::settled_vector<int>, std::vector<int>>();
    answers_alike<headroom::settled_vector<std::string>, std::vector<std::string>>();
    answers_alike<headroom::settled_vector<equal_only>, std::vector<equal_only>>();
    answers_alike<headroom::settled_vector<document>, std::vector<document>>();
}
TEST(odd_conversions, file_vector) {
    answers_alike<headroom::file_vector<int>, std::vector<int>>();
    answers_alike<headroom::file_vector<double>, std::vector<double>>();
}

template <class V>
void own_operators() {
    const V v{1, 2, 3};
    document same;
    same.number = 3;
    EXPECT_TRUE(v == same && same == v);
    EXPECT_FALSE(v != same || v < same || same < v);
    EXPECT_TRUE(v <= same && same >= v);
    const derived<V> child{1, 2, 3};
    EXPECT_TRUE(child == v && v == child && child == child);
    EXPECT_FALSE(child < v);
}
TEST(odd_conversions, own_operators_are_taken) {
    own_operators<std::vector<int>>();
    own_operators<headroom::vector<int>>();
    own_operators<headroom::settled_vector<int>>();
    own_operators<headroom::small_vector<int, 4>>();
}

}    // namespace
