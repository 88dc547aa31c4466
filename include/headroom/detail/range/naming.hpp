// SPDX-License-Identifier: MIT
// Names of ranges.
#pragma once

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/range/held_range.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Names the range, cut to 79 bytes; null or empty removes the name.
HEADROOM_API void set_name(range* control, const char* text) noexcept;
// Gives `to` the name of `from`, if that has one.
HEADROOM_API void copy_name(const range* from, range* to) noexcept;

}}}    // namespace headroom::detail
