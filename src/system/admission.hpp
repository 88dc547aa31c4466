// SPDX-License-Identifier: MIT
// Refuses memory before a system call requests it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// The guard of set_min_available_memory().
struct memory_guard {
    // Counts `more` bytes as taken and returns true, if the minimum stays available without them and what was counted before. They count
    // until settle(), at most two to four seconds; unless `is_settled`, until the reading after next.
    bool (*admit)(std::size_t more, bool is_settled) noexcept;
    // Counts `bytes` of admitted memory no longer: they were written, and so are missing from what is available, or were given back.
    void (*settle)(std::size_t bytes) noexcept;
};
// Number of periods in which admitted memory counts; bytes that were admitted two periods ago do not any more. Any thread may read it.
extern constinit std::atomic<std::uint32_t> admission_period;
// True once set_min_available_memory() was called.
extern constinit std::atomic<bool> min_available_was_set;

// Null until set_min_available_memory(), so that other programs do not link it.
extern constinit std::atomic<const memory_guard*> guard_of_memory;

// Admits `more` new bytes of a range or block of `whole` bytes. Returns out_of_memory() if `whole` exceeds all memory, or if less than
// set_min_available_memory() would stay available. Call it once, before the system call that provides the memory. `is_settled`: true if
// settle_admitted() is called for these bytes. Any thread may call it.
[[nodiscard]] inline std::error_code admit(std::size_t more, std::size_t whole, bool is_settled) noexcept {
    if (exceeds_ram_and_swap(whole)) return out_of_memory();
    const memory_guard* const guard = guard_of_memory.load(std::memory_order_acquire);
    return guard == nullptr || more == 0 || guard->admit(more, is_settled) ? std::error_code() : out_of_memory();
}
// True if admitted memory is counted.
[[nodiscard]] inline bool memory_is_guarded() noexcept { return guard_of_memory.load(std::memory_order_relaxed) != nullptr; }
// Says that `bytes` of admitted memory were written or given back. Those that are neither are counted for two to four seconds.
inline void settle_admitted(std::size_t bytes) noexcept {
    const memory_guard* const guard = guard_of_memory.load(std::memory_order_acquire);
    if (guard != nullptr && bytes != 0) guard->settle(bytes);
}

}}}    // namespace headroom::detail
