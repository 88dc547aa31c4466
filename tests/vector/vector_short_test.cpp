// SPDX-License-Identifier: MIT
// Short vectors take no more memory than std::vector's, whichever operations filled them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

namespace {

constexpr std::size_t max_array_size = 40;

template <std::size_t Bytes>
struct of_bytes {
    std::array<unsigned char, Bytes> bytes{};
    friend bool operator==(const of_bytes&, const of_bytes&) = default;
};
// Not relocatable.
struct of_self {
    const of_self* self = this;
    of_self() = default;
    of_self(const of_self&) noexcept {}
    of_self& operator=(const of_self&) noexcept { return *this; }
    ~of_self() = default;
};
struct alignas(32) of_line {
    std::array<unsigned char, 32> bytes{};
};

template <class T>
T made(std::size_t i) {
    T value{};
    if constexpr (requires { value.bytes; }) value.bytes[0] = static_cast<unsigned char>(i);
    return value;
}
template <>
std::string made<std::string>(std::size_t i) {
    return std::string(i % 10, 'x');
}

// True if short vectors of small elements fill malloc's blocks: false under another malloc or a tool that replaces it.
bool heap_is_known() {
    headroom::vector<int> v;
    v.push_back(0);
    return v.capacity() > 2;
}

// Returns the heap bytes of a vector: the size of glibc's chunk; under another malloc of the request, at least 8 bytes.
// malloc_usable_size() can be larger by chance, since malloc does not split a chunk that is only slightly too large.
template <class Vector>
std::size_t memory_of(const Vector& v) {
    static const bool known = heap_is_known();
    const std::size_t asked = v.capacity() * sizeof(typename Vector::value_type);
    if (asked == 0) return 0;
    if (!known) return std::max(asked, std::size_t{8});
    const std::size_t chunk = (asked + sizeof(std::size_t) + 15) / 16 * 16;
    return std::max(chunk, 4 * sizeof(std::size_t));
}

template <class T>
class a_short_vector : public testing::Test {};
using kinds = testing::Types<of_bytes<1>, of_bytes<2>, of_bytes<3>, of_bytes<4>, of_bytes<7>, of_bytes<8>, of_bytes<9>,
                             of_bytes<12>, of_bytes<16>, of_bytes<20>, of_bytes<24>, of_bytes<40>, of_bytes<48>, of_bytes<64>,
                             of_self, of_line, std::string>;
TYPED_TEST_SUITE(a_short_vector, kinds);

// Repeats `grow(vector, i)` on a headroom::vector and a std::vector, and compares their memory.
template <class T, class Grow>
void compare_memory(Grow grow) {
    headroom::vector<T> ours;
    std::vector<T> theirs;
    for (std::size_t i = 0; i < max_array_size; ++i) {
        grow(ours, i);
        grow(theirs, i);
        ASSERT_EQ(ours.size(), theirs.size());
        ASSERT_LE(memory_of(ours), memory_of(theirs)) << "at " << ours.size() << " elements";
    }
}

#if defined(_MSVC_STL_VERSION)
// MSVC's vector grows by half, ours by as much again: more room at some sizes, less often.
constexpr bool grows_alike = false;
#else
constexpr bool grows_alike = true;
#endif

TYPED_TEST(a_short_vector, takes_no_more_than_stds_when_appended_to) {
    if (!grows_alike) GTEST_SKIP() << "std::vector grows by half";
    compare_memory<TypeParam>([](auto& v, std::size_t i) { v.push_back(made<TypeParam>(i)); });
    compare_memory<TypeParam>([](auto& v, std::size_t) { v.emplace_back(); });
    compare_memory<TypeParam>([](auto& v, std::size_t i) { v.push_back(v.empty() ? made<TypeParam>(i) : v.front()); });
}
TYPED_TEST(a_short_vector, takes_no_more_than_stds_when_inserted_into) {
    if (!grows_alike) GTEST_SKIP() << "std::vector grows by half";
    compare_memory<TypeParam>([](auto& v, std::size_t i) { v.insert(v.begin(), made<TypeParam>(i)); });
    compare_memory<TypeParam>([](auto& v, std::size_t i) {
        const std::array<TypeParam, 3> three{made<TypeParam>(i), made<TypeParam>(i), made<TypeParam>(i)};
        v.insert(v.end(), three.begin(), three.end());
    });
}
TYPED_TEST(a_short_vector, takes_no_more_than_stds_when_resized) {
    if (!grows_alike) GTEST_SKIP() << "std::vector grows by half";
    compare_memory<TypeParam>([](auto& v, std::size_t i) { v.resize(i + 1); });
}

template <class Vector>
Vector pushed(std::size_t count) {
    Vector v;
    for (std::size_t i = 0; i < count; ++i) v.push_back(made<typename Vector::value_type>(i));
    return v;
}

TYPED_TEST(a_short_vector, is_copied_in_no_more_than_stds) {
    for (std::size_t count = 1; count <= max_array_size; ++count) {
        const auto ours = pushed<headroom::vector<TypeParam>>(count);
        const auto theirs = pushed<std::vector<TypeParam>>(count);
        headroom::vector<TypeParam> copy(ours);
        std::vector<TypeParam> their_copy(theirs);
        ASSERT_LE(memory_of(copy), memory_of(their_copy)) << count << " elements";
        copy = headroom::vector<TypeParam>();
        copy = ours;
        ASSERT_LE(memory_of(copy), memory_of(their_copy)) << count << " elements, assigned";
    }
}
TYPED_TEST(a_short_vector, is_moved_into_another_as_it_is) {
    if (!grows_alike) GTEST_SKIP() << "std::vector grows by half";
    headroom::vector<headroom::vector<TypeParam>> ours;
    std::vector<std::vector<TypeParam>> theirs;
    std::size_t our_bytes = 0;
    std::size_t their_bytes = 0;
    for (std::size_t count = 1; count <= max_array_size; ++count) {
        ours.push_back(pushed<headroom::vector<TypeParam>>(count));
        theirs.push_back(pushed<std::vector<TypeParam>>(count));
        ASSERT_LE(memory_of(ours), memory_of(theirs));
        ASSERT_LE(memory_of(ours.back()), memory_of(theirs.back())) << count << " elements";
        our_bytes += memory_of(ours.back());
        their_bytes += memory_of(theirs.back());
    }
    EXPECT_LE(our_bytes, their_bytes);
}

// Vectors that fill their blocks keep their elements over every growth.
TYPED_TEST(a_short_vector, keeps_its_elements_from_block_to_block) {
    headroom::vector<TypeParam> ours;
    for (std::size_t count = 1; count <= 600; ++count) {
        ours.push_back(made<TypeParam>(count));
        ASSERT_LE(ours.size(), ours.capacity());
    }
    if constexpr (requires(const TypeParam& a) { a == a; }) {
        for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_EQ(ours[i], made<TypeParam>(i + 1)) << i;
    }
}

// A chunk of whole pages plus malloc's header would shift the next block, such as a copy, by 16 bytes within its page. Some
// processors copy between such blocks at a fifteenth of their speed.
TYPED_TEST(a_short_vector, grows_to_blocks_that_end_with_whole_pages) {
    if (!heap_is_known() || sizeof(TypeParam) >= 16 || !headroom::is_trivially_relocatable_v<TypeParam>) {
        GTEST_SKIP() << "blocks are not filled";
    }
    headroom::vector<TypeParam> v;
    std::size_t pages = 0;
    for (std::size_t i = 0; v.capacity() * sizeof(TypeParam) < 300'000; ++i) {
        v.push_back(made<TypeParam>(i));
        if (v.size() != v.capacity() || memory_of(v) < 4096) continue;
        EXPECT_NE(memory_of(v) % 4096, 16) << v.capacity();
        pages += memory_of(v) % 4096 == 0 ? 1 : 0;
    }
    EXPECT_GE(pages, 4);
}

// Needs fewer blocks than doubling from one element.
TEST(short_vectors_of_ints, grow_seldom_where_the_heap_is_known) {
    if (!heap_is_known()) GTEST_SKIP() << "another heap, or one that is watched";
    headroom::vector<int> v;
    v.push_back(0);
    int blocks = 1;
    for (int i = 1; i < 64; ++i) {
        blocks += v.size() == v.capacity() ? 1 : 0;
        v.push_back(i);
    }
    EXPECT_EQ(blocks, sizeof(void*) == 8 ? 5 : 6);
}

// Returns the capacities that a vector of 70 elements had while `append(vector, i)` built it.
template <class Vector, class Append>
std::vector<std::size_t> capacities_of(Append append) {
    Vector v;
    std::vector<std::size_t> all;
    for (int i = 0; i < 70; ++i) {
        append(v, i);
        if (all.empty() || all.back() != v.capacity()) all.push_back(v.capacity());
    }
    return all;
}

TEST(short_vectors_of_ints, begin_with_eight_bytes_where_the_heap_is_not_known) {
    if (heap_is_known()) GTEST_SKIP() << "glibc's malloc, not watched";
    EXPECT_EQ(capacities_of<headroom::vector<int>>([](auto& v, int i) { v.push_back(i); }),
              (std::vector<std::size_t>{2, 4, 8, 16, 32, 64, 128}));
}

template <class Vector>
void expect_same_growth() {
    const auto expected = capacities_of<headroom::vector<int>>([](auto& v, int i) { v.push_back(i); });
    EXPECT_EQ(capacities_of<Vector>([](auto& v, int i) { v.push_back(i); }), expected);
    EXPECT_EQ(capacities_of<Vector>([](auto& v, int i) { v.try_push_back(i); }), expected);
    EXPECT_EQ(capacities_of<Vector>([](auto& v, int i) { v.insert(v.end(), i); }), expected);
    EXPECT_EQ(capacities_of<Vector>([](auto& v, int i) { v.insert(v.end(), 1, i); }), expected);
    EXPECT_EQ(capacities_of<Vector>([](auto& v, int i) { v.resize(static_cast<std::size_t>(i) + 1); }), expected);
}

TEST(short_vectors_of_ints, grow_alike_however_one_element_is_appended) {
    expect_same_growth<headroom::vector<int>>();
    expect_same_growth<headroom::small_vector<int, 0>>();
}

}    // namespace
