// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Not under Valgrind: given_back.two_hundred_and_eleven_default_vectors_use_a_few_megabytes
// Capacity: max_elements and the default reservation, length_error past it, committed and released memory.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <vector>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>

#include "support/contract/contract.hpp"
#include "support/addresses.hpp"
#include "support/emulated.hpp"
#include "system/resident.hpp"

namespace {

using headroom::max_elements;
using headroom::settled_vector;
using headroom_test::counted;
using headroom_test::filled;
using headroom_test::make;
using headroom_test::many_addresses;
using headroom_test::numbers;
using headroom_test::numbers_list;

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = kib * kib;
constexpr std::size_t whole = many_addresses ? kib * mib * 4 : 64 * mib;

// Returns the offset of the first element in its page.
template <class Vector>
std::size_t lead_of(const Vector& v) {
    return reinterpret_cast<std::uintptr_t>(v.data()) % headroom::page_size();
}

TEST(room_by_default, is_four_gib_whatever_the_element_or_64_mib_where_addresses_have_32_bits) {
    EXPECT_EQ(settled_vector<char>().max_size(), whole);
    EXPECT_EQ(settled_vector<int>().max_size(), whole / sizeof(int));
    EXPECT_EQ(settled_vector<headroom_test::ten_ints>().max_size(), whole / sizeof(headroom_test::ten_ints));
    EXPECT_EQ(settled_vector<headroom_test::big>().max_size(), whole / sizeof(headroom_test::big));
}

// The default reservation is halved until a limit allows it.
TEST(room_by_default, is_halved_until_it_fits) {
    headroom::trim_cache();
    headroom::testing::limit_address_space(whole / 4 * 3);
    const auto room = [] { return settled_vector<char>(1, 'x').max_size(); };
    EXPECT_EQ(room(), whole / 2);
    headroom::trim_cache();
    headroom::testing::limit_address_space(whole / 4 + 16 * mib);    // guards and alignment count too
    EXPECT_EQ(room(), whole / 4);
    EXPECT_THROW(settled_vector<char>(max_elements{whole / 4 + 16 * mib}), headroom::refused);
    headroom::trim_cache();
    headroom::testing::limit_address_space(mib / 2);
    EXPECT_THROW(room(), headroom::refused);
    headroom::testing::limit_address_space(0);
    EXPECT_EQ(room(), whole);
}

struct small_default : headroom::settled_policy {
    static constexpr std::size_t default_reservation = 64 * kib;
};

struct all_or_nothing : headroom::settled_policy {
    static constexpr std::size_t smallest_reservation = SIZE_MAX;
};

TEST(room_by_default, is_all_or_nothing_where_the_policy_settles_for_no_less) {
    headroom::trim_cache();
    headroom::testing::limit_address_space(whole / 2);
    settled_vector<char, all_or_nothing> v;
    EXPECT_THROW(v.push_back('x'), headroom::refused);
    headroom::testing::limit_address_space(0);
    v.push_back('x');
    EXPECT_EQ(v.max_size(), whole);
}

TEST(room_by_default, is_what_the_policy_says) {
    settled_vector<int, small_default> v;
    EXPECT_EQ(v.max_size(), 64 * kib / sizeof(int));
    v.resize(v.max_size());
    EXPECT_THROW(v.push_back(1), std::length_error);
}

TEST(room_by_default, is_there_again_after_a_move) {
    settled_vector<int> v{1, 2};
    const settled_vector<int> w(std::move(v));
    v.push_back(3);
    EXPECT_EQ(v.max_size(), whole / sizeof(int));
    EXPECT_EQ(w.max_size(), whole / sizeof(int));
}

template <class Container>
class room_in : public contract<Container> {};
using subjects =
    testing::Types<settled_vector<int>, settled_vector<headroom_test::self_referential>, settled_vector<headroom_test::big>>;
TYPED_TEST_SUITE(room_in, subjects);

// The limit is exact. Past it every operation throws length_error and changes nothing. The predecessor does nothing, and the next
// write crashes; a peer only asserts.
TYPED_TEST(room_in, every_growing_operation_past_the_limit_throws_and_changes_nothing) {
    using T = typename TypeParam::value_type;
    constexpr std::size_t limit = 700;
    TypeParam v(max_elements{limit});
    EXPECT_EQ(v.max_size(), limit);
    headroom_test::append(v, limit - 2);
    const T value = make<T>(1);
    const std::vector<T> three(3, value);
    const auto refused = [&](auto operation) {
        EXPECT_THROW(operation(), std::length_error);
        EXPECT_EQ(numbers(v), counted(limit - 2));
        EXPECT_LE(v.capacity(), limit);
    };
    const headroom_test::forward_range<T> range(counted(3));
    refused([&] { v.insert(v.begin() + 1, 3, value); });
    refused([&] { v.insert(v.end(), 3, value); });
    refused([&] { v.insert(v.begin() + 1, three.begin(), three.end()); });
    refused([&] { v.insert(v.begin() + 1, {value, value, value}); });
    refused([&] { v.insert_range(v.begin() + 1, range); });
    refused([&] { v.append_range(range); });
    refused([&] { v.resize(limit + 1); });
    refused([&] { v.resize(limit + 1, value); });
    refused([&] { v.resize_default_init(limit + 1); });
    refused([&] { v.append_default_init(3); });
    refused([&] { v.reserve(limit + 1); });
    refused([&] { v.assign(limit + 1, value); });
    const TypeParam longer = filled<TypeParam>(limit + 1);
    refused([&] { v = longer; });
    v.insert(v.begin(), 2, value);
    EXPECT_EQ(v.size(), limit);
    EXPECT_EQ(v.capacity(), limit);
    EXPECT_THROW(v.push_back(value), std::length_error);
    EXPECT_THROW(v.emplace_back(), std::length_error);
    EXPECT_THROW(v.insert(v.begin(), value), std::length_error);
    EXPECT_THROW(v.emplace(v.end()), std::length_error);
    EXPECT_EQ(v.try_push_back(value), nullptr);
    EXPECT_EQ(v.try_emplace_back(), nullptr);
    EXPECT_EQ(v.size(), limit);
    v.erase(v.begin(), v.begin() + 2);
    EXPECT_EQ(numbers(v), counted(limit - 2));
}

TYPED_TEST(room_in, a_refused_try_push_back_leaves_its_argument_alone) {
    using T = typename TypeParam::value_type;
    TypeParam v(max_elements{1});
    v.push_back(make<T>(1));
    T value = make<T>(7);
    EXPECT_EQ(v.try_push_back(std::move(value)), nullptr);
    EXPECT_EQ(headroom_test::number(value), 7);    // NOLINT: that is the question
}

TYPED_TEST(room_in, no_room_at_all_is_a_limit_too) {
    TypeParam v(max_elements{0});
    EXPECT_EQ(v.max_size(), 0U);
    EXPECT_THROW(v.emplace_back(), std::length_error);
    EXPECT_EQ(v.try_emplace_back(), nullptr);
    v.resize(0);
    v.shrink_to_fit();
    EXPECT_TRUE(v.empty());
    v.rehome(max_elements{1});
    v.emplace_back();
    EXPECT_EQ(v.size(), 1U);
}

TYPED_TEST(room_in, the_last_element_of_all_can_be_used) {
    using T = typename TypeParam::value_type;
    for (const std::size_t limit : {1U, 2U, 1023U, 1024U, 1025U}) {
        TypeParam v(max_elements{limit});
        headroom_test::append(v, limit);
        EXPECT_EQ(numbers(v), counted(limit));
        v.back() = make<T>(5);
        EXPECT_EQ(headroom_test::number(v.back()), 5);
    }
}

TYPED_TEST(room_in, more_than_any_array_can_hold_is_a_length_error) {
    EXPECT_THROW(TypeParam(max_elements{static_cast<std::size_t>(-1)}), std::length_error);
    EXPECT_THROW(TypeParam(max_elements{(SIZE_MAX / 2 + 1) / sizeof(typename TypeParam::value_type) + 1}), std::length_error);
}

struct least : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::least_memory();
};

