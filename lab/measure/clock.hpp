// SPDX-License-Identifier: MIT
// Two clocks: one for loops, one for single calls.
//
// `stopwatch` is the system's monotonic clock: about 25 ns a reading, right for anything that takes microseconds.
// `ticks` is the processor's own counter: about 10 ns a reading, for single calls of tens of nanoseconds. Its readings
// are fenced so that the timed instructions stay between them, and what two readings in a row cost is measured
// (`tick_scale`): experiments subtract it and state it beside their figures.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#if __has_include(<x86intrin.h>)
#include <x86intrin.h>
#endif

namespace headroom::lab {

using stopwatch = std::chrono::steady_clock;

// Seconds between two readings.
[[nodiscard]] inline double seconds_between(stopwatch::time_point from, stopwatch::time_point to) noexcept {
    return std::chrono::duration<double>(to - from).count();
}

#if __has_include(<x86intrin.h>)
// The counter before the timed call: waits until what came earlier is done.
[[nodiscard, gnu::always_inline]] inline std::uint64_t ticks_begin() noexcept {
    _mm_lfence();
    return __rdtsc();
}

// The counter after the timed call: waits until the timed call is done.
[[nodiscard, gnu::always_inline]] inline std::uint64_t ticks_end() noexcept {
    unsigned processor = 0;
    return __rdtscp(&processor);
}
#else
// Where there is no counter that a program may read, the monotonic clock stands in; its cost is stated just the same.
[[nodiscard]] inline std::uint64_t ticks_begin() noexcept {
    return static_cast<std::uint64_t>(stopwatch::now().time_since_epoch().count());
}
[[nodiscard]] inline std::uint64_t ticks_end() noexcept { return ticks_begin(); }
#endif

// How long a tick is, and what reading the counter costs. Made before the timed part. All of it is inline, so that the
// counter's own cost is measured at the optimisation level of the code that is timed.
class tick_scale {
public:
    tick_scale() : started_(stopwatch::now()), started_ticks_(ticks_begin()) {
        std::array<std::uint64_t, 1001> costs{};
        for (std::uint64_t& cost : costs) {
            const std::uint64_t begin = ticks_begin();
            const std::uint64_t end = ticks_end();
            cost = end - begin;
        }
        std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
        own_cost_ = costs[costs.size() / 2];
    }

    // Seconds. Compares the counter with the monotonic clock over all that passed since construction; waits until that
    // is at least 10 ms, so that the comparison is good to 0.01%.
    [[nodiscard]] double seconds_per_tick() const {
        stopwatch::time_point now = stopwatch::now();
        while (now - started_ < std::chrono::milliseconds(10)) now = stopwatch::now();
        const std::uint64_t ticks = ticks_end() - started_ticks_;
        return seconds_between(started_, now) / static_cast<double>(ticks);
    }

    // Ticks that a begin/end pair around nothing shows: the median of 1001 pairs.
    [[nodiscard]] std::uint64_t own_cost() const noexcept { return own_cost_; }

private:
    stopwatch::time_point started_;
    std::uint64_t started_ticks_;
    std::uint64_t own_cost_ = 0;
};

}    // namespace headroom::lab
