// SPDX-License-Identifier: MIT
// The counter that stamps events: the processor's own where reading it is one instruction, the monotonic clock
// elsewhere.
#pragma once

#include <time.h>

#include <cstdint>

namespace headroom::profile {

inline std::uint64_t clock_ns(clockid_t which) {
    timespec time{};
    clock_gettime(which, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000000U + static_cast<std::uint64_t>(time.tv_nsec);
}
inline std::uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
// Processor time of the calling thread, in nanoseconds.
inline std::uint64_t processor_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

inline std::uint64_t ticks() {
#if __has_builtin(__builtin_ia32_rdtsc)
    return __builtin_ia32_rdtsc();
#else
    return monotonic_ns();
#endif
}

}    // namespace headroom::profile
