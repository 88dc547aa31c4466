// headroom::vector kept in each of its three ways, for suites that must hold in all.
#pragma once

#include <memory>
#include <vector>

#include <headroom/vector.hpp>

#include "support/elements.hpp"

namespace headroom_test {

// From the first element in a reservation.
struct mapped_policy : headroom::vector_policy {
    static constexpr std::size_t map_threshold = 1;
};
// So early that a few hundred elements pass from the heap to a reservation.
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

// The standard's own, which proves the tests that it passes. Not libc++'s: its max_size() is more than memory can address, and
// its resize() may have changed something when it throws.
#if defined(_LIBCPP_VERSION)
template <class T>
using standard_vector = headroom::vector<T>;
#else
template <class T>
using standard_vector = std::vector<T>;
#endif

}    // namespace headroom_test
