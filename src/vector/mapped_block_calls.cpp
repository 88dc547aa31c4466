// SPDX-License-Identifier: MIT
// Implements mapped_block_calls.hpp.
#include <headroom/detail/vector/mapped_block_calls.hpp>

#include <headroom/detail/range/changing.hpp>
#include <headroom/detail/range/committing.hpp>

#include "vector/block_parts.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

bool charge_mapped(const block_layout& layout, void* begin, std::size_t required) noexcept {
    const block_header& header = header_of(layout, begin);
    if (!can_grow_in_place(layout, header, required)) return false;
    failure why;
    charge(header.control, block_bytes(layout, required), why);
    return !why;
}

void trim_mapped(const block_layout& layout, void* begin, std::size_t size) noexcept {
    range* const control = header_of(layout, begin).control;
    if (control != nullptr) static_cast<void>(shrink(control, block_bytes(layout, size)));
}

bool is_on_heap(const block_layout& layout, void* begin) noexcept { return header_of(layout, begin).control == nullptr; }

}}}    // namespace headroom::detail
