// SPDX-License-Identifier: MIT
// Quarantine of address ranges: the library's part of HEADROOM_HARDENED.
//
// On from the start if the library is compiled with HEADROOM_HARDENED, otherwise once a file of the program compiled with it is
// initialised; never off again. From then on
//   - a released range is inaccessible at once, so that a stale pointer faults;
//   - its addresses are not reused until some other ranges were released after it: with its memory it waits in the cache, without memory
//     it is quarantined here;
//   - memory of kept ranges is zeroed before reuse.
#pragma once

#include <atomic>

#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

extern constinit std::atomic<bool> ranges_hardened;
[[nodiscard]] inline bool hardened() noexcept { return ranges_hardened.load(std::memory_order_relaxed); }

// Returns the mapping's memory to the system at once, and its addresses; if hardened, the addresses after 32 other mappings.
void quarantine_or_release(page_range mapping) noexcept;
// Unmaps all quarantined mappings, when addresses or mappings are short.
void empty_quarantine() noexcept;

// Least number of ranges released between the release of a range and its reuse, in a hardened process.
inline constexpr std::size_t min_reuse_distance = 16;

}}}    // namespace headroom::detail
