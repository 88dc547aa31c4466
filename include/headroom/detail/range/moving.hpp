// SPDX-License-Identifier: MIT
// Moving a range's contents to another range.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/range/held_range.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Moves the first `bytes` of `from` to the start of `to`, by page tables where possible, else by memcpy. The contents of `from` are
// unspecified afterwards. Cannot fail. Precondition: `to` has committed as much.
HEADROOM_API void move_contents(range* from, range* to, std::size_t bytes) noexcept;

}}}    // namespace headroom::detail
