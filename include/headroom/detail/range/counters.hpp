// SPDX-License-Identifier: MIT
// Counters of statistics() that containers add to.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Adds to page_statistics::bytes_copied. Thread-safe.
HEADROOM_API void add_bytes_copied(std::size_t bytes) noexcept;

}}}    // namespace headroom::detail
