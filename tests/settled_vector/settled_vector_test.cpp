// SPDX-License-Identifier: MIT
// Labels: core
// Not under Valgrind: settled_vector_growth.two_hundred_default_vectors_reserve844_gigabytes_and_use_little
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>

#include "support/emulated.hpp"
#include "support/growing_elements.hpp"
#include "support/iterators.hpp"

namespace {

using headroom::access;
using headroom::max_elements;
using headroom::scoped_access;
using headroom::settled_vector;
using headroom_test::growing::counted;
using headroom_test::growing::make;
using headroom_test::growing::same;
using headroom_test::growing::wide;

template <class T>
class settled_vector_of : public testing::Test {};
using elements = testing::Types<int, std::string, std::unique_ptr<int>, wide, counted>;
TYPED_TEST_SUITE(settled_vector_of, elements, );

TYPED_TEST(settled_vector_of, appending_never_moves_an_element) {
    settled_vector<TypeParam> v;
    v.push_back(make<TypeParam>(0));
    const TypeParam* const first = &v.front();
    for (int i = 1; i < 20000; ++i) v.push_back(make<TypeParam>(i));
    EXPECT_EQ(&v.front(), first);
    ASSERT_EQ(v.size(), 20000U);
    for (int i = 0; i < 20000; ++i) ASSERT_TRUE(same(v[static_cast<std::size_t>(i)], i)) << i;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % alignof(TypeParam), 0U);
}

TYPED_TEST(settled_vector_of, moved_from_owns_nothing_and_is_usable) {
    settled_vector<TypeParam> v;
    v.push_back(make<TypeParam>(1));
    settled_vector<TypeParam> w = std::move(v);
    EXPECT_TRUE(v.empty());
    EXPECT_EQ(v.capacity(), 0U);
    EXPECT_EQ(v.data(), nullptr);
    v.push_back(make<TypeParam>(2));
    EXPECT_TRUE(same(v.back(), 2));
    EXPECT_TRUE(same(w.back(), 1));
    w = std::move(v);
    EXPECT_TRUE(same(w.front(), 2));
    EXPECT_EQ(v.size(), 0U);
    v.clear();
    v.shrink_to_fit();
    swap(v, w);
    EXPECT_EQ(v.size(), 1U);
}

TYPED_TEST(settled_vector_of, inserts_and_erases_in_the_middle) {
    settled_vector<TypeParam> v;
    for (int i = 0; i < 10; ++i) v.push_back(make<TypeParam>(i));
    v.emplace(v.begin() + 3, make<TypeParam>(77));
    v.insert(v.end(), make<TypeParam>(78));
    v.insert(v.begin(), make<TypeParam>(79));
    std::vector<int> expected{79, 0, 1, 2, 77, 3, 4, 5, 6, 7, 8, 9, 78};
    ASSERT_EQ(v.size(), expected.size());
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_TRUE(same(v[i], expected[i])) << i;
    v.erase(v.begin() + 4);
    v.erase(v.begin());
    v.erase(v.end() - 1, v.end());
    v.erase(v.begin() + 2, v.begin() + 8);
    expected = {0, 1, 8, 9};
    ASSERT_EQ(v.size(), expected.size());
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_TRUE(same(v[i], expected[i])) << i;
}

TYPED_TEST(settled_vector_of, past_its_reservation_it_throws_and_is_unchanged) {
    settled_vector<TypeParam> v(max_elements{1000});
    EXPECT_EQ(v.max_size(), 1000U);
    for (int i = 0; i < 1000; ++i) v.push_back(make<TypeParam>(i));
    EXPECT_EQ(v.capacity(), 1000U);
    EXPECT_THROW(v.push_back(make<TypeParam>(1)), std::length_error);
    EXPECT_THROW(v.emplace_back(), std::length_error);
    EXPECT_THROW(v.emplace(v.begin()), std::length_error);
    EXPECT_THROW(v.resize(1001), std::length_error);
    EXPECT_THROW(v.reserve(1001), std::length_error);
    EXPECT_EQ(v.try_push_back(make<TypeParam>(1)), nullptr);
    EXPECT_EQ(v.try_emplace_back(), nullptr);
    ASSERT_EQ(v.size(), 1000U);
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(same(v[static_cast<std::size_t>(i)], i)) << i;
}

