// SPDX-License-Identifier: MIT
// Sizes and alignments near the limits of size_t are refused everywhere, with any overhead added to them; every range has a guard
// at each end.
// Labels: no-valgrind
#include <gtest/gtest.h>

#include <cstdint>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include "support/emulated.hpp"
#include "support/sanitizers.hpp"

namespace {

using headroom::max_elements;
using headroom::settled_vector;
using headroom::vector;

// Returns sizes around each power of two where arithmetic may overflow, from more than the machine's memory to SIZE_MAX.
std::vector<std::size_t> impossible_sizes() {
    std::vector<std::size_t> sizes;
    for (const std::size_t around : {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 4 + 1, SIZE_MAX / 8 + 1}) {
        for (const std::size_t by : {0U, 1U, 7U, 15U, 16U, 63U, 64U, 4095U, 4096U, 65535U, 65536U, 1U << 21}) {
            // With 32-bit addresses two gigabytes may be available.
            if (sizeof(std::size_t) >= 8 || around - by > SIZE_MAX / 2) sizes.push_back(around - by);
            if (around < SIZE_MAX - by && (sizeof(std::size_t) >= 8 || around + by > SIZE_MAX / 2)) sizes.push_back(around + by);
        }
    }
    return sizes;
}

template <class Operation>
bool refuses(Operation operation) {
    try {
        operation();
    } catch (const std::length_error&) {
        return true;
    } catch (const std::bad_alloc&) {
        return true;
    }
    return false;
}

struct twelve {
    int a, b, c;
    bool operator==(const twelve&) const = default;
};
struct mapped : headroom::vector_policy {
    static constexpr std::size_t map_threshold = 1;
};

template <class Vector>
class an_impossible_size : public testing::Test {};
using vectors = testing::Types<vector<char>, vector<twelve>, vector<char, std::allocator<char>, mapped>,
                               vector<twelve, std::allocator<twelve>, mapped>, settled_vector<char>, settled_vector<twelve>>;
TYPED_TEST_SUITE(an_impossible_size, vectors);

TYPED_TEST(an_impossible_size, is_refused_by_every_operation_and_changes_nothing) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "the sanitizer's malloc ends the program instead";
    using T = typename TypeParam::value_type;
    const T value{};
    TypeParam v(100, value);
    const T* const data = v.data();
    const TypeParam before = v;
    for (const std::size_t size : impossible_sizes()) {
        SCOPED_TRACE(size);
        EXPECT_TRUE(refuses([&] { v.reserve(size); }));
        EXPECT_TRUE(refuses([&] { v.resize(size); }));
        EXPECT_TRUE(refuses([&] { v.resize(size, value); }));
        EXPECT_TRUE(refuses([&] { v.resize_default_init(size); }));
        EXPECT_TRUE(refuses([&] { v.append_default_init(size); }));
        EXPECT_TRUE(refuses([&] { v.resize_and_overwrite(size, [](T*, std::size_t count) { return count; }); }));
        EXPECT_TRUE(refuses([&] { v.insert(v.begin() + 50, size, value); }));
        EXPECT_TRUE(refuses([&] { v.insert(v.end(), size, value); }));
        EXPECT_TRUE(refuses([&] { v.assign(size, value); }));
        EXPECT_TRUE(refuses([&] { TypeParam other(size); }));
        EXPECT_TRUE(refuses([&] { TypeParam other(size, value); }));
        ASSERT_EQ(v, before);
        ASSERT_EQ(v.data(), data);
    }
}

TEST(an_impossible_reservation, is_refused) {
    for (const std::size_t size : impossible_sizes()) {
        SCOPED_TRACE(size);
        EXPECT_TRUE(refuses([&] { headroom::reservation range(size); }));
        EXPECT_TRUE(refuses([&] { settled_vector<char> v(max_elements{size}); }));
        EXPECT_TRUE(refuses([&] { settled_vector<twelve> v(max_elements{size}); }));
        EXPECT_TRUE(refuses([&] { headroom::arena memory(size); }));
        settled_vector<twelve> v(3);
        EXPECT_TRUE(refuses([&] { v.rehome(max_elements{size}); }));
        EXPECT_EQ(v.size(), 3U);
        headroom::reservation range(std::size_t{1} << 20);
        EXPECT_TRUE(range.commit_to(size));
        range.decommit_from(size);    // past the end: does nothing
        EXPECT_EQ(range.committed(), headroom::reservation(std::size_t{1} << 20).committed());
    }
    // up_to() reserves the largest range possible. Limited under QEMU, which tracks each reserved page.
    if (headroom_test::emulated()) headroom::testing::limit_address_space(std::size_t{1} << 28);
    std::error_code error;
    const headroom::reservation some = headroom::reservation::up_to(SIZE_MAX, 1, {}, error);
    EXPECT_FALSE(error);
    headroom::testing::limit_address_space(0);
    EXPECT_GE(some.reserved(), std::size_t{1} << 20);
}

