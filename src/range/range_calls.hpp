// What the cache and the resting places of hardened ranges need of ranges, and what the calls that commit share with those
// that make and end ranges.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>

#include "range/quarantine.hpp"
#include "range/range.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// How much of a warm range its next owner gets at once: what the default policy may leave unused.
inline constexpr std::size_t warm_start = std::size_t{64} << 10;

// What acquire() and relinquish() do where a slot of the thread's own does not.
[[nodiscard]] held_range acquire_slowly(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                                        failure& why) noexcept;
void relinquish_slowly(range* control, std::size_t used) noexcept;

// Gives address space and memory back to the system and frees the control block. The range must not be live.
void destroy(range* control) noexcept;
// The same for each in a chain by `next`, which may be empty.
void destroy_all(range* chain) noexcept;

// Rounded up to pages.
[[nodiscard]] std::size_t whole_pages(std::size_t bytes) noexcept;

// Gives the memory past `kept` bytes, rounded down to pages, back to the system.
void cut_memory(range* control, std::size_t kept) noexcept;

// Writes past either end of an open range must travel at least this far to do harm.
inline constexpr std::size_t open_guard = std::size_t{64} << 10;

// The layout of a mapping: a granule of guard, the range, and guard up to the next granule. Whole granules, so that
// mappings made one after another stay aligned and one system call each is enough.
[[nodiscard]] inline std::size_t span_of(std::size_t reserved) noexcept {
    return granule + round_up(reserved + open_guard, granule);
}

using reserving = page_range(std::size_t bytes, std::size_t alignment, std::error_code& error) noexcept;
// A fresh range, live; null and `error` when refused.
[[nodiscard]] range* make_range(std::size_t reserved, const commit_policy& policy, std::error_code& error,
                                reserving* reserve_guarded) noexcept;

// A live range of `bytes`, rounded up to pages, with nothing committed, for somebody who shows a file there; never one that was
// kept warm. Null and `error` when refused.
[[nodiscard]] range* acquire_bare(std::size_t bytes, reserving* how, std::error_code& error) noexcept;
// Gives it back. Precondition: it is as reserve_for_file() made it again.
void relinquish_bare(range* control) noexcept;

// Makes the range accessible as far as `to`; not at all, where the system refuses a part of it.
[[nodiscard]] inline std::error_code make_accessible(range* control, std::size_t to) noexcept {
    if (to <= control->accessible) return {};
    const page_range more = control->part(control->accessible, to);
    const std::error_code error = commit(more);
    if (error) {
        // Where it is of several mappings (huge pages are asked for in a part of it, say) the first may have been made accessible:
        // it would count as memory in use, and stray writes to it would not fault.
        (void)protect(more, access::none);
    } else {
        control->accessible = to;
    }
    return error;
}

// Asks for huge pages where the policy wants them, the first time.
void advise_huge_once(range* control) noexcept;

// Address space, mappings and memory that nobody uses.
void give_back_unused() noexcept;

// Which tools look at what we do; asked once, for each life of a range must know.
struct tools {
    bool look_for_strays;    // what is nobody's must be inaccessible
    bool follow_pointers;    // what is in use must be told
    bool count_memory;       // and how much of it
};
[[nodiscard]] inline tools tools_at_work() noexcept {
    static constinit std::atomic<unsigned> known{0};    // bits as above, and 8 once asked
    unsigned bits = known.load(std::memory_order_relaxed);
    if (bits == 0) [[unlikely]] {
        bits = 8U | (readable_means_in_use() || strays_are_looked_for() ? 1U : 0U) | (pointers_are_followed() ? 2U : 0U) |
               (memory_is_reported() ? 4U : 0U);
        known.store(bits, std::memory_order_relaxed);
    }
    return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
}

// Whether memory that is kept warm is inaccessible until its next owner commits it. Where not, it stays as it is, and the next
// owner gets it without a system call.
[[nodiscard]] inline bool warm_memory_is_hidden() noexcept { return hardened() || tools_at_work().look_for_strays; }

[[nodiscard]] inline std::size_t committed_of(const range* control) noexcept {
    return control->committed.load(std::memory_order_relaxed);
}
// Of an open range nobody knows how much was touched.
inline void report(const range* control, std::size_t bytes) noexcept {
    if (control->held != holding::open && tools_at_work().count_memory) report_memory(control->start(), bytes);
}
// Looking through a range that is readable throughout would take too long.
inline void tell_of_pointers(const range* control, bool wanted) noexcept {
    if (control->held != holding::open && tools_at_work().follow_pointers)
        look_for_pointers(control->part(0, control->size()), wanted);
}
inline void set_committed(range* control, std::size_t bytes) noexcept {
    control->committed.store(bytes, std::memory_order_release);
    report(control, bytes);
}

// What an earlier owner left in [from, to), just made accessible, is not for the next one to see.
inline void clear_stale(range* control, std::size_t from, std::size_t to) noexcept {
    to = std::min(to, control->stale);
    if (from < to && hardened()) std::memset(control->start() + from, 0, to - from);
}

[[nodiscard]] inline failure failure_of(const std::error_code& error) noexcept { return {error.value(), &error.category()}; }

}}}    // namespace headroom::detail
