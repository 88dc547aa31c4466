// What lies where in a large block, and the heap that blocks come from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>

#include <headroom/detail/memory/large_block.hpp>
#include <headroom/growth.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Blocks of the heap that such elements are on. Null where memory is refused.
[[nodiscard]] void* take_block(const large_layout& layout, std::size_t bytes) noexcept;
void give_block(const large_layout& layout, void* block) noexcept;

// What lies before the first element of a large block.
struct block_header {
    range* control;          // null: a heap block
    std::size_t reserved;    // bytes from the start of the header's line
};

// Bytes before the first element: a cache line, and more where the alignment asks for it.
inline std::size_t line(const large_layout& layout) noexcept { return layout.alignment > 64 ? layout.alignment : 64; }
inline std::size_t bytes_for(const large_layout& layout, std::size_t elements) noexcept {
    return line(layout) + elements * layout.element;
}
inline std::size_t fitting(const large_layout& layout, std::size_t committed) noexcept {
    const std::size_t count = (committed - line(layout)) / layout.element;
    return std::min(count, most_elements(layout.element));
}

inline std::byte* start_of(const large_layout& layout, void* begin) noexcept {
    return static_cast<std::byte*>(begin) - line(layout);
}
inline const block_header& header_of(const large_layout& layout, const void* begin) noexcept {
    return *reinterpret_cast<const block_header*>(static_cast<const std::byte*>(begin) - line(layout));
}
// Whether `required` elements fit into the block's reservation. No block of the heap has one.
inline bool reaches(const large_layout& layout, const block_header& header, std::size_t required) noexcept {
    return header.control != nullptr && bytes_for(layout, required) <= header.reserved;
}
inline void* begin_of(const large_layout& layout, void* start, block_header header) noexcept {
    ::new (start) block_header(header);
    return static_cast<std::byte*>(start) + line(layout);
}

}}}    // namespace headroom::detail