TEST(an_impossible_block, is_refused_by_every_resource) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "the sanitizer's operator new ends the program instead";
    headroom::arena_resource arena(std::size_t{1} << 20);
    headroom::monotonic_resource monotonic;
    headroom::multipool_resource multipool;
    headroom::synchronized_multipool_resource synchronized;
    std::pmr::memory_resource* const all[] = {&arena, &monotonic, &multipool, &synchronized};
    for (std::pmr::memory_resource* const resource : all) {
        void* const first = resource->allocate(24, 8);
        for (const std::size_t size : impossible_sizes()) {
            for (std::size_t alignment = 1; alignment <= 4096; alignment *= 8) {
                SCOPED_TRACE(std::to_string(size) + " bytes at " + std::to_string(alignment));
                EXPECT_TRUE(refuses([&] { static_cast<void>(resource->allocate(size, alignment)); }));
            }
        }
        void* const second = resource->allocate(24, 8);    // continues as before
        EXPECT_NE(first, second);
        resource->deallocate(second, 24, 8);
        resource->deallocate(first, 24, 8);
    }
}

// Alignments up to the largest power of two are met or refused; no block is misaligned.
TEST(a_large_alignment, is_met_or_refused) {
    headroom::arena memory(std::size_t{1} << 26);
    headroom::monotonic_resource monotonic;
    headroom::multipool_resource multipool;
    for (std::size_t alignment = 1; alignment != 0; alignment *= 2) {
        SCOPED_TRACE(alignment);
        const auto aligned = [=](const void* block) { return reinterpret_cast<std::uintptr_t>(block) % alignment == 0; };
        const std::size_t used = memory.used();
        if (void* const block = memory.try_allocate(10, alignment)) {
            EXPECT_TRUE(aligned(block));
            EXPECT_TRUE(memory.contains(block));
        } else {
            EXPECT_GT(alignment, std::size_t{1} << 20);
            EXPECT_EQ(memory.used(), used);
        }
        std::error_code error;
        const headroom::page_range range = headroom::reserve(4096, alignment, error);
        if (!error) {
            EXPECT_TRUE(aligned(range.data));
            EXPECT_FALSE(headroom::release(range));
        } else {
            EXPECT_GT(alignment, std::size_t{1} << (sizeof(std::size_t) >= 8 ? 30 : 28));
        }
        // Larger alignments go to operator new, whose limits are not tested.
        if (alignment > std::size_t{1} << 20) continue;
        EXPECT_TRUE(aligned(monotonic.allocate(10, alignment)));
        EXPECT_TRUE(aligned(multipool.allocate(10, alignment)));
    }
}

// The byte before a range and the byte after it fault, for guarded and premapped ranges, filled to the end.
TEST(guards, stand_at_both_ends) {
    const std::size_t bytes = 16 * headroom::page_size();
    for (const headroom::holding how : {headroom::holding::guarded, headroom::holding::open}) {
        headroom::reservation range(bytes, headroom::commit_policy{}.held(how));
        ASSERT_FALSE(range.commit_to(bytes));
        auto* const first = reinterpret_cast<volatile char*>(range.data());
        first[0] = 1;
        first[bytes - 1] = 1;
        const auto dies = [](int status) { return status != 0; };
        EXPECT_EXIT(
            {
                first[-1] = 1;
                std::exit(0);
            },
            dies, "");
        EXPECT_EXIT(
            {
                first[bytes] = 1;
                std::exit(0);
            },
            dies, "");
        EXPECT_EXIT(
            {
                static_cast<void>(first[-1]);
                std::exit(0);
            },
            dies, "");
        EXPECT_EXIT(
            {
                static_cast<void>(first[bytes]);
                std::exit(0);
            },
            dies, "");
    }
}

}    // namespace
