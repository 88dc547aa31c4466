// SPDX-License-Identifier: MIT
// Operations on many trivially copyable elements of a vector, compiled once for all types.
//
// Each returns the block that holds the elements then; the caller computes their end. `from` is an array of `count` elements; `value` one
// that is copied to `count` places, or null, which leaves them unset. Both may be elements of the vector, except for insertion.
//
// They throw std::length_error past the longest array and std::bad_alloc if memory is refused; nothing has changed then. Null is an empty
// vector's block. Invalidate: the old block if they return another one.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/block_layout.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Returns a new block for exactly `count` elements; null for none.
[[nodiscard]] HEADROOM_API block<void*> construct_copies(const block_layout& layout, const void* from, std::size_t count);
[[nodiscard]] HEADROOM_API block<void*> construct_filled(const block_layout& layout, const void* value, std::size_t count);

// Appends behind `end`, with geometric growth.
[[nodiscard]] HEADROOM_API block<void*> append_copies(const block_layout& layout, void* begin, void* end, void* cap,
                                                      const void* from, std::size_t count);
[[nodiscard]] HEADROOM_API block<void*> append_filled(const block_layout& layout, void* begin, void* end, void* cap,
                                                      const void* value, std::size_t count);

// Replace all elements. A new block has exactly `count` elements, and the old one is released after they were copied.
[[nodiscard]] HEADROOM_API block<void*> assign_copies(const block_layout& layout, void* begin, void* cap, const void* from,
                                                      std::size_t count);
[[nodiscard]] HEADROOM_API block<void*> assign_filled(const block_layout& layout, void* begin, void* cap, const void* value,
                                                      std::size_t count);

// Insert before `at`, with geometric growth.
[[nodiscard]] HEADROOM_API block<void*> insert_copies(const block_layout& layout, void* begin, void* at, void* end, void* cap,
                                                      const void* from, std::size_t count);
[[nodiscard]] HEADROOM_API block<void*> insert_filled(const block_layout& layout, void* begin, void* at, void* end, void* cap,
                                                      const void* value, std::size_t count);

}}}    // namespace headroom::detail
