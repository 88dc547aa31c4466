// SPDX-License-Identifier: MIT
// Where a vector with std::allocator is stored (heap, reservation, larger reservation), and the policy's effect on that.
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <type_traits>
#include <utility>

#include <headroom/testing.hpp>
#include <headroom/reservation.hpp>
#include <headroom/vector.hpp>

#include "support/contract/contract.hpp"
#include "support/emulated.hpp"
#include "support/sanitizers.hpp"
#include "support/vectors.hpp"
#include "system/resident.hpp"

namespace {

using headroom::vector;
using headroom::vector_policy;
using headroom_test::book;
using headroom_test::counted;
using headroom_test::early_vector;
using headroom_test::filled;
using headroom_test::heap_vector;
using headroom_test::make;
using headroom_test::mapped_vector;
using headroom_test::numbers;
using headroom_test::open_book;

constexpr std::size_t mib = std::size_t{1} << 20;

template <class Vector>
bool is_mapped(const Vector& v) {
    return headroom::owner_of(v.data()).has_value();
}

TEST(a_small_vector, is_on_the_heap) {
    const auto v = filled<vector<int>>(1000);
    EXPECT_FALSE(is_mapped(v));
}

// The first block holds one element, or small ones up to the heap's smallest block: no more bytes than std::vector's. See
// vector_short_test.cpp for the exact sizes.
TEST(a_small_vector, begins_with_the_smallest_block) {
    EXPECT_LE(filled<vector<int>>(1).capacity(), 6U);
    EXPECT_LE(filled<vector<char>>(1).capacity(), 24U);
    EXPECT_EQ(filled<vector<std::string>>(1).capacity(), 1U);
    EXPECT_EQ(filled<vector<headroom_test::big>>(1).capacity(), 1U);
    EXPECT_EQ(vector<int>().capacity(), 0U);
}

TEST(a_small_vector, takes_exactly_what_it_is_told) {
    EXPECT_EQ(vector<int>(5).capacity(), 5U);
    EXPECT_EQ((vector<int>{1, 2, 3}).capacity(), 3U);
    vector<int> v;
    v.reserve(7);
    EXPECT_EQ(v.capacity(), 7U);
    v.resize(100);
    v.resize(60);
    v.shrink_to_fit();
    EXPECT_EQ(v.capacity(), 60U);
    EXPECT_EQ(vector<int>(v).capacity(), 60U);
}

TEST(a_large_vector, is_in_a_reservation_from_the_threshold_on) {
    vector<char> v(mib - 1);
    EXPECT_FALSE(is_mapped(v));
    EXPECT_TRUE(is_mapped(vector<char>(mib)));
    v.reserve(mib);
    EXPECT_TRUE(is_mapped(v));
    EXPECT_EQ(v.size(), mib - 1);
}

template <class T>
class in_a_reservation : public contract<vector<T>> {};
using kinds = testing::Types<int, std::string, headroom_test::throwing, headroom_test::opted_in, headroom_test::overaligned,
                             headroom_test::big>;
TYPED_TEST_SUITE(in_a_reservation, kinds);

// Once mapped, a vector of any element type grows in place.
TYPED_TEST(in_a_reservation, growing_moves_nothing) {
    early_vector<TypeParam> v;
    while (!is_mapped(v)) headroom_test::append(v, 1, static_cast<int>(v.size()));
    const TypeParam* const where = v.data();
    open_book();
    const std::size_t many = v.size() + 2 * mib / sizeof(TypeParam);
    while (v.size() < many) v.emplace_back(make<TypeParam>(static_cast<int>(v.size())));
    EXPECT_EQ(v.data(), where);
    EXPECT_EQ(book.copies, 0);
    EXPECT_LE(book.moves, static_cast<long>(many));    // each once, into the vector
    EXPECT_EQ(numbers(v), counted(many));
}

TYPED_TEST(in_a_reservation, crossing_the_threshold_keeps_every_element) {
    for (const bool by_reserve : {false, true}) {
        auto v = filled<early_vector<TypeParam>>(4000 / sizeof(TypeParam));
        const std::size_t before = v.size();
        if (by_reserve) {
            v.reserve(before + 5000 / sizeof(TypeParam) + 1);
        } else {
            v.resize(before + 5000 / sizeof(TypeParam) + 1);
            v.erase(v.begin() + static_cast<std::ptrdiff_t>(before), v.end());
        }
        EXPECT_TRUE(is_mapped(v));
        EXPECT_EQ(numbers(v), counted(before));
    }
}

TYPED_TEST(in_a_reservation, a_vector_that_became_small_goes_back_to_the_heap) {
    auto v = filled<early_vector<TypeParam>>(40'000 / sizeof(TypeParam) + 5);
    ASSERT_TRUE(is_mapped(v));
    v.erase(v.begin() + 2, v.end());
    v.shrink_to_fit();
    EXPECT_EQ(numbers(v), counted(2));
    if (2 * sizeof(TypeParam) < 4096) {
        EXPECT_FALSE(is_mapped(v));
        EXPECT_EQ(v.capacity(), 2U);
    }
    v.clear();
    v.shrink_to_fit();
    EXPECT_EQ(v.capacity(), 0U);
    headroom_test::append(v, 30);
    EXPECT_EQ(numbers(v), counted(30));
}

// Outgrows a reservation that a limit on addresses cut short, after the limit is lifted.
TYPED_TEST(in_a_reservation, outgrowing_it_keeps_every_element) {
    headroom::trim_cache();
    headroom::testing::limit_address_space(12 * mib);
    mapped_vector<TypeParam> v;
    headroom_test::append(v, 10);
    ASSERT_TRUE(is_mapped(v));
    const std::size_t reserved = headroom::owner_of(v.data())->reserved;
    EXPECT_LT(reserved, 12 * mib);
    headroom::testing::limit_address_space(0);
    open_book();
    const std::size_t many = reserved / sizeof(TypeParam) + 100;
    while (v.size() < many) v.emplace_back(make<TypeParam>(static_cast<int>(v.size())));
    EXPECT_GT(headroom::owner_of(v.data())->reserved, reserved);
    EXPECT_EQ(numbers(v), counted(many));
}

TEST(a_large_vector, travels_by_page_tables_when_its_elements_may) {
    headroom::trim_cache();
    headroom::testing::limit_address_space(16 * mib);
    mapped_vector<int> v(1000);
    headroom::testing::limit_address_space(0);
    headroom::reset_statistics();
    v.resize(mib * 6 / sizeof(int), 3);
    v.resize(mib * 30 / sizeof(int), 4);
    EXPECT_EQ(v[mib], 3);
    EXPECT_EQ(v.back(), 4);
    const auto counts = headroom::statistics();
    if (counts.bytes_remapped == 0) GTEST_SKIP() << "this system cannot move pages";
    EXPECT_GE(counts.bytes_remapped, mib * 6);
    EXPECT_EQ(counts.bytes_copied, 0U);
    headroom::reset_statistics();
    EXPECT_EQ(headroom::statistics().bytes_remapped, 0U);
}

// Relocatable elements move as bytes, on the heap too: no constructor or destructor runs.
TEST(relocatable_elements, grow_without_a_move) {
    open_book();
    {
        vector<headroom_test::opted_in> v;
        for (int i = 0; i < 50'000; ++i) v.emplace_back(i);
        EXPECT_EQ(book.moves, 0);
        EXPECT_EQ(book.copies, 0);
        EXPECT_EQ(book.built, 50'000);
        v.reserve(v.capacity() + 1);
        v.shrink_to_fit();
        EXPECT_EQ(book.moves + book.copies, 0);
        EXPECT_EQ(numbers(v), counted(50'000));
    }
    EXPECT_EQ(book.live, 0);
}

TEST(a_large_vector, gives_pages_back_when_it_shrinks) {
    if (headroom_test::emulated()) GTEST_SKIP() << "the emulator does not say what is resident";
    headroom::trim_cache();
    vector<char> v(32 * mib, 'x');
    v.resize(2 * mib);
    const char* const where = v.data();
    v.shrink_to_fit();
    EXPECT_EQ(v.data(), where);
    EXPECT_EQ(v.capacity(), v.size());
    EXPECT_LE(headroom::owner_of(where)->committed, 2 * mib + 2 * headroom::page_size());
    const auto* const base = static_cast<const std::byte*>(headroom::owner_of(where)->base);
    EXPECT_LE(headroom_test::resident_bytes(base, 32 * mib), 2 * mib + 2 * headroom::page_size());
    EXPECT_EQ(v.back(), 'x');
    v.push_back('y');
    EXPECT_EQ(v.data(), where) << "grows in place again";
    EXPECT_GT(v.capacity(), v.size());
}

TEST(a_large_vector, does_not_leave_its_reservation_behind) {
    headroom::trim_cache();
    const std::size_t before = headroom::reservations().size();
    {
        vector<int> v(mib);
        vector<int> w(v);
        w = std::move(v);
        v = w;
        swap(v, w);
        w = vector<int>();
        v.assign(3, 1);
        v.shrink_to_fit();
    }
    headroom::trim_cache();
    EXPECT_EQ(headroom::reservations().size(), before);
}

struct with_half : vector_policy {
    using growth = headroom::geometric<3, 2>;
};
struct with_steps : vector_policy {
    using growth = headroom::linear<4096>;
    static constexpr std::size_t map_threshold = static_cast<std::size_t>(-1);
};

// Policy parameters growth and map_threshold.
template <class Policy>
void capacities_follow_the_policy() {
    vector<int, std::allocator<int>, Policy> v;
    std::size_t before = 0;
    for (int i = 0; i < 50'000; ++i) {
        v.push_back(i);
        if (v.capacity() == before) continue;
        // The first block is filled. Doubling fills every block, or leaves malloc's header out of whole pages; the next doubling
        // starts from the size before that adjustment.
        const std::size_t next = Policy::growth::next(before, before + 1, sizeof(int));
        if (std::is_same_v<Policy, vector_policy>) {
            const std::size_t plain = before == 0 ? 1 : 2 * std::bit_floor(before + before / 256);
            const bool pages = plain * sizeof(int) % 4096 == 0;
            EXPECT_LE(v.capacity(), pages ? plain : plain + 5);
            EXPECT_GE(v.capacity(), pages ? plain - 2 : plain);
        } else if (before != 0) {
            EXPECT_EQ(v.capacity(), next);
        }
        before = v.capacity();
    }
    EXPECT_EQ(numbers(v), counted(50'000));
}

TEST(the_policy, says_how_capacity_grows_on_the_heap) {
    capacities_follow_the_policy<vector_policy>();
    capacities_follow_the_policy<with_half>();
    capacities_follow_the_policy<with_steps>();
}

TEST(the_policy, can_keep_a_vector_on_the_heap) {
    const heap_vector<char> v(8 * mib, 'x');
    EXPECT_FALSE(is_mapped(v));
    EXPECT_EQ(v.capacity(), 8 * mib);
}

TEST(the_policy, can_map_from_the_first_element) {
    mapped_vector<int> v;
    EXPECT_FALSE(is_mapped(v));
    v.push_back(1);
    EXPECT_TRUE(is_mapped(v));
}

struct one_by_one : headroom_test::mapped_policy {
    static constexpr headroom::commit_policy commit = headroom::page_by_page();
};
struct in_huge_pages : headroom_test::mapped_policy {
    static constexpr headroom::commit_policy commit = headroom::huge_pages();
};
struct ahead : headroom_test::mapped_policy {
    static constexpr headroom::commit_policy commit = headroom::prefault_ahead(8 * mib);
};
struct held_open : headroom_test::mapped_policy {
    static constexpr headroom::commit_policy commit = headroom::commit_policy{}.held(headroom::holding::open);
};

template <class Policy>
void grows_and_shrinks() {
    vector<int, std::allocator<int>, Policy> v;
    for (int i = 0; i < 2'000'000; ++i) v.push_back(i);
    for (std::size_t i = 0; i < v.size(); i += 997) ASSERT_EQ(v[i], static_cast<int>(i));
    v.resize(1000);
    v.shrink_to_fit();
    EXPECT_EQ(numbers(v), counted(1000));
    v.resize(1'000'000);
    EXPECT_EQ(v.back(), 0);
    v.insert(v.begin(), 100'000, 5);
    EXPECT_EQ(v[100'999], 999);
}

// With no addresses left a large vector is on the heap; shrink_to_fit() returns its unused memory to the heap.
TEST(large_vectors, on_the_heap_shrink_too) {
    headroom::trim_cache();
    headroom::testing::limit_address_space(mib / 2);
    {
        vector<int, std::allocator<int>, headroom_test::mapped_policy> v;
        v.resize(8'000'000, 7);
        v.resize(1'000'000);
        EXPECT_FALSE(headroom::owner_of(v.data()).has_value());
        const std::size_t before = headroom_test::resident_bytes_of_process();
        v.shrink_to_fit();
        EXPECT_EQ(v.capacity(), 1'000'000U);
        EXPECT_EQ(v.back(), 7);
        if (headroom_test::resident_bytes_of_process_are_its_own() && !headroom_test::emulated() &&
            !headroom_test::sanitizer_needs_memory) {
            EXPECT_LT(headroom_test::resident_bytes_of_process() + 16 * mib, before);
        }
    }
    headroom::testing::limit_address_space(0);
}

TEST(the_policy, may_commit_page_by_page) { grows_and_shrinks<one_by_one>(); }
TEST(the_policy, may_commit_huge_pages) { grows_and_shrinks<in_huge_pages>(); }
TEST(the_policy, may_commit_ahead) { grows_and_shrinks<ahead>(); }
TEST(the_policy, may_hold_the_range_open) { grows_and_shrinks<held_open>(); }

}    // namespace
