// What vectors ask of a large block, and do to it, besides growing.
#include <headroom/detail/memory/blocks.hpp>

#include <headroom/detail/vector/held_range.hpp>

#include "memory/large_block_parts.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

bool reaches_large(const large_layout& layout, void* begin, std::size_t required) noexcept {
    return reaches(layout, header_of(layout, begin), required);
}

void trim_large(const large_layout& layout, void* begin, std::size_t size) noexcept {
    range* const control = header_of(layout, begin).control;
    if (control != nullptr) static_cast<void>(shrink(control, bytes_for(layout, size)));
}

bool on_heap(const large_layout& layout, void* begin) noexcept { return header_of(layout, begin).control == nullptr; }

}}}    // namespace headroom::detail
