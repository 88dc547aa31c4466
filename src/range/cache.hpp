// Ranges whose owners died, kept with their memory for the next one: fresh pages are what growing costs most.
//
// Small ones go to a few places that threads do not share, without a lock; the others to one list. What is kept, and what
// living ranges were handed out warm and have not come to use yet, stays under an allowance: that begins small, grows where a
// range has to be given again, by the system, what was taken from it, and shrinks when a second passes without a hit.
#pragma once

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Of what a range keeps beyond this, the system may take pages when memory is short.
inline constexpr std::size_t offered_from = std::size_t{4} << 20;

// Whether the range is what an owner asks for, and its new life.
[[nodiscard]] inline bool serves(const range* control, std::size_t bytes, const commit_policy& policy) noexcept {
    return control->size() == bytes && control->policy == policy;
}
inline void make_live(range* control) noexcept {
    control->hits.store(control->hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    control->state.store(range_state::live, std::memory_order_release);
}

// The limit as it was set; SIZE_MAX where nobody has asked for it. Written under the registry's lock.
[[nodiscard]] std::size_t limit_of_cache() noexcept;

// A cached range reserved at `bytes` under `policy`, made live; null when there is none. The most recently given first.
[[nodiscard]] range* take_from_cache(std::size_t bytes, const commit_policy& policy) noexcept;

// Takes the (live) range into the cache with as much of its memory as the allowance permits, older ranges giving way; false
// when nothing may be kept, and then it is live still. Every byte past its memory() must be without memory. `at_once`: it may go
// where it serves the next owner at once, which is not always wanted of addresses.
[[nodiscard]] bool give_to_cache(range* control, bool at_once) noexcept;

// The owner was given `committed` bytes: what it got warm is in use as far as that.
void count_warm_in_use(range* control, std::size_t committed) noexcept;

}}}    // namespace headroom::detail