TYPED_TEST(settled_vector_of, rehome_takes_the_elements_to_a_larger_reservation) {
    settled_vector<TypeParam> v(max_elements{100});
    for (int i = 0; i < 100; ++i) v.push_back(make<TypeParam>(i));
    v.name("elements");
    v.rehome(max_elements{100000});
    EXPECT_EQ(v.max_size(), 100000U);
    ASSERT_EQ(v.size(), 100U);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(same(v[static_cast<std::size_t>(i)], i)) << i;
    EXPECT_EQ(headroom::owner_of(v.data())->name, "elements");
    for (int i = 100; i < 5000; ++i) v.push_back(make<TypeParam>(i));
    EXPECT_TRUE(same(v.back(), 4999));
    EXPECT_THROW(v.rehome(max_elements{4999}), std::length_error);
    EXPECT_EQ(v.size(), 5000U);
    v.rehome(max_elements{5000});
    EXPECT_THROW(v.emplace_back(), std::length_error);
}

TYPED_TEST(settled_vector_of, is_unchanged_when_the_system_refuses_memory) {
    headroom::trim_cache();
    settled_vector<TypeParam> v;
    v.push_back(make<TypeParam>(0));
    v.shrink_to_fit();
    while (v.size() < v.capacity()) v.push_back(make<TypeParam>(static_cast<int>(v.size())));
    const std::size_t before = v.size();
    headroom::testing::fail_system_call(1, ENOMEM, headroom::testing::afterwards::keep_failing);
    EXPECT_THROW(v.push_back(make<TypeParam>(1)), std::bad_alloc);
    EXPECT_EQ(v.try_push_back(make<TypeParam>(1)), nullptr);
    headroom::testing::stop_failing();
    ASSERT_EQ(v.size(), before);
    v.push_back(make<TypeParam>(static_cast<int>(before)));
    for (std::size_t i = 0; i <= before; ++i) ASSERT_TRUE(same(v[i], static_cast<int>(i)));
}

template <class T>
class copyable_settled_vector_of : public testing::Test {};
using copyable = testing::Types<int, std::string, wide, counted>;
TYPED_TEST_SUITE(copyable_settled_vector_of, copyable, );

TYPED_TEST(copyable_settled_vector_of, agrees_with_std_vector_in_every_bulk_operation) {
    std::vector<TypeParam> model;
    settled_vector<TypeParam> v;
    const auto check = [&](int line) {
        ASSERT_EQ(v.size(), model.size()) << line;
        EXPECT_TRUE(std::equal(v.begin(), v.end(), model.begin())) << line;
    };
    std::vector<TypeParam> some;
    for (int i = 0; i < 300; ++i) some.push_back(make<TypeParam>(1000 + i));
    for (int round = 0; round < 3; ++round) {
        v.assign(10, make<TypeParam>(5)), model.assign(10, make<TypeParam>(5)), check(__LINE__);
        v.insert(v.begin() + 2, 5, v[0]), model.insert(model.begin() + 2, 5, model[0]), check(__LINE__);
        v.insert(v.begin() + 4, some.begin(), some.end()), model.insert(model.begin() + 4, some.begin(), some.end());
        check(__LINE__);
        v.insert(v.begin() + 300, some.begin(), some.begin() + 3);
        model.insert(model.begin() + 300, some.begin(), some.begin() + 3), check(__LINE__);
        v.insert(v.begin() + 1, 2, make<TypeParam>(9)), model.insert(model.begin() + 1, 2, make<TypeParam>(9)), check(__LINE__);
        v.append_range(some), model.insert(model.end(), some.begin(), some.end()), check(__LINE__);
        v.resize(5), model.resize(5), check(__LINE__);
        v.resize(50, v[1]), model.resize(50, model[1]), check(__LINE__);
        v.resize(5000), model.resize(5000), check(__LINE__);
        v.assign(7000, v[2]), model.assign(7000, TypeParam(model[2])), check(__LINE__);
        v.assign_range(some), model.assign(some.begin(), some.end()), check(__LINE__);
        v.insert_range(v.begin() + 7, some), model.insert(model.begin() + 7, some.begin(), some.end()), check(__LINE__);
        v.push_back(v[0]), model.push_back(TypeParam(model[0])), check(__LINE__);
        v.emplace(v.begin() + 1, v[3]), model.emplace(model.begin() + 1, TypeParam(model[3])), check(__LINE__);
        v.erase(v.begin() + 3, v.begin() + 20), model.erase(model.begin() + 3, model.begin() + 20), check(__LINE__);
    }
    settled_vector<TypeParam> copy(v);
    EXPECT_EQ(copy, v);
    EXPECT_EQ(copy.max_size(), v.max_size());
    copy.push_back(make<TypeParam>(3));
    EXPECT_NE(copy, v);
    v = copy;
    EXPECT_EQ(copy, v);
    v = {make<TypeParam>(1), make<TypeParam>(2)};
    EXPECT_EQ(v.size(), 2U);
    EXPECT_EQ((settled_vector<TypeParam>(headroom::from_range, some).size()), some.size());
    EXPECT_EQ((settled_vector<TypeParam>(3, make<TypeParam>(8))[2]), make<TypeParam>(8));
    EXPECT_EQ(headroom::erase(v, make<TypeParam>(1)), 1U);
}