// Unused committed memory stays within the policy's bound. Checked at each append, on a fresh range and on one released by a
// larger vector.
template <class T, class Policy>
void stays_near_used() {
    for (const bool recycled : {false, true}) {
        SCOPED_TRACE(recycled ? "recycled" : "fresh");
        headroom::trim_cache();
        if (recycled) settled_vector<T, Policy>().resize(40 * mib / sizeof(T));
        settled_vector<T, Policy> v;
        std::size_t worst = 0;
        std::size_t lead = 0;
        while (v.size() * sizeof(T) < 24 * mib) {
            v.push_back(T{});
            if (v.size() == 1) lead = lead_of(v);
            const std::size_t used = lead + v.size() * sizeof(T);    // as policies count
            const std::size_t unused = (v.capacity() - v.size()) * sizeof(T);
            const std::size_t most = std::is_same_v<Policy, least> ? std::max(64 * kib, used / 16)
                                     : used <= 4 * mib             ? 64 * kib
                                                                   : 2 * mib;
            if (unused > most) worst = std::max(worst, unused);
        }
        EXPECT_EQ(worst, 0U);
        // capacity() covers all committed memory but the offset of the first element and a rest smaller than an element.
        const auto owner = headroom::owner_of(v.data());
        ASSERT_TRUE(owner);
        EXPECT_LT(owner->committed - lead_of(v) - v.capacity() * sizeof(T), sizeof(T));
        EXPECT_GE(owner->committed, lead_of(v) + v.capacity() * sizeof(T));
    }
}

