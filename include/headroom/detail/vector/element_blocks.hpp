// SPDX-License-Identifier: MIT
// Allocation of a vector's blocks on slow paths, compiled once for all types. Elements are constructed and moved by the caller.
//
// They throw std::length_error past the longest array and std::bad_alloc if memory is refused; nothing has changed then.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/block_layout.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Allocates a block for `required` elements, with geometric growth from `size` unless `exactly`.
[[nodiscard]] HEADROOM_API block<void*> allocate_block(const block_layout& layout, std::size_t size, std::size_t required,
                                                       bool exactly);
// Expands the block [begin, cap) in place, or returns another one like allocate_block(). The caller releases the old one then.
[[nodiscard]] HEADROOM_API block<void*> expand_or_allocate(const block_layout& layout, void* begin, void* end, void* cap,
                                                           std::size_t required, bool exactly);
// Expands the block in place. Returns its new end; null if it is not mapped, has too few addresses, or if refused.
[[nodiscard]] HEADROOM_API void* try_expand_block(const block_layout& layout, void* begin, void* cap, std::size_t required,
                                                  bool exactly) noexcept;
// Frees a block of any kind. Null and a small_vector's own buffer are allowed, and left alone.
HEADROOM_API void release_any_block(const block_layout& layout, void* begin, void* cap) noexcept;

// Charges the memory of `required` elements in place. False if the block is not mapped, has too few addresses, or if refused.
[[nodiscard]] HEADROOM_API bool charge_block(const block_layout& layout, void* begin, void* cap, std::size_t required) noexcept;
// Trims a mapped block to `count` elements, or to the smallest mapped block. Returns the new end of the capacity.
[[nodiscard]] HEADROOM_API void* trim_to_capacity(const block_layout& layout, void* begin, void* cap, std::size_t count) noexcept;

// A block for more elements, `step` of them at a time.
struct block_in_steps {
    block<void*> to;
    std::size_t step;
};
// Allocates a block with addresses and charged memory for `count` elements, committed for the first `step`; or for all, and returns
// `count` as the step.
[[nodiscard]] HEADROOM_API block_in_steps allocate_for_steps(const block_layout& layout, std::size_t count, std::size_t step);
// The same for `count` elements behind those of [begin, end). Returns that block, if the new ones fit there, or another one.
[[nodiscard]] HEADROOM_API block_in_steps expand_for_steps(const block_layout& layout, void* begin, void* end, void* cap,
                                                           std::size_t count, std::size_t step);

// The end of a block's capacity, and how many elements to build at once.
struct element_step {
    void* cap;
    std::size_t count;
};
// Returns the next step for `left` elements behind `end` in such a block: fills the capacity before it commits more. A count of 0: refused.
[[nodiscard]] HEADROOM_API element_step next_step(const block_layout& layout, void* begin, void* end, void* cap, std::size_t left,
                                                  std::size_t step) noexcept;

}}}    // namespace headroom::detail
