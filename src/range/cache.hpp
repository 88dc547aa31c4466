// Ranges whose owners died, kept with their memory for the next one: fresh pages are what growing costs most.
#pragma once

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// A cached range reserved at `bytes` under `policy`, made live; null when there is none. The most recently given first.
[[nodiscard]] range* take_from_cache(std::size_t bytes, const commit_policy& policy) noexcept;

// Takes the (live) range into the cache with as much of its memory as the limit allows, older ranges giving way; false when
// nothing may be kept, and then it is live still. Every byte past `high` must be without memory.
[[nodiscard]] bool give_to_cache(range* control) noexcept;

}}}  // namespace headroom::detail