template <class T>
void committed_stays_near_used() {
    stays_near_used<T, headroom::settled_policy>();
    stays_near_used<T, least>();
}

TEST(committed_memory, stays_near_what_is_used_for_char) { committed_stays_near_used<char>(); }
TEST(committed_memory, stays_near_what_is_used_for_int) { committed_stays_near_used<int>(); }
TEST(committed_memory, stays_near_what_is_used_for_ten_ints) { committed_stays_near_used<headroom_test::ten_ints>(); }
TEST(committed_memory, stays_near_what_is_used_for_elements_larger_than_a_page) {
    committed_stays_near_used<headroom_test::big>();
}

TEST(committed_memory, reserve_commits_what_is_asked_for_and_no_more_than_a_page) {
    headroom::trim_cache();
    settled_vector<char> v;
    v.reserve(10'000'000);
    EXPECT_GE(v.capacity(), 10'000'000U);
    EXPECT_LT(v.capacity(), 10'000'000U + headroom::page_size());
}

// --- Start offset within a page. Vectors that grow together would all write at one offset in their pages, for which processors
// have few cache sets.

TEST(vectors_that_grow_together, begin_at_different_lines_of_their_pages) {
    if (headroom::page_size() != 4096) GTEST_SKIP() << "with larger pages there are fewer places";
    headroom::trim_cache();
    std::vector<settled_vector<int, small_default>> all(160);
    std::map<std::size_t, std::size_t> count;
    for (auto& v : all) {
        v.push_back(1);
        EXPECT_EQ(lead_of(v) % 64, 0U);
        ++count[lead_of(v)];
    }
    EXPECT_EQ(count.size(), 16U);
    for (const auto& [lead, vectors] : count) {
        EXPECT_LT(lead, 1024U);
        EXPECT_LE(vectors, 24U);
    }
}

// Returns a vector with a start offset; `others` keeps those without alive.
template <class Vector>
Vector with_a_lead(std::vector<Vector>& others) {
    for (int i = 0; i < 40; ++i) {
        Vector v;
        v.emplace_back();
        if (lead_of(v) != 0) return v;
        others.push_back(std::move(v));
    }
    ADD_FAILURE() << "all begin where their ranges do";
    return {};
}

struct alignas(64) as_a_line {
    int value = 0;
    friend bool operator==(const as_a_line&, const as_a_line&) = default;
};
struct alignas(128) as_two_lines {
    int value = 0;
};

