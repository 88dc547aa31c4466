// SPDX-License-Identifier: MIT
// Labels: core
// Unusual but legal elements: std::vector accepts each.
#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <headroom/relocatable.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>

#include <gtest/gtest.h>

#include "odd/every_operation.hpp"
#include "support/vectors.hpp"

namespace {

using headroom_test::every_operation;

// Constructible from any mutable object, like a reference to a function object, so also from a mutable element in place of a
// copy. Small and trivially copyable.
struct greedy {
    int value = -1;
    bool of_its_kind = true;
    greedy() = default;
    explicit greedy(int n) : value(n) {}
    template <class Any>
    greedy(Any&) : of_its_kind(false) {}
    greedy(const greedy&) = default;
    greedy(greedy&&) = default;
    greedy& operator=(const greedy&) = default;
    greedy& operator=(greedy&&) = default;
};
static_assert(std::is_trivially_copyable_v<greedy> && sizeof(greedy) <= 16);

struct explicit_copy {
    int value = -1;
    explicit_copy() = default;
    explicit explicit_copy(int n) : value(n) {}
    explicit explicit_copy(const explicit_copy&) = default;
    explicit_copy& operator=(const explicit_copy&) = default;
};

struct with_volatile_member {
    volatile int value = -1;
};
struct with_const_member {
    const int value = -1;
};

// Its assignments do more than copy bytes.
struct odd_assignment {
    int value = -1;
    int assigned = 0;
    odd_assignment() = default;
    explicit odd_assignment(int n) : value(n) {}
    odd_assignment(const odd_assignment&) = default;
    odd_assignment& operator=(const odd_assignment&) = default;
    template <class Any>
    odd_assignment& operator=(Any&& other) {
        value = other.value;
        assigned = 1;
        return *this;
    }
};

struct odd_operators {
    std::string value;
    odd_operators* operator&() { return nullptr; }
    const odd_operators* operator&() const { return nullptr; }
    template <class Any>
    void operator,(Any&&) const = delete;
};
template <class Any>
void operator,(Any&&, const odd_operators&) = delete;

const auto value_of = [](const auto& x) { return static_cast<int>(x.value); };

template <template <class> class Container>
void every_kind() {
    every_operation<Container<greedy>>([](int n) { return greedy(n); },
                                       [](const greedy& x) { return x.of_its_kind ? x.value : -1000; });
    every_operation<Container<with_volatile_member>>([](int n) { return with_volatile_member{n}; }, value_of);
    every_operation<Container<with_const_member>>([](int n) { return with_const_member{n}; }, value_of);
    every_operation<Container<odd_assignment>>([](int n) { return odd_assignment(n); }, value_of);
    every_operation<Container<odd_operators>>([](int n) { return odd_operators{std::to_string(n)}; },
                                              [](const odd_operators& x) { return x.value.empty() ? -1 : std::stoi(x.value); });
}
template <class T>
using plain_vector = headroom::vector<T>;
template <class T>
using plain_settled_vector = headroom::settled_vector<T>;

template <class T>
using some_inside = headroom::small_vector<T, 6>;

TEST(odd_elements, vector) { every_kind<plain_vector>(); }
TEST(odd_elements, vector_in_a_reservation) { every_kind<headroom_test::mapped_vector>(); }
TEST(odd_elements, small_vector) { every_kind<some_inside>(); }
TEST(odd_elements, settled_vector) { every_kind<plain_settled_vector>(); }

// Copyable only by direct initialization, so there is no initializer list of it.
template <class Container>
void copied_explicitly() {
    Container v;
    const explicit_copy one(1);
    for (int n = 0; n != 100; ++n) {
        v.push_back(one);
        v.push_back(explicit_copy(2));
        v.emplace_back(one);
        v.emplace_back(4);
        v.push_back(v[0]);
    }
    v.insert(v.begin(), one);
    v.insert(v.begin(), explicit_copy(7));
    v.insert(v.begin() + 1, 3, one);
    v.emplace(v.begin(), 9);
    v.resize(v.size() + 3, one);
    v.resize(v.size() + 1);
    v.assign(600, v[0]);
    v.try_push_back(one);
    v.try_emplace_back(3);
    const Container copied(v);
    const Container repeated(5, one);
    v = copied;
    EXPECT_EQ(v.size(), 602U);
    EXPECT_EQ(v[0].value, 9);
    EXPECT_EQ(v[600].value, 1);
    EXPECT_EQ(v[601].value, 3);
    EXPECT_EQ(repeated[4].value, 1);
}
TEST(odd_elements, copied_by_an_explicit_constructor) {
    copied_explicitly<headroom::vector<explicit_copy>>();
    copied_explicitly<headroom_test::mapped_vector<explicit_copy>>();
    copied_explicitly<headroom::settled_vector<explicit_copy>>();
    copied_explicitly<some_inside<explicit_copy>>();
}

// Its constructor stores its address; small and trivially copyable.
struct keeps_its_address {
    const keeps_its_address* built_at = this;
    int value = 0;
    keeps_its_address() = default;
    explicit keeps_its_address(int n) : value(n) {}
    keeps_its_address(int a, int b) noexcept : value(a + b) {}
    explicit keeps_its_address(const char* text) : value(text[0]) {}
};
static_assert(std::is_trivially_copyable_v<keeps_its_address> && sizeof(keeps_its_address) <= 16);

template <class Container>
void built_in_place() {
    const auto in_place = [](const keeps_its_address& x) { return x.built_at == std::addressof(x); };
    Container reserved;
    reserved.reserve(10);
    EXPECT_TRUE(in_place(reserved.emplace_back()));
    EXPECT_TRUE(in_place(reserved.emplace_back(1)));
    EXPECT_TRUE(in_place(reserved.emplace_back(1, 2)));
    EXPECT_TRUE(in_place(*reserved.try_emplace_back(3)));
    EXPECT_TRUE(in_place(reserved.unchecked_emplace_back(3)));
    // After growth too: the newest element is where it was built.
    Container v;
    for (int n = 0; n != 1000; ++n) {
        EXPECT_TRUE(in_place(n % 4 == 0   ? v.emplace_back(n)
                             : n % 4 == 1 ? v.emplace_back(n, 0)
                             : n % 4 == 2 ? v.emplace_back("text")
                                          : v.emplace_back()));
    }
    v.resize(v.size() + 1000);
    EXPECT_TRUE(in_place(v.back()));
    const Container made(100);
    EXPECT_TRUE(in_place(made[99]));
}
TEST(odd_elements, built_where_they_stay) {
    built_in_place<headroom::vector<keeps_its_address>>();
    built_in_place<headroom_test::mapped_vector<keeps_its_address>>();
    built_in_place<headroom::settled_vector<keeps_its_address>>();
    built_in_place<some_inside<keeps_its_address>>();
}

// A constructor may store the address of its argument.
TEST(odd_elements, made_of_references) {
    int numbers[100] = {};
    headroom::vector<std::reference_wrapper<int>> v;
    headroom::vector<std::reference_wrapper<const int>> w;
    for (int& number : numbers) {
        v.emplace_back(number);
        w.emplace_back(number);
    }
    for (std::size_t i = 0; i != 100; ++i) {
        EXPECT_EQ(&v[i].get(), &numbers[i]);
        EXPECT_EQ(&w[i].get(), &numbers[i]);
    }
}
// The argument may be part of an old element of any type.
struct made_of_a_number {
    int value;
    explicit made_of_a_number(const int& n) : value(n) {}
};
struct made_of_a_number_quietly {
    int value;
    explicit made_of_a_number_quietly(int n) noexcept : value(n) {}
};
template <class T>
void made_of_an_old_element() {
    headroom::vector<T> v;
    v.emplace_back(7);
    for (int n = 0; n != 100000; ++n) v.emplace_back(v[v.size() / 2].value);
    EXPECT_EQ(v.back().value, 7);
}
TEST(odd_elements, made_of_a_part_of_an_old_one) {
    made_of_an_old_element<made_of_a_number>();
    made_of_an_old_element<made_of_a_number_quietly>();
}

// A constructor that takes numbers throws before any element moves.
struct throws_at {
    int value;
    explicit throws_at(int n) : value(n) {
        if (n < 0) throw n;
    }
};
TEST(odd_elements, a_constructor_that_throws_leaves_everything_where_it_was) {
    headroom::vector<throws_at> v;
    v.emplace_back(1);
    while (v.size() != v.capacity()) v.emplace_back(2);
    const throws_at* const data = v.data();
    const std::size_t size = v.size();
    EXPECT_THROW(v.emplace_back(-1), int);
    EXPECT_EQ(v.data(), data);
    EXPECT_EQ(v.size(), size);
    EXPECT_EQ(v.capacity(), size);
}

// The result of == need not be bool, and == may take mutable elements.
struct truth {
    bool holds;
    truth(bool is) : holds(is) {}
    truth(const truth&) = delete;
    operator bool() const { return holds; }
};
struct compared_oddly {
    int value;
    explicit compared_oddly(int n) : value(n) {}
    const truth& operator==(int n) {
        static const truth yes(true);
        static const truth no(false);
        return value == n ? yes : no;
    }
};
template <class Container>
void erased_by_value() {
    Container v;
    for (int n = 0; n != 10; ++n) v.emplace_back(n % 3);
    EXPECT_EQ(erase(v, 1), 3U);
    EXPECT_EQ(v.size(), 7U);
    EXPECT_EQ(v[1].value, 2);
    static const truth yes(true);
    EXPECT_EQ(erase_if(v, [](compared_oddly&) -> const truth& { return yes; }), 7U);
}
TEST(odd_elements, erased_by_an_odd_comparison) {
    erased_by_value<headroom::vector<compared_oddly>>();
    erased_by_value<headroom::settled_vector<compared_oddly>>();
}

// The opt-in for relocation does not hold for derived classes.
struct may_move_as_bytes {
    using headroom_is_trivially_relocatable = std::true_type;
    int* owned = nullptr;
    may_move_as_bytes() = default;
    may_move_as_bytes(may_move_as_bytes&& other) noexcept : owned(std::exchange(other.owned, nullptr)) {}
    may_move_as_bytes& operator=(may_move_as_bytes&& other) noexcept {
        std::swap(owned, other.owned);
        return *this;
    }
    ~may_move_as_bytes() { delete owned; }
};
struct points_into_itself : may_move_as_bytes {
    int value;
    const int* into = &value;
    explicit points_into_itself(int n) : value(n) {}
    points_into_itself(points_into_itself&& other) noexcept : may_move_as_bytes(std::move(other)), value(other.value) {}
    points_into_itself& operator=(points_into_itself&& other) noexcept {
        value = other.value;
        return *this;
    }
};
struct names_itself {
    using headroom_is_trivially_relocatable = names_itself;
    int value = 0;
    names_itself() = default;
    names_itself(names_itself&& other) noexcept : value(other.value), private_part_(other.private_part_) {}

private:
    int private_part_ = 0;
};
struct derives_from_one_that_names_itself : names_itself {};
struct says_no {
    using headroom_is_trivially_relocatable = std::false_type;
};
struct derives_from_one_that_says_no : says_no {};
static_assert(headroom::is_trivially_relocatable_v<may_move_as_bytes>);
static_assert(!headroom::is_trivially_relocatable_v<points_into_itself>);
static_assert(headroom::is_trivially_relocatable_v<names_itself>);
static_assert(!headroom::is_trivially_relocatable_v<derives_from_one_that_names_itself>);
static_assert(!headroom::is_trivially_relocatable_v<says_no>);
static_assert(!headroom::is_trivially_relocatable_v<derives_from_one_that_says_no>);

template <class Container>
void moved_one_by_one() {
    Container v;
    for (int n = 0; n != 3000; ++n) v.push_back(points_into_itself(n));
    for (const points_into_itself& x : v) ASSERT_EQ(x.into, &x.value);
    EXPECT_EQ(*v.back().into, 2999);
}
TEST(odd_elements, derived_from_what_may_move_as_bytes) {
    moved_one_by_one<headroom::vector<points_into_itself>>();
    moved_one_by_one<headroom_test::mapped_vector<points_into_itself>>();
}

// Built through a move iterator, an element is constructed from T&&, not from T&.
struct knows_how_it_was_made {
    enum class how { fresh, copied, stolen, taken_for_something_else } made = how::fresh;
    knows_how_it_was_made() = default;
    knows_how_it_was_made(const knows_how_it_was_made&) = default;
    knows_how_it_was_made(knows_how_it_was_made&&) = default;
    template <class Any>
    knows_how_it_was_made(Any&) : made(how::taken_for_something_else) {}
    knows_how_it_was_made& operator=(const knows_how_it_was_made&) = default;
};
template <class Container>
void moved_from_an_array() {
    knows_how_it_was_made from[4];
    Container v(std::make_move_iterator(from), std::make_move_iterator(from + 4));
    v.insert(v.begin(), std::make_move_iterator(from), std::make_move_iterator(from + 4));
    v.assign(std::make_move_iterator(from), std::make_move_iterator(from + 4));
    v.insert(v.end(), std::make_move_iterator(v.data()), std::make_move_iterator(v.data()));
    for (const auto& x : v) EXPECT_EQ(x.made, knows_how_it_was_made::how::fresh);
    EXPECT_EQ(v.size(), 4U);
}
TEST(odd_elements, given_away_by_a_move_iterator) {
    moved_from_an_array<headroom::vector<knows_how_it_was_made>>();
    moved_from_an_array<headroom::settled_vector<knows_how_it_was_made>>();
}

}    // namespace
