// Blocks of a vector with std::allocator: on the heap; from Policy::map_threshold bytes on *large*, in a reservation if granted.
//
// Nothing here depends on the element type but the numbers of a `large_layout`, so it is compiled once, in the library, not for every
// vector of every file. The copy between blocks stays a call of memcpy there; compiled for size, it would be an instruction that is slow
// to start. A header of one cache line before the elements of a large block names its reservation. Elements must be relocatable.
//
// A heap's block is larger than the request: with glibc's malloc 24 bytes, 40, 56 ..., with others at least 8. A growing block requests all
// of it, so that a short vector of small elements grows less often; it is never larger than by doubling from one element on.
//
// Only the last three functions throw. A null block means that memory was refused; nothing has changed then. Invalidate: what they move or
// release. No function takes a pointer to const, because GCC 12 would warn that its target is uninitialised.
#pragma once

#include <cstddef>

#include <headroom/commit_policy.hpp>
#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Largest short block, in bytes. The blocks that it grows into stay in a thread's cache.
inline constexpr std::size_t max_short_block = 512;

// A heap other than malloc.
struct heap_functions {
    void* (*allocate_bytes)(std::size_t bytes) noexcept;    // null if refused
    void (*free_bytes)(void* memory) noexcept;
};

// Properties shared by the blocks of one vector type.
struct large_layout {
    std::size_t element_bytes;
    std::size_t alignment;
    std::size_t min_large_elements;    // of the smallest large block
    const heap_functions* heap;        // null: malloc, see heap_memory.hpp
    bool short_uses_malloc;            // true if all blocks up to twice max_short_block bytes come from malloc
    commit_policy commit;
};

// Memory for elements, [begin, cap). Null if refused.
template <class Pointer>
struct block {
    Pointer begin{};
    Pointer cap{};
};

// Allocates a large block: memory for `required` elements (`exactly`: at most a smallest block's more), addresses for `wanted`; or null.
[[nodiscard]] HEADROOM_API block<void*> allocate_large(const large_layout& layout, std::size_t required, std::size_t wanted,
                                                       bool exactly) noexcept;
// Releases a large block to the cache of kept ranges, the system or the heap.
HEADROOM_API void release_large(const large_layout& layout, void* begin) noexcept;

// Charges the memory of `required` elements in place, without touching it. False if the block has too little address space, or refused.
[[nodiscard]] HEADROOM_API bool charge_large(const large_layout& layout, void* begin, std::size_t required) noexcept;
// Commits memory for `required` elements in place. Returns the block's new end; null if its address space is too small, or if refused.
[[nodiscard]] HEADROOM_API void* expand_large_in_place(const large_layout& layout, void* begin, std::size_t required,
                                                       bool exactly) noexcept;

// Decommits the part of a reservation that `size` elements do not need. Does nothing to a block on the heap.
HEADROOM_API void trim_large(const large_layout& layout, void* begin, std::size_t size) noexcept;
[[nodiscard]] HEADROOM_API bool is_on_heap(const large_layout& layout, void* begin) noexcept;

// Returns how many elements malloc's block for `count` holds; `count` for operator new, large blocks, elements of 16 bytes or more. O(1).
[[nodiscard]] HEADROOM_API std::size_t capacity_of_heap_block(const large_layout& layout, std::size_t count) noexcept;

// Returns the capacity that a doubling vector grows to from `capacity` by one element. Saturates. O(1).
[[nodiscard]] HEADROOM_API std::size_t next_doubled_capacity(const large_layout& layout, std::size_t capacity) noexcept;

// Enlarges the block [begin, cap), on the heap or large, to `required` elements in place, or replaces it by one of `wanted`, to which it
// moves [begin, end) as bytes. Throws std::bad_alloc if refused; nothing has changed then.
[[nodiscard]] HEADROOM_API block<void*> reallocate_block(const large_layout& layout, void* begin, void* end, void* cap,
                                                         std::size_t required, std::size_t wanted, bool exactly);
// Like reallocate_block(), with the capacity `wanted` of a vector that doubles, or `required` if `exactly`.
[[nodiscard]] HEADROOM_API block<void*> reallocate(const large_layout& layout, void* begin, void* end, void* cap,
                                                   std::size_t required, bool exactly);
// Like reallocate(), for a full block, with end == cap, and one more element.
[[nodiscard]] HEADROOM_API block<void*> reallocate_by_one(const large_layout& layout, void* begin, void* end);

}}}    // namespace headroom::detail
