// SPDX-License-Identifier: MIT
// Growing a vector's block of relocatable elements: on the heap, from there to a mapped block, and mapped ones.
//
// A heap's block is larger than the request: with glibc's malloc 24 bytes, 40, 56 ..., with others at least 8. A growing block requests all
// of it, so that a short vector of small elements grows less often; the block is never larger than malloc's block for a capacity
// doubled from one element on.
//
// The last three functions throw; nothing has changed then. Invalidate: what they move or release.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/block_layout.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Returns how many elements malloc's block for `count` holds; with an unknown malloc `count`, but at least 8 bytes' worth if the
// element's size is a power of two. `count` for operator new, mapped blocks, elements of 16 bytes or more. O(1).
[[nodiscard]] HEADROOM_API std::size_t capacity_of_heap_block(const block_layout& layout, std::size_t count) noexcept;

// Returns the capacity that a doubling vector grows to from `capacity` by one element. Saturates. O(1).
[[nodiscard]] HEADROOM_API std::size_t next_doubled_capacity(const block_layout& layout, std::size_t capacity) noexcept;

// Enlarges the block [begin, cap), on the heap to `wanted` elements, mapped to `required` in place, or replaces it by one of `wanted`, to
// which it moves [begin, end) as bytes. Throws std::bad_alloc if refused; nothing has changed then.
[[nodiscard]] HEADROOM_API block<void*> reallocate_block(const block_layout& layout, void* begin, void* end, void* cap,
                                                         std::size_t required, std::size_t wanted, bool exactly);
// Like reallocate_block(), with the capacity `wanted` of a vector that doubles, or `required` if `exactly`.
[[nodiscard]] HEADROOM_API block<void*> reallocate(const block_layout& layout, void* begin, void* end, void* cap,
                                                   std::size_t required, bool exactly);
// Like reallocate(), for a full block, with end == cap, and one more element.
[[nodiscard]] HEADROOM_API block<void*> reallocate_by_one(const block_layout& layout, void* begin, void* end);

}}}    // namespace headroom::detail
