// Mapped blocks of a vector: large ones, in a reservation, or on the heap where that was refused. A header before the elements names the
// reservation: one cache line, or the alignment if larger. Any element type, but for reallocate_mapped(). Invalidate: what they move or
// release.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/block_layout.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Allocates a mapped block: memory for `required` elements (`exactly`: at most a smallest block's more), addresses for `wanted`; or null.
// On the heap it has memory for `wanted` or, if refused, for `required`.
[[nodiscard]] HEADROOM_API block<void*> allocate_mapped(const block_layout& layout, std::size_t required, std::size_t wanted,
                                                        bool exactly) noexcept;
// Releases a mapped block to the cache of kept ranges, the system or the heap.
HEADROOM_API void release_mapped(const block_layout& layout, void* begin) noexcept;

// Commits memory for `required` elements in place. Returns the block's new end; null if its address space is too small, or if refused.
[[nodiscard]] void* expand_mapped_in_place(const block_layout& layout, void* begin, std::size_t required, bool exactly) noexcept;

// Like reallocate_block(), for a mapped block of relocatable elements, but returns an empty block if refused. Compiled code calls it.
[[nodiscard]] block<void*> reallocate_mapped(const block_layout& layout, void* begin, void* end, std::size_t required,
                                             std::size_t wanted, bool exactly) noexcept;

}}}    // namespace headroom::detail
