// Blocks of at least Policy::map_threshold bytes: in a reservation, or on the heap where the system refuses one.
//
// Nothing here depends on the element type but the numbers of a `large_layout`, and what it costs is one system call or more;
// so it is compiled once, in the library, and not again for every vector of every file. A header of one cache line before the
// first element names the reservation, or none. Elements are moved as bytes here: only relocatable ones may be.
//
// No function throws; refusal is null or zero, and then nothing has changed. Invalidate: what they move or give back. (None
// takes a pointer to const: GCC 12 would warn that what it points to is uninitialised.)
#pragma once

#include <cstddef>

#include <headroom/commit_policy.hpp>
#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// What is short enough for the path of short blocks, in bytes: what it grows to stays in the cache of a thread.
inline constexpr std::size_t longest_short = 512;

// A heap that is not malloc's.
struct other_heap {
    void* (*take)(std::size_t bytes) noexcept;    // null where memory is refused
    void (*give)(void* block) noexcept;
};

// What the blocks of one kind of vector have in common.
struct large_layout {
    std::size_t element;       // bytes of an element
    std::size_t alignment;     // bytes
    std::size_t from;          // a block of so many elements is a large one
    const other_heap* heap;    // null: malloc's, see heap.hpp
    bool short_by_malloc;      // blocks of up to longest_short bytes, or twice that, are on the heap, and that is malloc's
    commit_policy commit;
};

// Room for `count` elements; null where memory is refused.
struct large_block {
    void* begin = nullptr;
    std::size_t count = 0;
};

// Room for `required` elements at least, and address space for `wanted`. `exactly`: no more is committed than is required.
[[nodiscard]] HEADROOM_API large_block allocate_large(const large_layout& layout, std::size_t required, std::size_t wanted,
                                                      bool exactly) noexcept;
HEADROOM_API void release_large(const large_layout& layout, void* begin) noexcept;

// Whether `required` elements fit into the address space of the block.
[[nodiscard]] HEADROOM_API bool reaches_large(const large_layout& layout, void* begin, std::size_t required) noexcept;
// Room for `required` elements in place: for how many there is then, or 0.
[[nodiscard]] HEADROOM_API std::size_t widen_large(const large_layout& layout, void* begin, std::size_t required,
                                                   bool exactly) noexcept;
// The same, or elsewhere with the first `size` elements, and the old block given back.
[[nodiscard]] HEADROOM_API large_block regrow_large(const large_layout& layout, void* begin, std::size_t size,
                                                    std::size_t required, std::size_t wanted, bool exactly) noexcept;

// Gives back what `size` elements of a block in a reservation do not need; other blocks stay as they are.
HEADROOM_API void trim_large(const large_layout& layout, void* begin, std::size_t size) noexcept;
[[nodiscard]] HEADROOM_API bool on_heap(const large_layout& layout, void* begin) noexcept;

}}}    // namespace headroom::detail
