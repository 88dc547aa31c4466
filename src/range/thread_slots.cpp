// acquire_range() and release_range(): the fast path through the calling thread's slots, for small ranges. Compiled for speed.
#include <algorithm>

#include "range/cache.hpp"
#include "range/range_calls.hpp"
#include "range/registry.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Number of threads with slots. A forked child continues from its parent's number.
constinit std::atomic<std::size_t> threads_with_slots{0};

void drop_thread_slots() noexcept {
    this_thread_slots.generation = 0;
    threads_with_slots.fetch_sub(1, std::memory_order_relaxed);
}

// Runs when a thread ends: moves the ranges in its slots to the list.
HEADROOM_COLD void drop_slots_at_exit(void*) noexcept {
    range* left = detach_thread_slots();
    if (has_slots(this_thread_slots)) drop_thread_slots();
    this_thread_slots.generation = thread_exited;
    while (range* const each = left) {
        left = each->cache.next;
        each->cache.next = nullptr;
        cache_or_unmap(each, 0);
    }
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
    const std::size_t all = threads_with_slots.load(std::memory_order_relaxed) * mine.kept.size() * max_slot_memory;
    std::uint32_t never = 0;
    slots_generation.compare_exchange_strong(never, 1, std::memory_order_relaxed);
    mine.generation = slots_generation.load(std::memory_order_relaxed);
    // A few threads' slots hold too little to read the limit.
    const std::size_t limit = limit_of_cache(all);
    if (all <= limit / 16 || (limit == min_limit && all <= min_limit)) return true;
    drop_thread_slots();
    return false;
}

// Sets fits_thread_slot: true for a small guarded range whose policy allows it, if this thread has slots or gets them here.
void update_fits_thread_slot(range* control) noexcept {
    const commit_policy::kind kind = control->creation.policy.which();
    control->cache.fits_thread_slot = control->creation.held == holding::guarded && kind != commit_policy::kind::page_by_page &&
                                      kind != commit_policy::kind::prefault_ahead && control->memory() <= max_slot_memory &&
                                      ensure_thread_slots();
}

// Unmaps this thread's slots if the cache was trimmed since its last call: the trimming thread cannot reach them.
HEADROOM_COLD void release_stale_slots() noexcept {
    if (usable_slots() == nullptr) unmap_all_ranges(detach_thread_slots());
}

// Slow path of acquire_range(): takes a range from the list, or a new one.
HEADROOM_COLD held_range acquire_from_list(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                                           failure& why, const expected_use& use) noexcept {
    release_stale_slots();
    const held_range held = acquire_slow(bytes, exact, floor_bytes, policy, why, use);
    if (held.control != nullptr && held.control->cache.reused_bytes != 0) update_fits_thread_slot(held.control);
    return held;
}

// Fast path of release_range(): puts a small range into this thread's slot. False: take the slow path.
HEADROOM_ALWAYS_INLINE bool try_release_to_slot(range* control) noexcept {
    if (!control->cache.fits_thread_slot || control->cache.warm != 0) return false;
    const std::size_t committed = committed_of(control);
    const std::size_t memory = control->memory();
    if ((std::max)({committed, memory, control->extent.accessible}) > max_slot_memory) return false;
    thread_range_slots* const mine = usable_slots();
    if (mine == nullptr) return false;
    for (range*& place : mine->kept) {
        if (place != nullptr) continue;
        control->extent.populated = memory;
        const std::size_t start = (std::min)(control->extent.accessible, initial_warm_commit);
        if (committed != start) control->extent.committed.store(start, std::memory_order_release);
        control->identity.state.store(range_state::cached, std::memory_order_release);
        place = control;
        return true;
    }
    return false;
}

}    // namespace

held_range acquire_range(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy, failure& why,
                         const expected_use& use) noexcept {
    why = {};
    if (thread_range_slots* const mine = usable_slots()) {
        constexpr std::size_t smallest_page = 4096;
        for (range*& place : mine->kept) {
            range* const each = place;
            // The size was rounded up to pages.
            if (each == nullptr || each->size() - bytes >= smallest_page || each->creation.policy != policy) continue;
            place = nullptr;
            mark_live(each);
            each->cache.drops_at_start = drop_count.load(std::memory_order_relaxed);
            each->cache.since = {};
            return {each, each->start(), committed_of(each), each->size()};
        }
    }
    return acquire_from_list(bytes, exact, floor_bytes, policy, why, use);
}

void release_range(range* control, std::size_t used) noexcept {
    if (control == nullptr || (control->creation.home == &this_copy && try_release_to_slot(control))) return;
    release_stale_slots();
    release_range_slow(control, used);
}

}}}    // namespace headroom::detail