TEST(settled_vector_of_throwing, loses_nothing_whichever_element_throws) {
    const int before = counted::alive;
    for (int k = 0; k < 60; ++k) {
        std::vector<counted> some(12);
        settled_vector<counted> v(max_elements{100});
        for (int i = 0; i < 10; ++i) v.emplace_back(i);
        counted::fail_in = k;
        try {
            v.insert(v.begin() + 3, some.begin(), some.end());
            v.insert(v.begin() + 20, 3, v[0]);
            v.emplace(v.begin(), 4);
            v.assign(some.begin(), some.begin() + 4);
            v.resize(20);
            settled_vector<counted> other(v);
            other.rehome(max_elements{500});
        } catch (const std::runtime_error&) {}
        counted::fail_in = -1;
        EXPECT_EQ(counted::alive - before, static_cast<int>(v.size() + some.size()));
    }
    EXPECT_EQ(counted::alive, before);
}

TEST(settled_vector_of_throwing, a_constructor_that_throws_changes_nothing) {
    settled_vector<counted> v(max_elements{100});
    for (int i = 0; i < 5; ++i) v.emplace_back(i);
    counted::fail_in = 0;
    EXPECT_THROW(v.emplace_back(5), std::runtime_error);
    counted::fail_in = 3;
    EXPECT_THROW(v.resize(20), std::runtime_error);
    counted::fail_in = 3;
    EXPECT_THROW(v.rehome(max_elements{1000}), std::runtime_error);
    counted::fail_in = -1;
    ASSERT_EQ(v.size(), 5U);
    EXPECT_EQ(v.max_size(), 100U);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(v[static_cast<std::size_t>(i)].value, i);
}

TEST(settled_vector_growth, resize_never_shows_stale_values) {
    settled_vector<int> v(1000, 7);
    v.clear();
    v.resize(1000);
    EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 0);
}

TEST(settled_vector_growth, two_hundred_default_vectors_reserve844_gigabytes_and_use_little) {
    // With 32-bit addresses each reserves 64 MiB, and fewer fit.
    const std::size_t many = headroom_test::times(sizeof(void*) >= 8 ? 211U : 20U, 8U);
    std::vector<settled_vector<int>> all(many);
    std::size_t reserved = 0;
    std::size_t committed = 0;
    for (auto& v : all) {
        v.push_back(1);
        const auto owner = headroom::owner_of(v.data());
        ASSERT_TRUE(owner);
        reserved += owner->reserved;
        committed += owner->committed;
    }
    EXPECT_GE(reserved, many * headroom::settled_policy::default_reservation);
    EXPECT_LE(committed, std::size_t{16} << 20);
}

struct held_open : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::commit_policy{}.held(headroom::holding::open);
};

TEST(settled_vector_growth, held_open_it_is_committed_from_the_start) {
    settled_vector<int, held_open> v(max_elements{100000});
    if (headroom::owner_of(v.data()) && v.capacity() == v.max_size()) {
        for (int i = 0; i < 100000; ++i) v.unchecked_push_back(i);
        EXPECT_EQ(v.size(), 100000U);
    } else {
        EXPECT_LT(v.capacity(), v.max_size());    // the system refused to premap it, so it is guarded
    }
    EXPECT_THROW(v.resize(100001), std::length_error);
}

TEST(settled_vector_growth, shrink_gives_pages_back) {
    settled_vector<int> v(1000000, 3);
    const std::size_t before = v.capacity();
    v.resize(10);
    EXPECT_EQ(v.capacity(), before);
    v.shrink_to_fit();
    EXPECT_LT(v.capacity(), 70000U);
    EXPECT_EQ(v[9], 3);
    v.resize(100000);
    EXPECT_EQ(v.back(), 0);
}

TEST(settled_vector_growth, a_copy_of_an_exact_vector_is_exact) {
    settled_vector<int> v(max_elements{17});
    v.assign({1, 2, 3});
    const settled_vector<int> copy = v;
    EXPECT_EQ(copy.max_size(), 17U);
    EXPECT_EQ(copy, v);
}

