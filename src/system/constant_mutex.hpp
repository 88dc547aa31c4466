// SPDX-License-Identifier: MIT
// A constant-initialised mutex: static ones may be used before main and after it on every system. Some initialise std::mutex at run time.
#pragma once

#include <atomic>
#include <cstdint>

#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

class constant_mutex {
public:
    constexpr constant_mutex() noexcept = default;
    constant_mutex(const constant_mutex&) = delete;
    constant_mutex& operator=(const constant_mutex&) = delete;

    void lock() noexcept {
        std::uint32_t expected = free;
        if (state_.compare_exchange_strong(expected, held, std::memory_order_acquire)) [[likely]]
            return;
        // Unlocking wakes a thread from here on, because it is unknown whether this was the only one waiting.
        while (state_.exchange(locked_with_waiters, std::memory_order_acquire) != free) wait_while(state_, locked_with_waiters);
    }

    [[nodiscard]] bool try_lock() noexcept {
        std::uint32_t expected = free;
        return state_.compare_exchange_strong(expected, held, std::memory_order_acquire);
    }

    void unlock() noexcept {
        if (state_.exchange(free, std::memory_order_release) == locked_with_waiters) wake_one(state_);
    }

    // Unlocks in a forked child, where the holder may be a thread of the parent.
    void reset_in_child() noexcept { state_.store(free, std::memory_order_relaxed); }

private:
    static constexpr std::uint32_t free = 0, held = 1, locked_with_waiters = 2;
    std::atomic<std::uint32_t> state_{free};
};

}}}    // namespace headroom::detail
