// SPDX-License-Identifier: MIT
// Labels: core
// Compile-time properties: constant evaluation, deduction, types of the interface, element types that the standard allows.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

namespace {

using headroom::vector;

// --- Constant evaluation ([vector.overview]: "constexpr for everything").

constexpr bool appends_and_removes() {
    vector<int> v;
    for (int i = 0; i < 100; ++i) v.push_back(i);
    v.emplace_back(100);
    v.pop_back();
    v.push_back(v[3]);
    if (v.size() != 101 || v.back() != 3 || v.at(99) != 99) return false;
    v.erase(v.begin() + 1);
    v.erase(v.begin(), v.begin() + 50);
    v.clear();
    return v.empty();
}
static_assert(appends_and_removes());

constexpr bool inserts_at_every_place() {
    for (int at = 0; at <= 4; ++at) {
        vector<int> v{0, 1, 2, 3};
        v.insert(v.begin() + at, 9);
        v.insert(v.begin() + at, 3, 8);
        v.insert(v.begin() + at, {7, 6});
        const std::array<int, 2> some{5, 4};
        v.insert(v.begin() + at, some.begin(), some.end());
        v.insert_range(v.begin() + at, some);
        v.emplace(v.begin() + at, v[0]);
        if (v.size() != 15 || v[static_cast<std::size_t>(at)] != (at == 0 ? 5 : 0)) return false;
    }
    return true;
}
static_assert(inserts_at_every_place());

constexpr bool copies_moves_and_assigns() {
    const vector<int> source(5, 7);
    vector<int> copy(source);
    vector<int> moved(std::move(copy));
    copy = moved;
    copy.assign(3, copy[0]);
    copy.assign({1, 2, 3, 4});
    copy = {1, 2};
    swap(copy, moved);
    vector<int> other;
    other = std::move(moved);
    other.append_range(source);
    other.assign_range(source);
    return copy == source && other == source && copy <= other && (copy <=> other) == 0 && !(copy < other);
}
static_assert(copies_moves_and_assigns());

constexpr bool changes_size_and_capacity() {
    vector<int> v;
    v.reserve(10);
    if (v.capacity() < 10) return false;
    v.resize(5);
    v.resize(8, 3);
    v.shrink_to_fit();
    return v.size() == 8 && v[4] == 0 && v[7] == 3;
}
static_assert(changes_size_and_capacity());

struct owner {
    constexpr owner() : value(new int(5)) {}
    constexpr owner(const owner& other) : value(new int(*other.value)) {}
    constexpr owner(owner&& other) noexcept : value(std::exchange(other.value, nullptr)) {}
    constexpr owner& operator=(owner other) noexcept {
        std::swap(value, other.value);
        return *this;
    }
    constexpr ~owner() { delete value; }
    int* value;
};

// The compiler detects leaks and double destruction during constant evaluation.
constexpr bool owns_what_it_holds() {
    vector<owner> v(3);
    v.resize(20);
    v.insert(v.begin() + 2, 4, v[0]);
    v.erase(v.begin(), v.begin() + 3);
    v.push_back(v.front());
    v.emplace(v.begin() + 1);
    v.shrink_to_fit();
    int sum = 0;
    for (const owner& o : v) sum += *o.value;
    return sum == 23 * 5;
}
static_assert(owns_what_it_holds());

constexpr bool goes_beyond_the_standard() {
    vector<int> v{1, 2};
    if (v.try_push_back(3) != &v.back() || v.try_emplace_back(4) != &v.back()) return false;
    v.reserve(6);
    v.unchecked_push_back(5);
    v.unchecked_emplace_back(6);
    v.resize_and_overwrite(8, [](int* p, std::size_t n) {
        p[6] = 7;
        return n - 1;
    });
    if (!v.try_pop_back()) return false;
    const vector<int> w{1, 2, 3, 4, 5, 6};
    if (v != w) return false;
    return erase(v, 3) == 1 && erase_if(v, [](int x) { return x % 2 == 0; }) == 3 && v == vector<int>{1, 5};
}
static_assert(goes_beyond_the_standard());

// --- Deduction ([vector.overview]).

static_assert(std::is_same_v<decltype(vector{1, 2, 3}), vector<int>>);
static_assert(std::is_same_v<decltype(vector(std::declval<int*>(), std::declval<int*>())), vector<int>>);
static_assert(
    std::is_same_v<decltype(vector(std::declval<std::list<char>::iterator>(), std::declval<std::list<char>::iterator>())),
                   vector<char>>);
static_assert(std::is_same_v<decltype(vector(headroom::from_range, std::declval<std::list<long>&>())), vector<long>>);
static_assert(std::is_same_v<decltype(vector(3, 2.5)), vector<double>>);
static_assert(std::is_same_v<decltype(vector(std::declval<vector<int>&>())), vector<int>>);
static_assert(std::is_same_v<decltype(vector{std::declval<vector<int>>(), std::declval<vector<int>>()}), vector<vector<int>>>);
static_assert(std::is_same_v<decltype(vector(std::declval<int*>(), std::declval<int*>(), std::pmr::polymorphic_allocator<int>())),
                             headroom::pmr::vector<int>>);

// --- Overloads that must not compile.

static_assert(!std::is_convertible_v<std::size_t, vector<int>>, "the constructor from a count is explicit");
static_assert(!std::is_constructible_v<vector<int>, std::string_view, int>);
static_assert(!std::is_constructible_v<vector<std::unique_ptr<int>>, std::list<int>::iterator, int>);
struct only_moved {
    only_moved() = default;
    only_moved(only_moved&&) = default;
    only_moved& operator=(only_moved&&) = default;
};
static_assert(std::is_nothrow_move_constructible_v<vector<only_moved>>);

// --- Elements

TEST(vector_of_bool, holds_real_bools) {
    vector<bool> v{true, false, true};
    bool& first = v[0];
    first = false;
    EXPECT_FALSE(v[0]);
    static_assert(std::is_same_v<vector<bool>::reference, bool&>);
    v.resize(100, true);
    EXPECT_TRUE(v.back());
    bool* const data = v.data();
    EXPECT_TRUE(data[2]);
}

// [vector.overview]: the element type may be incomplete where the vector is declared.
struct node {
    int value = 0;
    vector<node> children;
};

TEST(vector_of_an_incomplete_type, may_be_a_member_of_that_type) {
    node root;
    root.children.resize(2);
    root.children[1].children.push_back(node{5, {}});
    const node copy = root;
    EXPECT_EQ(copy.children[1].children[0].value, 5);
}

#if !defined(__clang__) || __clang_major__ >= 16    // earlier ones cannot compile libstdc++'s views
// The referenced type of a range may also be incomplete.
struct never_defined;
template <class Vector>
bool refers_to_what_is_never_defined() {
    const std::array<never_defined*, 3> places{};
    auto referred = places | std::views::transform([](never_defined* each) -> never_defined& { return *each; });
    return Vector(referred.begin(), referred.begin()).empty();
}

TEST(vector_of_references, to_an_incomplete_type_may_be_made_of_a_range_of_them) {
    EXPECT_TRUE(refers_to_what_is_never_defined<vector<std::reference_wrapper<never_defined>>>());
    EXPECT_TRUE(refers_to_what_is_never_defined<headroom::settled_vector<std::reference_wrapper<never_defined>>>());
}
#endif

struct only_constructible {
    explicit only_constructible(int v) : value(v) {}
    only_constructible(const only_constructible&) = default;
    only_constructible(only_constructible&&) = default;
    only_constructible& operator=(const only_constructible&) = delete;
    only_constructible& operator=(only_constructible&&) = delete;
    const int value;
};

// push_back, reserve and shrink_to_fit need no assignment; only resize(n) needs a default constructor.
TEST(vector_of_constants, can_grow_though_its_elements_cannot_be_assigned) {
    vector<only_constructible> v;
    for (int i = 0; i < 1000; ++i) v.emplace_back(i);
    v.push_back(v[3]);
    v.reserve(5000);
    v.shrink_to_fit();
    v.pop_back();
    const vector<only_constructible> copy(v);
    EXPECT_EQ(copy.back().value, 999);
}

// [vector.cons]: a count needs only default construction, a forward range only construction from its elements.
TEST(vector_of_immovable_elements, can_be_made_and_shrunk_but_not_grown) {
    vector<std::mutex> locks(10);
    const std::lock_guard guard(locks[3]);
    const int values[] = {1, 2, 3};
    vector<std::atomic<int>> counters(std::begin(values), std::end(values));
    vector<std::atomic<int>> others(300'000);
    EXPECT_EQ(others.back(), 0);
    swap(counters, others);
    EXPECT_EQ(others[2], 3);
    others.pop_back();
    counters.clear();
    vector<std::atomic<int>> moved(std::move(others));
    EXPECT_EQ(moved.size(), 2U);
    EXPECT_TRUE(counters.empty());
}

// A container that never relocates does not need movable elements.
TEST(settled_vector_of_immovable_elements, can_grow) {
    headroom::settled_vector<std::mutex> locks(10);
    locks.emplace_back();
    locks.resize(5000);
    EXPECT_TRUE(locks.back().try_lock());
    locks.back().unlock();
    headroom::settled_vector<std::atomic<int>> counters;
    for (int i = 0; i < 5000; ++i) counters.emplace_back(i);
    ASSERT_NE(counters.try_emplace_back(5000), nullptr);
    EXPECT_EQ(counters[4999] + counters[5000], 9999);
}

template <std::size_t Ballast, bool Relocatable>
struct hostile {
    using headroom_is_trivially_relocatable = std::bool_constant<Relocatable>;
    hostile() = default;
    hostile(const hostile& other) noexcept : value(other.value) {}
    hostile& operator=(const hostile&) = default;
    template <class U>
    friend void operator,(const hostile&, U&&) = delete;
    template <class U>
    friend void operator,(U&&, const hostile&) = delete;
    hostile* operator&() = delete;
    const hostile* operator&() const = delete;
    int value = 0;
    std::array<char, Ballast> ballast{};
};

template <class T>
class vector_of_hostile_types : public testing::Test {};
using hostile_types = testing::Types<hostile<1, false>, hostile<1, true>, hostile<100, false>, hostile<100, true>>;
TYPED_TEST_SUITE(vector_of_hostile_types, hostile_types);

TYPED_TEST(vector_of_hostile_types, uses_neither_their_comma_nor_their_address_operator) {
    vector<TypeParam> v(3);
    v.push_back(TypeParam());
    v.push_back(v[0]);
    for (int i = 0; i < 100; ++i) v.emplace_back(v[0]);
    v.insert(v.begin() + 1, v[3]);
    v.insert(v.begin() + 1, 5, v[0]);
    v.assign(10, v[1]);
    v.emplace(v.begin());
    v.erase(v.begin());
    v.resize(2000);
    v.shrink_to_fit();
    const auto copy = v;
    EXPECT_EQ(copy.size(), 2000U);
}

struct explicit_only {
    explicit explicit_only(int v) : value(v) {}
    int value;
};

TEST(vector_of_explicit_types, emplaces_what_only_converts_explicitly) {
    vector<explicit_only> v;
    v.emplace_back(5);
    v.emplace(v.begin(), 4);
    v.reserve(3);
    v.unchecked_emplace_back(6);
    const std::array<int, 2> source{1, 2};
    const vector<explicit_only> built(source.begin(), source.end());
    EXPECT_EQ(v[0].value + v[1].value + v[2].value + built[1].value, 17);
}

// The argument may be part of an element.
TEST(vector_of_pairs, can_be_appended_to_from_halves_of_its_own_elements) {
    using two = std::pair<std::string, std::string>;
    const std::string a(40, 'a');
    const std::string b(40, 'b');
    for (int spare = 0; spare < 2; ++spare) {
        vector<two> v(10, two(a, b));
        v.reserve(v.size() + static_cast<std::size_t>(spare));
        v.emplace_back(v[0].second, v[0].first);
        EXPECT_EQ(v.back(), two(b, a));
        v.shrink_to_fit();
        v.emplace(v.begin(), v[10].first, v[10].second);
        EXPECT_EQ(v.front(), two(b, a));
        v.emplace(v.begin() + 5, v.back().first, v.front().second);
        EXPECT_EQ(v[5], two(b, a));
    }
    vector<std::array<int, 2>> small(16, {1, 2});
    small.push_back({small[0][1], small[0][0]});
    EXPECT_EQ(small.back()[0], 2);
}

TEST(vector_of_vectors, nests) {
    vector<vector<std::string>> v(3, vector<std::string>(2, "a"));
    v.push_back({"b", "c"});
    v.insert(v.begin(), v[3]);
    v.resize(1000);
    EXPECT_EQ(v[0][1], "c");
    EXPECT_EQ(v[4][0], "b");
    EXPECT_EQ(v[1], v[2]);
}

struct member {
    int field = 3;
};

// A null pointer to member is not all zero bytes: value-initialization by memset would make it point to the first member.
TEST(vector_of_member_pointers, value_initialises_them_to_null) {
    const vector<int member::*> v(100);
    for (const auto p : v) EXPECT_EQ(p, nullptr);
}

}    // namespace
