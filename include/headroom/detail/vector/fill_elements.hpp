// SPDX-License-Identifier: MIT
// Filling memory with copies of one trivially copyable element, compiled once for all types.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Copies the `element_bytes` bytes of `value` to `count` places from `to` on. `value` may lie there. Allows null with a count of zero.
HEADROOM_API void fill_elements(void* to, const void* value, std::size_t element_bytes, std::size_t count) noexcept;

}}}    // namespace headroom::detail
