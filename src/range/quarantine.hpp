// The library's part of HEADROOM_HARDENED: freed address ranges are quarantined before reuse, and no owner of a range
// sees what an earlier one left there.
//
// On from the start where the library itself is compiled with HEADROOM_HARDENED, and otherwise from the moment that a file
// of the program compiled with it is initialised; never off again. From then on
//   - a range that its owner gave back is inaccessible at once, so that a stale pointer faults instead of reading on;
//   - its addresses are not reused until some other ranges were given back after it: with its memory it waits in the cache,
//     without memory it is quarantined here;
//   - memory that is handed out warm is zeroed first.
#pragma once

#include <atomic>

#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

extern constinit std::atomic<bool> ranges_hardened;
[[nodiscard]] inline bool hardened() noexcept { return ranges_hardened.load(std::memory_order_relaxed); }

// Gives the memory of the mapping back to the system at once, and its addresses: hardened, after 32 other mappings were quarantined.
void quarantine_or_release(page_range mapping) noexcept;
// Releases all quarantined mappings: addresses or mappings are short.
void empty_quarantine() noexcept;

// Between being given back and being handed out warm, a range sees as many others given back.
inline constexpr std::size_t min_reuse_distance = 16;

}}}    // namespace headroom::detail
