// Calls on a mapped block besides growing it. Apart from mapped_block.hpp, because a program that only appends links none of them.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/block_layout.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Charges the memory of `required` elements in place, without touching it. False if the block has too little address space, or refused.
[[nodiscard]] bool charge_mapped(const block_layout& layout, void* begin, std::size_t required) noexcept;

// Decommits the part of a reservation that `size` elements do not need. Does nothing to a block on the heap.
HEADROOM_API void trim_mapped(const block_layout& layout, void* begin, std::size_t size) noexcept;
// True if a mapped block is on the heap, because its reservation was refused. Precondition: `begin` is a mapped block's.
[[nodiscard]] HEADROOM_API bool is_on_heap(const block_layout& layout, void* begin) noexcept;

}}}    // namespace headroom::detail