template <class T>
class a_vector_behind_the_beginning_of_its_range : public testing::Test {
protected:
    using vector = settled_vector<T, small_default>;
    void SetUp() override {
        if (headroom::page_size() != 4096) GTEST_SKIP() << "with larger pages there are fewer places";
        headroom::trim_cache();
    }
    std::vector<vector> others;
};
using elements_with_a_lead = testing::Types<char, int, headroom_test::ten_ints, as_a_line>;
TYPED_TEST_SUITE(a_vector_behind_the_beginning_of_its_range, elements_with_a_lead);

TYPED_TEST(a_vector_behind_the_beginning_of_its_range, has_all_the_room_and_not_an_element_more) {
    auto v = with_a_lead(this->others);
    EXPECT_EQ(v.max_size(), 64 * kib / sizeof(TypeParam));
    while (v.size() < v.max_size()) {
        v.push_back(TypeParam{});
        ASSERT_LE(v.size(), v.capacity());
        ASSERT_LE(lead_of(v) + v.capacity() * sizeof(TypeParam), headroom::owner_of(v.data())->committed);
    }
    EXPECT_EQ(v.capacity(), v.max_size());
    EXPECT_THROW(v.emplace_back(), std::length_error);
    EXPECT_EQ(v.try_emplace_back(), nullptr);
    EXPECT_THROW(v.resize(v.max_size() + 1), std::length_error);
    EXPECT_EQ(v.back(), TypeParam{});
}

TYPED_TEST(a_vector_behind_the_beginning_of_its_range, gets_its_room_in_one_piece_too) {
    for (std::size_t count = 1; count <= 9000 / sizeof(TypeParam) + 1; ++count) {
        typename TestFixture::vector v = with_a_lead(this->others);
        v.reserve(count);
        ASSERT_GE(v.capacity(), count);
        ASSERT_LE(lead_of(v) + v.capacity() * sizeof(TypeParam), headroom::owner_of(v.data())->committed);
        v.resize(v.capacity());
        if (count > 100) count += 37;
    }
}

TYPED_TEST(a_vector_behind_the_beginning_of_its_range, gives_back_what_holds_no_element) {
    auto v = with_a_lead(this->others);
    const std::size_t page = headroom::page_size();
    v.resize(v.max_size());
    v.resize(5);
    v.shrink_to_fit();
    EXPECT_EQ(headroom::owner_of(v.data())->committed, page);
    EXPECT_EQ(v.capacity(), (page - lead_of(v)) / sizeof(TypeParam));
    EXPECT_EQ(v[4], TypeParam{});
    v.clear();
    v.shrink_to_fit();
    EXPECT_EQ(v.capacity(), 0U);
    v.resize(v.max_size());
    EXPECT_EQ(v.back(), TypeParam{});
}

struct eight_mib : headroom::settled_policy {
    static constexpr std::size_t default_reservation = 8 * mib;
};

TEST(a_vector_behind_the_beginning_of_a_range, moves_to_another_with_its_elements_and_its_pages) {
    if (headroom::page_size() != 4096) GTEST_SKIP() << "with larger pages there are fewer places";
    headroom::trim_cache();
    std::vector<settled_vector<int, eight_mib>> others;
    auto v = with_a_lead(others);
    v.clear();
    for (int i = 0; i < 1'000'000; ++i) v.push_back(i);
    const std::size_t lead = lead_of(v);
    v.rehome(max_elements{1'000'001});
    EXPECT_EQ(lead_of(v), lead);
    EXPECT_EQ(v.max_size(), 1'000'001U);
    for (int i = 0; i < 1'000'000; ++i) ASSERT_EQ(v[static_cast<std::size_t>(i)], i);
    v.push_back(7);
    EXPECT_THROW(v.push_back(8), std::length_error);
    const settled_vector<int, eight_mib> copy(v);
    EXPECT_EQ(copy, v);
    EXPECT_EQ(copy.max_size(), v.max_size());
}

TEST(elements_larger_than_a_line, are_aligned_wherever_their_vector_begins) {
    headroom::trim_cache();
    std::vector<settled_vector<as_two_lines, small_default>> all(40);
    for (auto& v : all) {
        v.emplace_back();
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % alignof(as_two_lines), 0U);
    }
}

