// SPDX-License-Identifier: MIT
// Asking for memory that is not in a range.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Admits `bytes` of memory that is not in a range: counts them as taken for set_min_available_memory(). False if they exceed all memory, or
// if too little would stay available. Call it once for each block.
[[nodiscard]] HEADROOM_API bool try_admit(std::size_t bytes) noexcept;

}}}    // namespace headroom::detail
