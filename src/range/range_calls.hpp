// What the cache and the resting places of hardened ranges need of ranges.
#pragma once

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Gives address space and memory back to the system and frees the control block. The range must not be live.
void destroy(range* control) noexcept;

// Gives the memory past `kept` bytes (a multiple of the page size) back to the system.
void cut_memory(range* control, std::size_t kept) noexcept;

}}}  // namespace headroom::detail
