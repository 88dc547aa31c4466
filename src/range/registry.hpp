// All live ranges of the process: which one a pointer comes from, and the list of them.
#pragma once

#include <headroom/reservation.hpp>

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// A control block not in use, or null when there is no memory for one.
[[nodiscard]] range* new_control_block() noexcept;
void free_control_block(range* control) noexcept;

// Makes the range's granules name it. False when there is no memory for the table; nothing has changed then.
// The range is not live yet: lookups do not find it before make_live.
[[nodiscard]] bool enter_granules(range* control) noexcept;
void leave_granules(range* control) noexcept;

// Adds to, takes from, the list of live ranges. Under the registry's lock.
[[nodiscard]] range* first_live() noexcept;
void make_live(range* control) noexcept;
void end_life(range* control, range_state next) noexcept;

// The range of a granule, live or not; lock-free.
[[nodiscard]] range* range_at(const void* pointer) noexcept;

// Held by the registry and the cache while they change; also across fork.
void lock_registry() noexcept;
void unlock_registry() noexcept;

struct registry_guard {
    registry_guard() noexcept { lock_registry(); }
    ~registry_guard() { unlock_registry(); }
    registry_guard(const registry_guard&) = delete;
    registry_guard& operator=(const registry_guard&) = delete;
};

}}}  // namespace headroom::detail
