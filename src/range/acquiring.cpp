// SPDX-License-Identifier: MIT
// Implements detail/range/acquiring.hpp: the fast path through the calling thread's slots, for small ranges. Compiled for speed.
#include <headroom/detail/range/acquiring.hpp>

#include <algorithm>

#include "range/cache.hpp"
#include "range/range.hpp"
#include "range/registry.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constexpr std::uint32_t releases_between_checks = 1024;    // 10 us of them

// Number of threads with slots. A forked child continues from its parent's number.
constinit std::atomic<std::size_t> threads_with_slots{0};

void drop_thread_slots() noexcept {
    this_thread_slots.generation = 0;
    threads_with_slots.fetch_sub(1, std::memory_order_relaxed);
}

// Runs when a thread ends: moves the ranges in its slots to the list.
HEADROOM_COLD void drop_slots_at_exit(void*) noexcept {
    range_chain left = detach_thread_slots();
    if (has_slots(this_thread_slots)) drop_thread_slots();
    this_thread_slots.generation = thread_exited;
    while (range* const each = left.pop()) cache_or_unmap(each, 0);
}

// Gives this thread slots if it has none. False if it may have none: it is ending, the limit is reached, or a checker is present.
bool ensure_thread_slots() noexcept {
    if (usable_slots() != nullptr) return true;
    if (warm_memory_is_protected() || leak_checker_present() || heap_profiler_present()) return false;
    // Thread-local variables may be used after this: they exist while it runs.
    if (!at_thread_end_after_locals(drop_slots_at_exit)) return false;
    thread_range_slots& mine = this_thread_slots;
    // Destructors of the thread may still acquire ranges after this callback has run.
    if (mine.generation == thread_exited) return false;
    if (!has_slots(mine)) threads_with_slots.fetch_add(1, std::memory_order_relaxed);
    const std::size_t all = threads_with_slots.load(std::memory_order_relaxed) * mine.kept.size() * max_slot_bytes;
    std::uint32_t never = 0;
    slots_generation.compare_exchange_strong(never, 1, std::memory_order_relaxed);
    mine.generation = slots_generation.load(std::memory_order_relaxed);
    // A few threads' slots hold too little to read the limit.
    const std::size_t limit = limit_of_cache(all);
    if (all <= limit / 16 || (limit == min_limit && all <= min_limit)) return true;
    drop_thread_slots();
    return false;
}

// Sets fits_thread_slot: true for a guarded range whose policy allows it, if this thread has slots or gets them here.
void update_fits_thread_slot(range* control) noexcept {
    const commit_policy::kind kind = control->policy.which();
    control->cache.set_fits_thread_slot(control->creation.held == holding::guarded && kind != commit_policy::kind::page_by_page &&
                                        kind != commit_policy::kind::prefault_ahead && ensure_thread_slots());
}

// Unmaps this thread's slots if the cache was trimmed since its last call: the trimming thread cannot reach them.
HEADROOM_COLD void release_stale_slots() noexcept {
    if (usable_slots() == nullptr) unmap_all_ranges(detach_thread_slots());
}

// Slow path of acquire_range(): takes a kept range that may serve the request, also from the slots, or makes one.
HEADROOM_COLD held_range acquire_range_slow(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                                            failure& why, std::size_t known_use) noexcept {
    release_stale_slots();
    const held_range held = acquire_slow(bytes, exact, floor_bytes, policy, why, known_use);
    if (held.control != nullptr && held.control->cache.is_reused()) update_fits_thread_slot(held.control);
    return held;
}

// A thread whose ranges all come from its slots calls this now and then, since nothing else would release what it left idle.
HEADROOM_COLD void release_excess_of_slots() noexcept { unmap_all_ranges(release_excess()); }

// Fast path of release_range(): puts a range of which little is committed into this thread's slot, where its committed part stays.
// It stays in the list of live ranges with idle memory if it is there. False: nothing has changed; take the slow path.
HEADROOM_ALWAYS_INLINE bool try_release_to_slot(range* control) noexcept {
    if (!control->cache.fits_thread_slot() || control->extent.committed() > max_slot_bytes) return false;
    thread_range_slots* const mine = usable_slots();
    if (mine == nullptr) return false;
    for (std::size_t i = 0; i != mine->kept.size(); ++i) {
        if (mine->kept[i] != nullptr) continue;
        control->identity.state.store(range_state::cached, std::memory_order_release);
        mine->kept[i] = control;
        mine->listed[i] = mine->in_lists;
        if (++mine->releases % releases_between_checks == 0) release_excess_of_slots();
        return true;
    }
    return false;
}

}    // namespace

held_range acquire_range(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy, failure& why,
                         std::size_t known_use) noexcept {
    why = {};
    if (thread_range_slots* const mine = usable_slots()) {
        constexpr std::size_t smallest_page = 4096;
        range** const place = newest_slot(*mine);
        range* const each = place != nullptr ? *place : nullptr;
        // The size was rounded up to pages. Behind an exact size a guard must follow.
        if (each != nullptr && each->size() - bytes < smallest_page && each->policy == policy &&
            (!exact || each->creation.usable == each->size())) {
            *place = nullptr;
            mark_live(each);
            return {each, each->start(), each->extent.committed(), each->size()};
        }
    }
    return acquire_range_slow(bytes, exact, floor_bytes, policy, why, known_use);
}

void release_range(range* control, std::size_t used) noexcept {
    if (control == nullptr || (control->creation.home == &this_copy && try_release_to_slot(control))) return;
    release_stale_slots();
    release_range_slow(control, used);
}

}}}    // namespace headroom::detail