// The predecessor releases nothing, and several peers "decommit" by protecting pages, which frees no memory.
TEST(given_back, shrink_to_fit_frees_the_pages_behind_the_elements) {
    if (headroom_test::emulated()) GTEST_SKIP() << "the emulator does not say what is resident";
    headroom::trim_cache();
    settled_vector<char> v(32 * mib, 'x');
    const std::size_t before = headroom_test::resident_bytes(v.data(), 32 * mib);
    ASSERT_GE(before, 32 * mib);
    v.resize(100);
    v.shrink_to_fit();
    EXPECT_EQ(v.capacity(), headroom::page_size() - lead_of(v));
    EXPECT_LE(headroom_test::resident_bytes(v.data(), 32 * mib), headroom::page_size());
    EXPECT_EQ(headroom::owner_of(v.data())->committed, headroom::page_size());
    EXPECT_EQ(v.back(), 'x');
}

TEST(given_back, a_short_vector_over_a_recycled_range_gives_the_rest_back_too) {
    if (headroom_test::emulated()) GTEST_SKIP() << "the emulator does not say what is resident";
    headroom::trim_cache();
    settled_vector<char>().resize(32 * mib);
    settled_vector<char> v(100, 'x');
    v.shrink_to_fit();
    EXPECT_LE(headroom_test::resident_bytes(v.data(), 32 * mib), headroom::page_size());
}

TEST(given_back, growing_again_after_shrink_to_fit_shows_fresh_elements) {
    settled_vector<int> v(1'000'000, 7);
    v.resize(10);
    v.shrink_to_fit();
    v.resize(1'000'000);
    for (std::size_t i = 10; i < v.size(); i += 100) ASSERT_EQ(v[i], 0);
    EXPECT_EQ(v[9], 7);
}

TEST(given_back, trimming_the_cache_frees_what_dead_vectors_left) {
    settled_vector<char>(16 * mib, 'x').clear();
    EXPECT_GT(headroom::cached_bytes(), 0U);
    headroom::trim_cache();
    EXPECT_EQ(headroom::cached_bytes(), 0U);
}

TEST(given_back, the_cache_keeps_no_more_than_its_limit) {
    const std::size_t limit = headroom::cache_limit();
    headroom::set_cache_limit(mib);
    for (int i = 0; i < 5; ++i) settled_vector<char>(8 * mib, 'x').clear();
    EXPECT_LE(headroom::cached_bytes(), mib);
    headroom::set_cache_limit(0);
    settled_vector<char>(8 * mib, 'x').clear();
    EXPECT_EQ(headroom::cached_bytes(), 0U);
    headroom::set_cache_limit(limit);
}

// Document "4GB per Vector": "has 844GB of memory reserved, while it is only actually using 72MB".
TEST(given_back, two_hundred_and_eleven_default_vectors_use_a_few_megabytes) {
    if (headroom_test::emulated() || !headroom_test::resident_bytes_of_process_are_its_own()) {
        GTEST_SKIP() << "the emulator does not say what is resident";
    }
    const std::size_t many = headroom_test::times(many_addresses ? 211U : 20U, 8U);    // that many need not fit
    const std::size_t before = headroom_test::resident_bytes_of_process();
    std::vector<settled_vector<int>> all(many);
    for (auto& v : all) v.push_back(1);
    std::size_t reserved = 0;
    for (const auto& v : all) reserved += headroom::owner_of(v.data())->reserved;
    EXPECT_GE(reserved, many * whole);
    EXPECT_LE(headroom_test::resident_bytes_of_process(), before + 16 * mib);
}

TEST(room_of_a_copy, is_what_the_original_was_told_to_have) {
    settled_vector<int> exact(max_elements{1000});
    exact.resize(10);
    const settled_vector<int> copy(exact);
    EXPECT_EQ(copy.max_size(), 1000U);
    EXPECT_EQ(headroom::owner_of(copy.data())->reserved, headroom::owner_of(exact.data())->reserved);
    const settled_vector<int> by_default(10);
    EXPECT_EQ(settled_vector<int>(by_default).max_size(), by_default.max_size());
}

}    // namespace
