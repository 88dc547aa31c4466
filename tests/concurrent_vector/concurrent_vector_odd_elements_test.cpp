// SPDX-License-Identifier: MIT
// Unusual elements: immovable, with overloaded & and comma, appending to their vector while they are built, larger than suits the
// stack.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <headroom/concurrent_vector.hpp>

namespace {

using headroom::concurrent_vector;
using headroom::max_elements;

struct immovable {
    explicit immovable(int n) : number(n), self(this) {}
    immovable(const immovable&) = delete;
    immovable& operator=(const immovable&) = delete;
    ~immovable() { EXPECT_EQ(self, this); }
    std::atomic<int> number;
    const immovable* self;
};

TEST(elements_that_cannot_be_moved, are_built_in_their_place) {
    concurrent_vector<immovable> v;
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(v.emplace_back(i), static_cast<std::size_t>(i));
    for (int i = 0; i < 5000; ++i) {
        ASSERT_EQ(v[static_cast<std::size_t>(i)].number, i);
        ASSERT_EQ(v[static_cast<std::size_t>(i)].self, &v[static_cast<std::size_t>(i)]);
    }
}

TEST(elements_that_cannot_be_moved, can_be_given_away_with_the_vector) {
    concurrent_vector<immovable> v;
    v.emplace_back(1);
    const immovable* const where = v.data();
    const headroom::settled_vector<immovable> taken = std::move(v).take();
    EXPECT_EQ(taken.data(), where);
}

struct throws_in_place {
    explicit throws_in_place(int n) : number(n) {
        if (n < 0) throw std::runtime_error("negative");
    }
    throws_in_place(throws_in_place&& other) noexcept(false) : number(other.number) {}
    int number;
};

TEST(elements_built_in_place, leave_the_lock_free_when_they_throw) {
    concurrent_vector<throws_in_place> v;
    v.emplace_back(1);
    EXPECT_THROW(v.emplace_back(-1), std::runtime_error);
    EXPECT_EQ(v.emplace_back(2), 1U);
    EXPECT_EQ(v.size(), 2U);
    EXPECT_EQ(v[1].number, 2);
}

// Its & and comma operators are deleted: the container must not use them.
struct odd {
    explicit odd(int n) : number(n) {}
    explicit odd(const odd&) = default;
    odd(odd&& other) noexcept : number(other.number) {}
    odd& operator=(const odd&) = default;
    ~odd() {}    // not trivially copyable
    void operator&() const = delete;
    template <class U>
    friend void operator,(const odd&, U&&) = delete;
    template <class U>
    friend void operator,(U&&, const odd&) = delete;
    int number;
};

TEST(elements_with_operators_of_their_own, are_left_alone) {
    concurrent_vector<odd> v;
    v.emplace_back(1);
    v.push_back(odd(2));
    const odd third(3);
    v.push_back(third);
    {
        concurrent_vector<odd>::appender out(v, 2);
        for (int i = 4; i < 9; ++i) out.emplace_back(i);
        out.push_back(third);
    }
    EXPECT_EQ(v.size(), 9U);
    EXPECT_EQ(v[7].number, 8);
    EXPECT_EQ(v[8].number, 3);
}

struct busy_builder {
    busy_builder(concurrent_vector<busy_builder>* to, int depth) : number(depth) {
        if (depth > 0) to->emplace_back(to, depth - 1);
    }
    std::unique_ptr<int> not_trivial;
    int number;
};

TEST(elements_built_aside, may_append_to_the_same_vector) {
    concurrent_vector<busy_builder> v;
    v.emplace_back(&v, 10);
    ASSERT_EQ(v.size(), 11U);
    for (std::size_t i = 0; i < 11; ++i) EXPECT_EQ(v[i].number, static_cast<int>(i));
    {
        concurrent_vector<busy_builder>::appender out(v);
        out.emplace_back(&v, 3);
        EXPECT_EQ(v.size(), 14U);
    }
    EXPECT_EQ(v.size(), 15U);
    EXPECT_EQ(v[14].number, 3);
}

struct huge {
    explicit huge(std::size_t n) : number(n), last(n), text(std::to_string(n)) {}
    std::size_t number;
    std::array<char, (std::size_t{4} << 20)> ballast;
    std::size_t last;
    std::string text;
};

#if defined(__cpp_aggregate_paren_init)
// Clang wrongly takes this aggregate for trivially constructible.
int refusing_initialiser() { throw std::runtime_error("refused"); }
struct initialised {
    int number;
    int refused = number < 0 ? refusing_initialiser() : 0;
};

TEST(aggregates, leave_the_lock_free_when_what_initialises_a_member_throws) {
    concurrent_vector<initialised> v;
    v.emplace_back(1);
    EXPECT_THROW(v.emplace_back(-1), std::runtime_error);
    v.emplace_back(2);
    ASSERT_EQ(v.size(), 2U);
    EXPECT_EQ(v[1].number, 2);
}
#endif

TEST(elements_too_large_for_the_stack, are_built_elsewhere) {
    concurrent_vector<huge> v(max_elements{20});
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(v.emplace_back(i), i);
    {
        concurrent_vector<huge>::appender out(v);
        static_assert(concurrent_vector<huge>::appender::default_batch == 1);
        out.emplace_back(3U);
        EXPECT_EQ(v.size(), 4U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(v[i].number, i);
        EXPECT_EQ(v[i].last, i);
        EXPECT_EQ(v[i].text, std::to_string(i));
    }
}

struct alignas(256) far_apart {
    explicit far_apart(int n) : number(n) {}
    far_apart(far_apart&& other) noexcept : number(other.number) { aligned(); }
    ~far_apart() { aligned(); }
    void aligned() const { EXPECT_EQ(reinterpret_cast<std::uintptr_t>(this) % 256, 0U); }
    int number;
};

TEST(elements_with_a_large_alignment, have_it_wherever_they_are_built) {
    concurrent_vector<far_apart> v;
    v.emplace_back(0);
    std::vector<far_apart> three;
    for (int i = 1; i < 4; ++i) three.emplace_back(i);
    v.append_range(std::ranges::subrange(std::make_move_iterator(three.begin()), std::make_move_iterator(three.end())));
    {
        concurrent_vector<far_apart>::appender out(v);
        for (int i = 4; i < 30; ++i) out.emplace_back(i);
    }
    ASSERT_EQ(v.size(), 30U);
    for (int i = 0; i < 30; ++i) {
        v[static_cast<std::size_t>(i)].aligned();
        EXPECT_EQ(v[static_cast<std::size_t>(i)].number, i);
    }
}

struct pair_of_numbers {    // an aggregate
    int a;
    int b;
};

TEST(aggregates, are_built_from_braces) {
    concurrent_vector<pair_of_numbers> v;
    v.push_back({1, 2});
    v.append_range({{3, 4}, {5, 6}});
    {
        concurrent_vector<pair_of_numbers>::appender out(v);
        out.push_back({7, 8});
    }
    EXPECT_EQ(v[0].b, 2);
    EXPECT_EQ(v[2].a, 5);
    EXPECT_EQ(v[3].b, 8);
}

// An element built in a local is built from the caller's own arguments, also if memory must be committed first.
struct keeps_arguments {
    keeps_arguments(const int& number, int& counter, std::string&& text) : at(&number), taken(std::move(text)) { ++counter; }
    const int* at;
    std::string taken;
};

TEST(arguments_of_an_append, keep_their_identity_with_room_and_without) {
    concurrent_vector<keeps_arguments> v;
    const int number = 7;
    int counter = 0;
    concurrent_vector<keeps_arguments>::appender out(v, 10);
    for (int i = 0; i < 3000; ++i) {
        std::string text = "longer than what a string holds in place " + std::to_string(i);
        const std::string same = text;
        if (i % 2 == 0) {
            v.emplace_back(number, counter, std::move(text));
        } else {
            out.emplace_back(number, counter, std::move(text));
            out.flush();
        }
        ASSERT_TRUE(text.empty());
        ASSERT_EQ(counter, i + 1);
        ASSERT_EQ(v[v.size() - 1].at, &number);
        ASSERT_EQ(v[v.size() - 1].taken, same);
    }
}

}    // namespace
