// The library's part of HEADROOM_HARDENED: address ranges rest before they are handed out again, and no owner of a range
// sees what an earlier one left there.
//
// On from the start where the library itself is compiled with HEADROOM_HARDENED, and otherwise from the moment that a file
// of the program compiled with it is initialised; never off again. From then on
//   - a range that its owner gave back is inaccessible at once, so that a stale pointer faults instead of reading on;
//   - its addresses serve nobody until some others were given back after it: kept with its memory it waits in the cache,
//     without memory it rests here;
//   - memory that is handed out warm is zeroed first.
#pragma once

#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

[[nodiscard]] bool hardened() noexcept;

// Between being given back and being handed out warm, a range sees as many others given back.
inline constexpr std::size_t ranges_between = 16;

// Takes the memory of the mapping away, and releases its addresses when more than a few others have come to rest after it.
void put_to_rest(page_range mapping) noexcept;

// Releases all that rest: addresses or mappings are short.
void end_rest() noexcept;

}}}  // namespace headroom::detail
