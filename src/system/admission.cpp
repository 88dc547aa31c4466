// SPDX-License-Identifier: MIT
// set_min_available_memory(): refuses memory before little is left. Implements admission.hpp.
#include "system/admission.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <utility>

#include <headroom/reservation.hpp>

#include "system/at_fork.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 {
namespace detail { namespace {

using admission_clock = std::chrono::steady_clock;

constexpr std::int64_t ticks(admission_clock::duration of) noexcept { return of.count(); }

// A reading takes some 50 us. It is repeated when it is old, because other programs take memory too, and after a fraction of what was left.
constexpr std::int64_t max_reading_age = ticks(std::chrono::milliseconds(10));
constexpr std::size_t allowance_fraction = 16;
// Admitted memory that is not written by then will hardly be written soon.
constexpr std::int64_t max_unwritten_age = ticks(std::chrono::seconds(2));

// The last reading, and what was admitted. One thread reads at a time; the others wait for it.
constinit constant_mutex reading_mutex;
constinit std::size_t min_available = 0;
constinit std::int64_t last_read = 0;
constinit std::size_t left = 0;                 // above the minimum at the last reading, without what was in flight then
constinit std::size_t admitted = 0;             // since then, and not settled
constinit std::size_t unsettled = 0;            // admitted since then for heap blocks, which are not settled
constinit std::size_t earlier_unsettled = 0;    // the same, between the two last readings
constinit std::size_t in_flight = 0;            // admitted before the last reading, and not settled
constinit std::size_t long_in_flight = 0;       // the same, for longer than max_unwritten_age
constinit std::int64_t in_flight_since = 0;

// Takes up to `by` from the count, and as much from `by`.
void reduce(std::size_t& count, std::size_t& by) noexcept {
    const std::size_t less = std::min(count, by);
    count -= less;
    by -= less;
}

// Reads what is available. Requires reading_mutex.
void read_available(std::int64_t now) noexcept {
    // The bytes in `admitted` and `unsettled` are at most max_reading_age younger than the last reading.
    const bool long_ago = now - last_read >= max_unwritten_age;
    const std::size_t recent = std::exchange(admitted, 0);
    earlier_unsettled = long_ago ? 0 : std::exchange(unsettled, 0);
    unsettled = 0;
    if (now - in_flight_since >= max_unwritten_age) {
        const bool one_period = now - in_flight_since < 2 * max_unwritten_age;
        long_in_flight = one_period ? in_flight : 0;
        in_flight = 0;
        in_flight_since = now;
        admission_period.fetch_add(one_period ? 1 : 2, std::memory_order_relaxed);
    }
    if (!long_ago) in_flight += recent;
    const std::size_t taken = min_available + in_flight + long_in_flight + earlier_unsettled;
    const std::size_t available = available_memory();
    left = available > taken ? available - taken : 0;
    last_read = now;
}

bool admit_bytes(std::size_t more, bool is_settled) noexcept {
    const std::lock_guard pause(reading_mutex);
    const std::int64_t now = admission_clock::now().time_since_epoch().count();
    if (now - last_read >= max_reading_age || admitted + unsettled + more > left / allowance_fraction) read_available(now);
    if (more > left) return false;
    (is_settled ? admitted : unsettled) += more;
    return true;
}

// Counts `bytes` no longer, those admitted first before others.
void settle_bytes(std::size_t bytes) noexcept {
    const std::lock_guard pause(reading_mutex);
    reduce(long_in_flight, bytes);
    reduce(in_flight, bytes);
    reduce(admitted, bytes);
}

constexpr memory_guard available_memory_guard{admit_bytes, settle_bytes};

void admission_at_fork(fork_moment now) noexcept {
    if (now == fork_moment::before) return reading_mutex.lock();
    reading_mutex.unlock();
}

[[maybe_unused]] const bool admission_forks = at_fork(fork_place::admission, admission_at_fork);

}    // namespace
}    // namespace detail

bool set_min_available_memory(std::size_t bytes) noexcept {
    using namespace detail;
    {
        const std::lock_guard pause(reading_mutex);
        min_available = bytes;
        left = 0;    // the next request reads
        if (guard_of_memory.load(std::memory_order_relaxed) == nullptr)
            admitted = unsettled = earlier_unsettled = in_flight = long_in_flight = 0;
    }
    min_available_was_set.store(true, std::memory_order_relaxed);
    guard_of_memory.store(bytes != 0 ? &available_memory_guard : nullptr, std::memory_order_release);
    return available_memory() != SIZE_MAX && memory_limits_are_visible();
}

}}    // namespace headroom
