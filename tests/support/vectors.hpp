// SPDX-License-Identifier: MIT
// headroom::vector with each of its three stores, for suites that hold for all.
#pragma once

#include <memory>
#include <vector>

#include <headroom/vector.hpp>

#include "support/elements.hpp"

namespace headroom_test {

// In a reservation from the first element on.
struct mapped_policy : headroom::vector_policy {
    static constexpr std::size_t map_threshold = 1;
};
// Moves from the heap to a reservation within a few hundred elements.
struct early_policy : headroom::vector_policy {
    static constexpr std::size_t map_threshold = 4096;
};
struct heap_policy : headroom::vector_policy {
    static constexpr std::size_t map_threshold = static_cast<std::size_t>(-1);
};

template <class T>
using mapped_vector = headroom::vector<T, std::allocator<T>, mapped_policy>;
template <class T>
using early_vector = headroom::vector<T, std::allocator<T>, early_policy>;
template <class T>
using heap_vector = headroom::vector<T, std::allocator<T>, heap_policy>;

// std::vector, which validates the tests. Not with libc++: its max_size() exceeds the address space, and its resize() can leave
// changes when it throws.
#if defined(_LIBCPP_VERSION)
template <class T>
using standard_vector = headroom::vector<T>;
#else
template <class T>
using standard_vector = std::vector<T>;
#endif

}    // namespace headroom_test
