// SPDX-License-Identifier: MIT
// Blocks of a vector with std::allocator: on the heap; from Policy::map_threshold bytes on *mapped blocks*, in a reservation if granted.
//
// Nothing about them depends on the element type but the numbers of a `block_layout`, so their functions (growing_block.hpp,
// mapped_block.hpp) are compiled once, in the library, not for every vector of every file. The copy between blocks stays a call of memcpy
// there; compiled for size, it would be an instruction that is slow to start.
//
// Those functions take no pointer to const, because GCC 12 would warn that its target is uninitialised.
#pragma once

#include <cstddef>

#include <headroom/commit_policy.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Largest short block, in bytes. The blocks that it grows into stay in a thread's cache.
inline constexpr std::size_t max_short_block = 512;

// A heap other than malloc.
struct heap_functions {
    void* (*allocate_bytes)(std::size_t bytes) noexcept;    // null if refused
    void (*free_bytes)(void* memory) noexcept;
};

// Properties shared by the blocks of one vector type.
struct block_layout {
    std::size_t element_bytes;
    std::size_t alignment;
    std::size_t min_mapped_elements;    // of the smallest mapped block
    const heap_functions* heap;         // null: malloc, see heap_memory.hpp
    bool short_uses_malloc;             // true if all blocks up to twice max_short_block bytes come from malloc
    commit_policy commit;
    std::size_t min_mapped_bytes;    // those elements' bytes, or SIZE_MAX
    std::size_t inline_bytes;        // capacity of a small_vector's own buffer, which is no block
    // Capacity to grow to from `size` elements; null: twice, at least `required`.
    std::size_t (*next_capacity)(std::size_t size, std::size_t required) noexcept;
};

// Memory for elements, [begin, cap). Null if refused.
template <class Pointer>
struct block {
    Pointer begin{};
    Pointer cap{};
};

}}}    // namespace headroom::detail
