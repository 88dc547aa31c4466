// Blocks of a vector with std::allocator: on the heap or, from Policy::map_threshold bytes on, large: in a reservation, or on the heap
// where the system refuses one.
//
// Nothing here depends on the element type but the numbers of a `large_layout`; so it is compiled once, in the library, and not again
// for every vector of every file. (That the copy between blocks is compiled there also keeps it a call of memcpy: where a vector's slow
// path is compiled for size, it would be an instruction that takes long to start.) A header of one cache line before the first element
// of a large block names the reservation, or none. Elements are moved as bytes here: only relocatable ones may be.
//
// A heap hands out more than it is asked for: glibc's malloc 24 bytes, 40, 56 ... A block that grows asks for all of it, so that
// a short vector of small elements grows less often, and still never has a larger block than one that doubles from a single
// element on. Where the heap is another one, nobody says what it hands out: then the block holds what doubling makes it hold.
//
// None but the last three functions throws; refusal is null, and then nothing has changed. Invalidate: what they move or give back. (None
// takes a pointer to const: GCC 12 would warn that what it points to is uninitialised.)
#pragma once

#include <cstddef>

#include <headroom/commit_policy.hpp>
#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// What is short enough for the path of short blocks, in bytes: what it grows to stays in the cache of a thread.
inline constexpr std::size_t max_short_block = 512;

// A heap that is not malloc's.
struct heap_functions {
    void* (*allocate_bytes)(std::size_t bytes) noexcept;    // null where memory is refused
    void (*free_bytes)(void* memory) noexcept;
};

// What the blocks of one kind of vector have in common.
struct large_layout {
    std::size_t element;           // bytes of an element
    std::size_t alignment;         // bytes
    std::size_t from;              // a block of so many elements is a large one
    const heap_functions* heap;    // null: malloc's, see heap_memory.hpp
    bool short_uses_malloc;        // blocks of up to max_short_block bytes, or twice that, are on the heap, and that is malloc's
    commit_policy commit;
};

// Memory for elements: [begin, cap). Null where memory is refused.
template <class Pointer>
struct block {
    Pointer begin{};
    Pointer cap{};
};

// Room for `required` elements at least, and address space for `wanted`. `exactly`: no more is committed than is required.
[[nodiscard]] HEADROOM_API block<void*> allocate_large(const large_layout& layout, std::size_t required, std::size_t wanted,
                                                       bool exactly) noexcept;
HEADROOM_API void release_large(const large_layout& layout, void* begin) noexcept;

// Charges the memory of `required` elements in place, without touching it. False if they do not fit into the block's address space, or
// memory is refused.
[[nodiscard]] HEADROOM_API bool charge_large(const large_layout& layout, void* begin, std::size_t required) noexcept;
// Room for `required` elements in place: the new end of the block, or null.
[[nodiscard]] HEADROOM_API void* expand_large_in_place(const large_layout& layout, void* begin, std::size_t required,
                                                       bool exactly) noexcept;

// Gives back what `size` elements of a block in a reservation do not need; other blocks stay as they are.
HEADROOM_API void trim_large(const large_layout& layout, void* begin, std::size_t size) noexcept;
[[nodiscard]] HEADROOM_API bool on_heap(const large_layout& layout, void* begin) noexcept;

// --- Growing

// As many elements as the heap's block for `count` of them has room for; `count` where that is not known. O(1).
[[nodiscard]] HEADROOM_API std::size_t capacity_of_heap_block(const large_layout& layout, std::size_t count) noexcept;

// The capacity after `capacity` of a vector that doubles and grows by one element. Saturates. O(1).
[[nodiscard]] HEADROOM_API std::size_t next_doubled_capacity(const large_layout& layout, std::size_t capacity) noexcept;

// A block of either kind, [begin, cap), whose elements [begin, end) travel as bytes: with room for `required`, in place or, made for
// `wanted`, elsewhere; the old block is given back then. Throws std::bad_alloc where memory is refused, and where no more elements can
// exist, for which there is no memory either; then nothing has changed.
[[nodiscard]] HEADROOM_API block<void*> reallocate_block(const large_layout& layout, void* begin, void* end, void* cap,
                                                         std::size_t required, std::size_t wanted, bool exactly);
// The same of a vector that doubles: room for `required` elements, and no more where `exactly`.
[[nodiscard]] HEADROOM_API block<void*> reallocate(const large_layout& layout, void* begin, void* end, void* cap,
                                                   std::size_t required, bool exactly);
// The same for one element more than a full block has.
[[nodiscard]] HEADROOM_API block<void*> reallocate_by_one(const large_layout& layout, void* begin, void* end);

}}}    // namespace headroom::detail
