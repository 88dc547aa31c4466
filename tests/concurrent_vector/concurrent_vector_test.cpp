// SPDX-License-Identifier: MIT
// concurrent_vector on one thread: appending, reading, limits, taking the elements out.
// Labels: core
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <headroom/concurrent_vector.hpp>

#include "support/elements.hpp"
#include "support/iterators.hpp"

namespace {

using headroom::concurrent_vector;
using headroom::max_elements;
using headroom_test::book;
using headroom_test::counted;
using headroom_test::make;
using headroom_test::number;
using headroom_test::numbers;
using headroom_test::numbers_list;
using headroom_test::planned_failure;

template <class T>
class a_concurrent_vector : public testing::Test {
protected:
    void SetUp() override { headroom_test::open_book(); }
    void TearDown() override { EXPECT_EQ(book.live, 0) << "elements were leaked, or destroyed more than once"; }
};
using kinds = testing::Types<int, std::string, std::unique_ptr<int>, headroom_test::self_referential, headroom_test::throwing,
                             headroom_test::move_only, headroom_test::throwing_move_only, headroom_test::opted_in,
                             headroom_test::overaligned, headroom_test::big, headroom_test::three_ints>;
TYPED_TEST_SUITE(a_concurrent_vector, kinds);

TYPED_TEST(a_concurrent_vector, starts_empty_with_room_for_four_gigabytes_or_what_was_said) {
    const concurrent_vector<TypeParam> v;
    EXPECT_EQ(v.size(), 0U);
    EXPECT_TRUE(v.empty());
    EXPECT_TRUE(v.published().empty());
    EXPECT_EQ(v.begin(), v.end());
    EXPECT_GE(v.max_size(), (std::size_t{1} << 20) / sizeof(TypeParam));
    const concurrent_vector<TypeParam> exact(max_elements{7});
    EXPECT_EQ(exact.max_size(), 7U);
}

TYPED_TEST(a_concurrent_vector, answers_each_append_with_the_index_of_what_it_appended) {
    concurrent_vector<TypeParam> v;
    for (int i = 0; i < 1000; ++i) {
        TypeParam element = make<TypeParam>(i);
        const std::size_t index = i % 2 == 0 ? v.emplace_back(std::move(element)) : v.push_back(std::move(element));
        ASSERT_EQ(index, static_cast<std::size_t>(i));
        ASSERT_EQ(number(v[index]), i);
        ASSERT_EQ(v.size(), index + 1);
    }
    EXPECT_EQ(numbers(v), counted(1000));
    EXPECT_EQ(numbers(v.published()), counted(1000));
}

TYPED_TEST(a_concurrent_vector, copies_what_is_pushed_by_reference) {
    if constexpr (std::is_copy_constructible_v<TypeParam>) {
        concurrent_vector<TypeParam> v;
        const TypeParam element = make<TypeParam>(5);
        v.push_back(element);
        v.push_back(v[0]);    // its own element
        EXPECT_EQ(numbers(v), (numbers_list{5, 5}));
        EXPECT_EQ(number(element), 5);
    }
}

TYPED_TEST(a_concurrent_vector, never_moves_an_element) {
    concurrent_vector<TypeParam> v;
    v.push_back(make<TypeParam>(0));
    const auto early = v.published();
    const int count = v.max_size() < 20000 ? static_cast<int>(v.max_size()) : 20000;    // with 32-bit addresses it holds less
    for (int i = 1; i < count; ++i) v.push_back(make<TypeParam>(i));
    EXPECT_EQ(early.data(), v.data());
    EXPECT_EQ(early.size(), 1U);
    EXPECT_EQ(number(early[0]), 0);
    EXPECT_EQ(numbers(v), counted(static_cast<std::size_t>(count)));
}

TYPED_TEST(a_concurrent_vector, appends_ranges_of_every_kind_in_one_piece) {
    concurrent_vector<TypeParam> v;
    const auto moved = [](auto& container) {
        return headroom_test::elements_between{std::make_move_iterator(container.begin()),
                                               std::make_move_iterator(container.end())};
    };
    std::vector<TypeParam> some;
    for (int i = 0; i < 500; ++i) some.push_back(make<TypeParam>(i));
    EXPECT_EQ(v.append_range(moved(some)), 0U);
    std::list<TypeParam> more;
    for (int i = 500; i < 700; ++i) more.push_back(make<TypeParam>(i));
    EXPECT_EQ(v.append_range(moved(more)), 500U);
    std::vector<TypeParam> none;
    EXPECT_EQ(v.append_range(moved(none)), 700U);
    EXPECT_EQ(numbers(v), counted(700));
    if constexpr (std::is_copy_constructible_v<TypeParam>) {
        EXPECT_EQ(v.append_range(v), 700U);    // its own elements
        EXPECT_EQ(v.size(), 1400U);
        EXPECT_EQ(number(v[1399]), 699);
    }
}

TYPED_TEST(a_concurrent_vector, appends_all_of_a_range_or_nothing) {
    concurrent_vector<TypeParam> v(max_elements{10});
    for (int i = 0; i < 6; ++i) v.push_back(make<TypeParam>(i));
    std::list<TypeParam> five;
    for (int i = 0; i < 5; ++i) five.push_back(make<TypeParam>(i));
    EXPECT_THROW(v.append_range(
                     headroom_test::elements_between{std::make_move_iterator(five.begin()), std::make_move_iterator(five.end())}),
                 std::length_error);
    EXPECT_EQ(numbers(v), counted(6));
    v.push_back(make<TypeParam>(6));
    EXPECT_EQ(numbers(v), counted(7));
}

TYPED_TEST(a_concurrent_vector, is_full_at_its_limit_and_loses_nothing) {
    concurrent_vector<TypeParam> v(max_elements{100});
    for (int i = 0; i < 100; ++i) v.push_back(make<TypeParam>(i));
    TypeParam one_more = make<TypeParam>(100);
    EXPECT_THROW(v.push_back(std::move(one_more)), std::length_error);
    EXPECT_EQ(number(one_more), 100) << "what did not fit was moved from";
    EXPECT_EQ(numbers(v), counted(100));
    EXPECT_EQ(v.max_size(), 100U);
}

TYPED_TEST(a_concurrent_vector, throws_where_at_finds_nothing) {
    concurrent_vector<TypeParam> v;
    v.push_back(make<TypeParam>(3));
    EXPECT_EQ(number(v.at(0)), 3);
    EXPECT_EQ(number(std::as_const(v).at(0)), 3);
    EXPECT_THROW(static_cast<void>(v.at(1)), std::out_of_range);
    EXPECT_THROW(static_cast<void>(std::as_const(v).at(1)), std::out_of_range);
}

TYPED_TEST(a_concurrent_vector, reserves_memory_ahead) {
    concurrent_vector<TypeParam> v(max_elements{5000});
    v.reserve(3000);
    EXPECT_GE(v.capacity(), 3000U);
    EXPECT_EQ(v.size(), 0U);
    v.reserve(10);
    EXPECT_GE(v.capacity(), 3000U);
    EXPECT_THROW(v.reserve(5001), std::length_error);
}

TYPED_TEST(a_concurrent_vector, gives_its_elements_away_where_they_stand) {
    concurrent_vector<TypeParam> v(max_elements{40000});
    for (int i = 0; i < 3000; ++i) v.push_back(make<TypeParam>(i));
    const TypeParam* const where = v.data();
    headroom::settled_vector<TypeParam> taken = std::move(v).take();
    EXPECT_EQ(taken.data(), where);
    EXPECT_EQ(numbers(taken), counted(3000));
    EXPECT_EQ(taken.max_size(), 40000U);
    taken.push_back(make<TypeParam>(3000));
    EXPECT_EQ(numbers(taken), counted(3001));
    taken.erase(taken.begin());
    EXPECT_EQ(number(taken.front()), 1);
    // A vector whose elements were taken out has no capacity.
    EXPECT_EQ(v.size(), 0U);
    EXPECT_EQ(v.max_size(), 0U);
    EXPECT_THROW(v.push_back(make<TypeParam>(1)), std::length_error);
    EXPECT_TRUE(std::move(v).take().empty());
}

TYPED_TEST(a_concurrent_vector, gives_away_nothing_as_an_empty_vector) {
    concurrent_vector<TypeParam> v;
    headroom::settled_vector<TypeParam> taken = std::move(v).take();
    EXPECT_TRUE(taken.empty());
    taken.push_back(make<TypeParam>(1));
    EXPECT_EQ(numbers(taken), (numbers_list{1}));
}

TEST(concurrent_vector, takes_lists_and_single_pass_ranges) {
    concurrent_vector<int> v;
    EXPECT_EQ(v.append_range({1, 2, 3}), 0U);
    std::istringstream text("4 5 6 7");
    EXPECT_EQ(v.append_range(headroom_test::elements_between{std::istream_iterator<int>(text), std::istream_iterator<int>()}),
              3U);
    EXPECT_EQ(numbers(v), counted(7, 1));
    concurrent_vector<std::string> strings;
    strings.append_range(std::vector<const char*>{"a", "b"});
    EXPECT_EQ(strings[1], "b");
}

TEST(concurrent_vector, has_a_changeable_element_under_each_index) {
    concurrent_vector<int> v;
    v.append_range({1, 2, 3});
    v[1] = 20;
    v.at(2) = 30;
    for (int& each : v) ++each;
    EXPECT_EQ(numbers(v), (numbers_list{2, 21, 31}));
}

TEST(concurrent_vector, leaves_no_trace_of_an_element_whose_constructor_throws) {
    headroom_test::open_book();
    {
        concurrent_vector<headroom_test::self_referential> v;
        v.emplace_back(1);
        headroom_test::open_book(1);
        EXPECT_THROW(v.emplace_back(2), planned_failure);
        EXPECT_EQ(numbers(v), (numbers_list{1}));
        v.emplace_back(3);
        EXPECT_EQ(numbers(v), (numbers_list{1, 3}));
        const std::vector<int> many = counted(50);
        for (long k = 1; k <= 50; ++k) {
            headroom_test::open_book(k);
            EXPECT_THROW(v.append_range(many), planned_failure);
            EXPECT_EQ(v.size(), 2U);
        }
        headroom_test::open_book();
        v.append_range(many);
        EXPECT_EQ(v.size(), 52U);
    }
    EXPECT_EQ(book.live, 0);
}

TEST(concurrent_vector, undoes_what_it_built_in_place_when_a_move_throws) {
    headroom_test::open_book();
    {
        concurrent_vector<headroom_test::throwing> v;
        v.emplace_back(1);
        std::vector<headroom_test::throwing> many;
        for (int i = 0; i < 30; ++i) many.emplace_back(i);
        for (long k = 1; k <= 30; ++k) {
            headroom_test::open_book(k);
            EXPECT_THROW(v.append_range(many), planned_failure);
            EXPECT_EQ(numbers(v), (numbers_list{1}));
        }
        headroom_test::open_book();
        EXPECT_EQ(v.append_range(many), 1U);
        EXPECT_EQ(v.size(), 31U);
    }
    EXPECT_EQ(book.live, 0);
}

TEST(concurrent_vector, is_found_by_its_name) {
    concurrent_vector<int> v(max_elements{1000});
    v.name("events");
    v.push_back(1);
    const auto owner = headroom::owner_of(&v[0]);
    ASSERT_TRUE(owner.has_value());
    EXPECT_EQ(owner->name, "events");
    EXPECT_EQ(owner->base, v.data());
    headroom::settled_vector<int> taken = std::move(v).take();
    EXPECT_EQ(headroom::owner_of(taken.data())->name, "events");
}

TEST(concurrent_vector, gives_its_range_back_at_its_end) {
    headroom::trim_cache();
    const std::size_t before = headroom::reservations().size();
    {
        concurrent_vector<std::string> v;
        for (int i = 0; i < 10000; ++i) v.emplace_back("a string that is too long to be held in place");
        EXPECT_EQ(headroom::reservations().size(), before + 1);
    }
    EXPECT_EQ(headroom::reservations().size(), before);
}

TEST(concurrent_vector, can_be_protected_and_freed_again) {
    concurrent_vector<int> v;
    v.append_range(counted(5000));
    {
        const headroom::scoped_access reading(v, headroom::access::read_only);
        EXPECT_EQ(v.current_access(), headroom::access::read_only);
        EXPECT_EQ(numbers(v), counted(5000));
        EXPECT_DEATH(*static_cast<volatile int*>(&v[17]) = 1, "");
    }
    v[17] = 1;
    EXPECT_EQ(v[17], 1);
    v.protect(headroom::access::none);    // and is destroyed like that
}

TEST(concurrent_vector, commits_no_more_than_it_promises) {
    // Commits the next step when half of the last one is used: less than 64 KiB are committed and unused.
    concurrent_vector<long> v;
    for (long i = 0; i < 300'000; ++i) {
        v.push_back(i);
        ASSERT_LE((v.capacity() - v.size()) * sizeof(long), (std::size_t{64} << 10) + headroom::page_size());
    }
}

TEST(concurrent_vector, waits_for_what_is_there_and_refuses_to_wait_for_what_can_never_be) {
    concurrent_vector<int> v(max_elements{10});
    v.append_range({1, 2, 3});
    v.wait_for(0);
    v.wait_for(3);
    EXPECT_THROW(v.wait_for(11), std::length_error);
}

struct held_open : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::commit_policy{}.held(headroom::holding::open);
};
struct by_page : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::page_by_page();
};
struct fed_ahead : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::prefault_ahead(std::size_t{1} << 20);
};

TEST(concurrent_vector, works_under_every_policy) {
    const auto fill = [](auto& v) {
        for (int i = 0; i < 1'500'000; ++i) v.push_back(i);
        return v.size() == 1'500'000U && v[1'499'999] == 1'499'999;
    };
    concurrent_vector<int, held_open> a(max_elements{2'000'000});
    concurrent_vector<int, by_page> b;
    concurrent_vector<int, fed_ahead> c;
    concurrent_vector<int> d(max_elements{2'000'000}, headroom::huge_pages());
    EXPECT_TRUE(fill(a));
    EXPECT_TRUE(fill(b));
    EXPECT_TRUE(fill(c));
    EXPECT_TRUE(fill(d));
}

}    // namespace
