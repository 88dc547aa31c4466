// SPDX-License-Identifier: MIT
// Acquiring and releasing ranges.
#pragma once

#include <cstddef>

#include <headroom/commit_policy.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/range/held_range.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Reserves `bytes`, rounded up to pages; unless `exact`, tries half as much when refused, and so on down to `floor_bytes`. Takes a kept
// range if there is one: of any owner unless `exact`, otherwise of this size; one with about as much memory as the owner will use, if
// `known_use` says it, otherwise the newest. If refused, sets `why`, returns an empty range.
HEADROOM_API held_range acquire_range(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                                      failure& why, std::size_t known_use = 0) noexcept;

// Releases the range to the cache of kept ranges or to the system. Null is ignored. `used`, the bytes in use from the base, says what is
// worth keeping of a premapped range; the library knows that of a guarded one.
HEADROOM_API void release_range(range* control, std::size_t used = 0) noexcept;

}}}    // namespace headroom::detail