TEST(settled_vector_reserve, fails_clearly) {
    EXPECT_THROW(settled_vector<int>(max_elements{(SIZE_MAX >> 4) + 1}), headroom::refused);
    EXPECT_THROW(settled_vector<int>(max_elements{(SIZE_MAX >> 2) + 1}), std::length_error);
    headroom::trim_cache();
    headroom::testing::limit_address_space(std::size_t{64} << 20);
    settled_vector<char> v;
    v.push_back('x');
    EXPECT_LE(v.max_size(), std::size_t{64} << 20);
    EXPECT_GE(v.max_size(), std::size_t{16} << 20);
    headroom::testing::limit_address_space(0);
}

TEST(settled_vector_protect, read_only_is_readable_and_scoped) {
    settled_vector<int> v{1, 2, 3};
    {
        const scoped_access guard(v, access::read_only);
        EXPECT_EQ(v[1], 2);
        EXPECT_EQ(v.current_access(), access::read_only);
        EXPECT_DEATH(v[1] = 5, "");
    }
    v[1] = 7;
    EXPECT_EQ(v[1], 7);
    v.protect(access::none);
    EXPECT_DEATH(EXPECT_EQ(v[1], 7), "");
}

TEST(settled_vector_protect, a_protected_vector_may_be_destroyed) {
    settled_vector<std::string> v{"one", std::string(100, 'x')};
    v.protect(access::none);
}

struct node {
    settled_vector<node> children;
    int value = 0;
};

TEST(settled_vector_types, an_element_may_hold_a_vector_of_its_own_type) {
    node root{settled_vector<node>(max_elements{10}), 1};
    root.children.push_back(node{settled_vector<node>(max_elements{1}), 2});
    EXPECT_EQ(root.children[0].value, 2);
}

TEST(settled_vector_types, deduces_its_element) {
    const std::vector<double> some{1, 2};
    const settled_vector from(some.begin(), some.end());
    static_assert(std::is_same_v<decltype(from)::value_type, double>);
    const settled_vector list{1, 2, 3};
    static_assert(std::is_same_v<decltype(list)::value_type, int>);
    EXPECT_EQ(list.size(), 3U);
    EXPECT_LT(list, (settled_vector<int>{1, 2, 4}));
}

TEST(settled_vector_types, takes_ranges_that_can_be_read_once) {
    std::istringstream words("3 1 4 1 5");
    settled_vector<int> v{9, 9};
    v.insert(v.begin() + 1, std::istream_iterator<int>(words), std::istream_iterator<int>());
    EXPECT_EQ(v, (settled_vector<int>{9, 3, 1, 4, 1, 5, 9}));
    std::istringstream more("2 7");
    v.assign(std::istream_iterator<int>(more), std::istream_iterator<int>());
    EXPECT_EQ(v, (settled_vector<int>{2, 7}));
    std::istringstream again("1 8");
    v.append_range(headroom_test::elements_between{std::istream_iterator<int>(again), std::istream_iterator<int>()});
    EXPECT_EQ(v, (settled_vector<int>{2, 7, 1, 8}));
}

TEST(settled_vector_beyond, overwrites_without_initialising) {
    settled_vector<char> v;
    v.resize_and_overwrite(100, [](char* p, std::size_t n) {
        std::memset(p, 'x', n);
        return n / 2;
    });
    EXPECT_EQ(v.size(), 50U);
    EXPECT_EQ(v.back(), 'x');
    char* const fresh = v.append_default_init(3);
    EXPECT_EQ(fresh, v.data() + 50);
    EXPECT_EQ(v.size(), 53U);
    EXPECT_TRUE(v.try_pop_back());
    v.clear();
    EXPECT_FALSE(v.try_pop_back());
}

// Converts to int, but throws for 13.
struct unlucky {
    int number;
    operator int() const {    // NOLINT: implicit, as the conversions that fail in practice are
        if (number == 13) throw std::runtime_error("13");
        return number;
    }
};

// Elements relocated as bytes: the gap for new ones closes again when the construction of one throws.
TEST(settled_vector_insert, a_range_that_throws_leaves_plain_elements_as_they_were) {
    const std::vector<unlucky> few{{1}, {2}, {13}, {4}};
    for (const std::ptrdiff_t at : {0, 3, 9}) {
        settled_vector<int> v(10);
        std::iota(v.begin(), v.end(), 100);
        const std::vector<int> before(v.begin(), v.end());
        EXPECT_THROW(v.insert(v.begin() + at, few.begin(), few.end()), std::runtime_error);
        EXPECT_EQ(std::vector<int>(v.begin(), v.end()), before) << at;
    }
}

}    // namespace
