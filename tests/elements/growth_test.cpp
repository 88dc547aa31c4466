// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <headroom/growth.hpp>

namespace {

using headroom::geometric;
using headroom::linear;
using headroom::page_rounded;

// Returns the capacities of a vector of ints during appending one by one.
template <class Growth>
std::vector<std::size_t> capacities(std::size_t elements) {
    std::vector<std::size_t> seen{0};
    while (seen.back() < elements) seen.push_back(Growth::next(seen.back(), seen.back() + 1, sizeof(int)));
    if (seen.back() >= elements) seen.pop_back();
    return seen;
}

TEST(growth, doubling_gives_the_sequence_that_the_document_prints_for_gcc) {
    const std::vector<std::size_t> printed{0,    1,    2,    4,    8,     16,    32,    64,     128,    256,   512,
                                           1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288};
    EXPECT_EQ((capacities<geometric<2, 1>>(1000000)), printed);
}

// "Vector reallocation strategies" prints 35 numbers for Visual C++ 2010, and from them the formula a(n+1) = a(n) + floor(a(n) /
// 2), or a(n) + 1 if that half is 0. All 35 follow from it.
TEST(growth, one_and_a_half_gives_the_sequence_that_the_document_prints_for_visual_c) {
    const std::vector<std::size_t> printed{0,     1,     2,     3,     4,     6,     9,      13,     19,     28,     42,    63,
                                           94,    141,   211,   316,   474,   711,   1066,   1599,   2398,   3597,   5395,  8092,
                                           12138, 18207, 27310, 40965, 61447, 92170, 138255, 207382, 311073, 466609, 699913};
    EXPECT_EQ((capacities<geometric<3, 2>>(1000000)), printed);
}

static_assert(geometric<2, 1>::next(0, 1, 4) == 1);
static_assert(geometric<3, 2>::next(4, 5, 4) == 6);
static_assert(geometric<3, 2>::next(1, 2, 4) == 2);
static_assert(linear<4096>::next(0, 1, 4) == 1024);
static_assert(linear<16>::next(7, 8, 64) == 8);
static_assert(page_rounded<geometric<2, 1>>::next(0, 1, 4) == 1024);
static_assert(page_rounded<geometric<2, 1>>::next(1024, 1025, 4) == 2048);

template <class Growth>
class every_growth : public testing::Test {};
using growths = testing::Types<geometric<2, 1>, geometric<3, 2>, geometric<5, 4>, geometric<1000001, 1000000>, linear<1>,
                               linear<65536>, page_rounded<geometric<3, 2>>, page_rounded<linear<1>>>;
TYPED_TEST_SUITE(every_growth, growths, );

constexpr std::array<std::size_t, 9> element_sizes{1, 2, 3, 4, 40, 4095, 4096, 5000, std::size_t{1} << sizeof(std::size_t) * 5};

TYPED_TEST(every_growth, is_never_less_than_required_and_never_more_than_can_exist) {
    for (const std::size_t size : element_sizes) {
        const std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / size;
        for (const std::size_t capacity :
             {std::size_t{0}, std::size_t{1}, std::size_t{1000}, most / 2, most - most / 3, most - 1}) {
            for (const std::size_t required : {capacity + 1, capacity + 17, capacity * 3, most}) {
                if (required > most || required <= capacity) continue;
                const std::size_t next = TypeParam::next(capacity, required, size);
                EXPECT_GE(next, required) << size << ' ' << capacity;
                EXPECT_LE(next, most) << size << ' ' << capacity << ' ' << required;
            }
        }
    }
}

TYPED_TEST(every_growth, saturates_where_it_would_overflow) {
    for (const std::size_t size : element_sizes) {
        const std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / size;
        EXPECT_EQ(TypeParam::next(most, most, size), most) << size;
        EXPECT_EQ(TypeParam::next(most - 1, most, size), most) << size;
        EXPECT_EQ(TypeParam::next(SIZE_MAX, SIZE_MAX, size), most) << size;
        EXPECT_EQ(TypeParam::next(0, SIZE_MAX, size), most) << size;
    }
}

TYPED_TEST(every_growth, always_grows) {
    std::size_t capacity = 0;
    for (int i = 0; i < 200; ++i) {
        const std::size_t next = TypeParam::next(capacity, capacity + 1, 40);
        if (capacity == static_cast<std::size_t>(PTRDIFF_MAX) / 40) break;
        ASSERT_GT(next, capacity);
        capacity = next;
    }
}

// The product of factor and capacity overflows more than once.
TEST(growth, large_factors_saturate_too) {
    constexpr auto most = static_cast<std::size_t>(PTRDIFF_MAX);
    for (std::size_t capacity = most / 100 + 1; capacity < most; capacity += most / 50 + 12345) {
        EXPECT_EQ((geometric<100, 1>::next(capacity, capacity + 1, 1)), most) << capacity;
        EXPECT_EQ((geometric<1000, 3>::next(capacity, capacity + 1, 1)), most) << capacity;
        EXPECT_EQ((geometric<SIZE_MAX, 1>::next(capacity, capacity + 1, 1)), most) << capacity;
    }
}

TEST(growth, an_exact_fraction_is_rounded_down) {
    EXPECT_EQ((geometric<5, 4>::next(7, 8, 1)), 8U);
    EXPECT_EQ((geometric<5, 4>::next(8, 9, 1)), 10U);
    EXPECT_EQ((geometric<7, 4>::next(11, 12, 1)), 19U);
}

TEST(growth, elements_of_no_bytes_are_taken_for_bytes) {
    EXPECT_EQ((geometric<2, 1>::next(10, 11, 0)), 20U);
    EXPECT_EQ((page_rounded<geometric<2, 1>>::next(10, 11, 0)), 4096U);
}

TEST(growth, whole_pages_hold_whole_elements) {
    for (std::size_t capacity = 0; capacity < 100000; capacity = capacity * 2 + 1) {
        const std::size_t next = page_rounded<geometric<2, 1>>::next(capacity, capacity + 1, 24);
        EXPECT_LT((next * 24 + 4095) / 4096 * 4096 - next * 24, 24U);
    }
}

}    // namespace
