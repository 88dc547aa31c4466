// SPDX-License-Identifier: MIT
// Arithmetic of a vector's blocks: element counts, and the header of a mapped block.
#pragma once

#include <bit>
#include <cstddef>
#include <new>

#include <headroom/detail/range/held_range.hpp>
#include <headroom/detail/vector/block_layout.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

inline std::size_t bytes_between(const void* from, const void* to) noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(to) - static_cast<const std::byte*>(from));
}
// Replaces std::has_single_bit, which GCC 12 makes a call that counts bits.
constexpr bool is_power_of_two_or_zero(std::size_t number) noexcept { return (number & (number - 1)) == 0; }
// Returns the number of elements in `bytes`. Shifts if possible: a division takes as long as the rest of a call of malloc.
inline std::size_t elements_in(const block_layout& layout, std::size_t bytes) noexcept {
    return is_power_of_two_or_zero(layout.element_bytes) ? bytes >> std::countr_zero(layout.element_bytes)
                                                         : bytes / layout.element_bytes;
}

inline std::byte* end_of(const block_layout& layout, void* begin, std::size_t elements) noexcept {
    return static_cast<std::byte*>(begin) + elements * layout.element_bytes;
}

// True for null and a small_vector's own buffer.
inline bool is_no_block(const block_layout& layout, const void* begin, const void* cap) noexcept {
    return begin == nullptr || (layout.inline_bytes != 0 && bytes_between(begin, cap) <= layout.inline_bytes);
}
// True if the block's header names a reservation, or says that there is none.
inline bool is_mapped(const block_layout& layout, const void* begin, const void* cap) noexcept {
    return bytes_between(begin, cap) >= layout.min_mapped_bytes && !is_no_block(layout, begin, cap);
}

// Header before the first element of a mapped block.
struct block_header {
    range* control;          // null: on the heap
    std::size_t reserved;    // bytes from the start of the header
};

// Returns the bytes before the first element: a cache line, or the alignment if larger.
inline std::size_t header_bytes_of(const block_layout& layout) noexcept { return layout.alignment > 64 ? layout.alignment : 64; }
// Returns the bytes of a mapped block, with its header.
inline std::size_t block_bytes(const block_layout& layout, std::size_t elements) noexcept {
    return header_bytes_of(layout) + elements * layout.element_bytes;
}
// Returns the start of a mapped block, where its header is.
inline std::byte* block_start(const block_layout& layout, void* begin) noexcept {
    return static_cast<std::byte*>(begin) - header_bytes_of(layout);
}
inline const block_header& header_of(const block_layout& layout, const void* begin) noexcept {
    return *reinterpret_cast<const block_header*>(static_cast<const std::byte*>(begin) - header_bytes_of(layout));
}
// True if `required` elements fit into the block's reservation. A block of the heap has none.
inline bool can_grow_in_place(const block_layout& layout, const block_header& header, std::size_t required) noexcept {
    return header.control != nullptr && block_bytes(layout, required) <= header.reserved;
}
// Writes the header of a mapped block to its start. Returns the place of its first element.
inline void* place_header(const block_layout& layout, void* start, block_header header) noexcept {
    ::new (start) block_header(header);
    return static_cast<std::byte*>(start) + header_bytes_of(layout);
}

}}}    // namespace headroom::detail
