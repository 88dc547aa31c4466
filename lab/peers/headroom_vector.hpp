// SPDX-License-Identifier: MIT
// headroom::vector, under the policies that the documents compare; one contender for each. And headroom::small_vector, given room
// for a cache line inside, as absl::InlinedVector is.
//
//   /heap           kept to the heap at every size: realloc where elements are relocatable (which glibc does by page tables
//                   from some 128 KiB up: the way of the thesis's rvector)
//   /page_by_page   its reservations commit page by page (the way of DynArray in "Reserve and commit")
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

namespace headroom::lab {

struct heap_policy : vector_policy {
    static constexpr std::size_t map_threshold = SIZE_MAX;
};
struct vector_page_by_page_policy : vector_policy {
    static constexpr commit_policy commit = headroom::page_by_page();
};

template <class Policy>
struct vector_peer {
    static std::string version() { return HEADROOM_LAB_VERSION; }
    template <class T>
    using container = headroom::vector<T, std::allocator<T>, Policy>;
};

struct headroom_vector : vector_peer<vector_policy> {
    static constexpr const char* id = "headroom::vector";
};
struct headroom_vector_heap : vector_peer<heap_policy> {
    static constexpr const char* id = "headroom::vector/heap";
};
struct headroom_vector_page_by_page : vector_peer<vector_page_by_page_policy> {
    static constexpr const char* id = "headroom::vector/page_by_page";
};

struct headroom_small_vector {
    static constexpr const char* id = "headroom::small_vector";
    static std::string version() { return HEADROOM_LAB_VERSION; }
    template <class T>
    using container = headroom::small_vector<T, (sizeof(T) < 64 ? 64 / sizeof(T) : 1)>;
};

}    // namespace headroom::lab
