// SPDX-License-Identifier: MIT
// A policy's growth function may return less than required or more than can exist. The vector then grows to the required
// capacity.
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

#include <headroom/vector.hpp>

#include <gtest/gtest.h>

#include "odd/every_operation.hpp"
#include "support/allocators.hpp"

namespace {

// A common mistake: a capacity of 1 never grows.
struct by_half {
    static constexpr std::size_t next(std::size_t capacity, std::size_t, std::size_t) noexcept { return capacity * 3 / 2; }
};
struct never {
    static constexpr std::size_t next(std::size_t, std::size_t, std::size_t) noexcept { return 0; }
};
struct beyond_everything {
    static constexpr std::size_t next(std::size_t, std::size_t, std::size_t) noexcept { return static_cast<std::size_t>(-1); }
};
template <class Growth, std::size_t Threshold>
struct policy : headroom::vector_policy {
    using growth = Growth;
    static constexpr std::size_t map_threshold = Threshold;
};

template <class T, class Growth>
void grows_all_the_same() {
    const auto make = [](int n) {
        if constexpr (std::is_same_v<T, int>) {
            return n;
        } else {
            return std::to_string(n);
        }
    };
    const auto number = [](const T& x) {
        if constexpr (std::is_same_v<T, int>) {
            return x;
        } else {
            return x.empty() ? 0 : std::stoi(x);
        }
    };
    headroom_test::every_operation<headroom::vector<T, std::allocator<T>, policy<Growth, 1>>>(make, number);
    headroom_test::every_operation<headroom::vector<T, std::allocator<T>, policy<Growth, 4096>>>(make, number);
    if constexpr (!std::is_same_v<Growth, beyond_everything>) {    // more than the heap has
        headroom_test::every_operation<headroom::vector<T, std::allocator<T>, policy<Growth, static_cast<std::size_t>(-1)>>>(
            make, number);
        headroom_test::every_operation<headroom::vector<T, headroom_test::minimal_allocator<T>, policy<Growth, 4096>>>(make,
                                                                                                                       number);
    }
}
TEST(odd_growth, that_stays_where_it_is) {
    grows_all_the_same<int, by_half>();
    grows_all_the_same<std::string, by_half>();
    grows_all_the_same<int, never>();
    grows_all_the_same<std::string, never>();
}
TEST(odd_growth, that_is_more_than_can_exist) {
    grows_all_the_same<int, beyond_everything>();
    grows_all_the_same<std::string, beyond_everything>();
}

}    // namespace
