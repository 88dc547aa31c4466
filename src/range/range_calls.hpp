// What the cache and the resting places of hardened ranges need of ranges.
#pragma once

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Gives address space and memory back to the system and frees the control block. The range must not be live.
void destroy(range* control) noexcept;

// Gives the memory past `kept` bytes (a multiple of the page size) back to the system.
void cut_memory(range* control, std::size_t kept) noexcept;

// A live range of `bytes`, rounded up to pages, with nothing committed, for somebody who puts something else than memory there;
// never one that was kept warm. Null and `error` when refused.
[[nodiscard]] range* acquire_bare(std::size_t bytes, std::error_code& error) noexcept;
// Gives it back. Precondition: it is as reserve() made it again.
void relinquish_bare(range* control) noexcept;

}}}  // namespace headroom::detail
