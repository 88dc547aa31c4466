// headroom::vector kept in each of its three ways, for suites that must hold in all.
#pragma once

#include <memory>

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

}  // namespace headroom_test
