// SPDX-License-Identifier: MIT
// Filling with one value, for every number of elements up to a few of the blocks in which it is done, and elements of many sizes.
// Labels: core
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace {

template <std::size_t Size>
struct sized {
    unsigned char bytes[Size];
    friend bool operator==(const sized& a, const sized& b) { return std::memcmp(a.bytes, b.bytes, Size) == 0; }
};

// Returns a value all of whose bytes depend on `seed` and differ from one another.
template <class T>
T numbered(std::size_t seed) {
    unsigned char bytes[sizeof(T)];
    for (std::size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<unsigned char>(seed * 37 + i * 11 + 1);
    T made;
    std::memcpy(&made, bytes, sizeof made);
    return made;
}

template <class T>
class filling : public testing::Test {};
using elements = testing::Types<unsigned char, std::byte, short, int, unsigned long long, int*, sized<1>, sized<2>, sized<3>,
                                sized<8>, sized<12>, sized<16>, sized<24>, sized<64>, sized<100>, sized<2500>>;
TYPED_TEST_SUITE(filling, elements);

// Calls `check` with an empty container of each kind.
template <class T, class Check>
void each_container(Check check) {
    check(headroom::vector<T>());
    check(headroom::settled_vector<T>());
    check(headroom::small_vector<T, 8>());
}
std::size_t most(std::size_t size) { return size < 100 ? 1200 / size + 20 : 5000 / size + 10; }

TYPED_TEST(filling, writes_every_element_and_none_beside_them) {
    each_container<TypeParam>([]<class V>(V v) {
        const auto value = numbered<TypeParam>(1), other = numbered<TypeParam>(2), third = numbered<TypeParam>(3);
        for (std::size_t count = 0; count < most(sizeof(TypeParam)); ++count) {
            v.assign(count + 7, other);
            v.assign(count, value);
            EXPECT_EQ(v, V(count, value)) << count;
            for (const TypeParam& each : v) ASSERT_EQ(each, value) << count;
            v.resize(count + 3, other);
            v.insert(v.begin() + 1, count, third);
            ASSERT_EQ(v.size(), 2 * count + 3);
            for (std::size_t i = 0; i < v.size(); ++i) {
                const bool before = i < 1 || (i > count && i < 2 * count);
                const TypeParam& expected = i >= 1 && i <= count ? third : before && count != 0 ? value : other;
                ASSERT_EQ(v[i], expected) << i << " of " << count;
            }
        }
    });
}

TYPED_TEST(filling, may_take_the_value_from_the_container) {
    each_container<TypeParam>([](auto v) {
        for (std::size_t count = 1; count < most(sizeof(TypeParam)); ++count) {
            v.clear();
            for (std::size_t i = 0; i < count; ++i) v.push_back(numbered<TypeParam>(i));
            const TypeParam value = v[count / 2];
            v.assign(count, v[count / 2]);
            for (const TypeParam& each : v) ASSERT_EQ(each, value) << count;
            v.resize(2 * count, v[count - 1]);
            for (const TypeParam& each : v) ASSERT_EQ(each, value) << count;
        }
    });
}

}    // namespace
