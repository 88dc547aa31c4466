// SPDX-License-Identifier: MIT
// A small_vector whose inner buffer is as large as what others map: where its elements are shows in its capacity, also after a failure.
#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <string>

#include <headroom/reservation.hpp>
#include <headroom/small_vector.hpp>

namespace {

struct early_mapping : headroom::vector_policy {
    static constexpr std::size_t map_threshold = 1024;
};

// A single pass over numbers as elements, which throws at the last one.
template <class T>
struct failing_numbers {
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = T;
    int at = 0;
    int last = 0;

    T operator*() const {
        if (at == last) throw std::runtime_error("no more");
        if constexpr (std::is_same_v<T, int>) {
            return at;
        } else {
            return std::to_string(at);
        }
    }
    failing_numbers& operator++() {
        ++at;
        return *this;
    }
    void operator++(int) { ++at; }
    bool operator==(const failing_numbers& other) const { return at == other.at; }
};

template <class T>
class a_small_vector_of_many : public testing::Test {};
using kinds = testing::Types<int, std::string>;
TYPED_TEST_SUITE(a_small_vector_of_many, kinds);

TYPED_TEST(a_small_vector_of_many, leaves_no_range_behind_after_an_append_that_failed) {
    constexpr std::size_t inside = 512;
    headroom::trim_cache();
    const std::size_t before = headroom::reservations().size();
    for (const std::size_t old : {std::size_t{0}, std::size_t{3}, inside}) {
        headroom::small_vector<TypeParam, inside, early_mapping> v(old);
        const auto first = failing_numbers<TypeParam>{0, 5000};
        EXPECT_THROW(v.insert(v.end(), first, {-1, 0}), std::runtime_error);
        EXPECT_EQ(v.size(), old);
        for (int i = 0; i < 2000; ++i) v.emplace_back();
        EXPECT_EQ(v.size(), old + 2000);
        v.clear();
        v.shrink_to_fit();
        EXPECT_EQ(v.capacity(), inside);
    }
    headroom::trim_cache();
    EXPECT_EQ(headroom::reservations().size(), before);
}

}    // namespace
