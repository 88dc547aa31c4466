// How ranges begin and end for those who hold many small ones: in a slot of the thread's own where that is enough. (Compiled for
// speed: the rest of a range's life waits for the system.)
#include <algorithm>

#include "range/cache.hpp"
#include "range/range_calls.hpp"
#include "range/registry.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// How many threads have slots. (A forked child counts on from there, though it has one.)
constinit std::atomic<std::size_t> threads_with_slots{0};

void give_up_slots() noexcept {
    slots_of_this_thread.generation = 0;
    threads_with_slots.fetch_sub(1, std::memory_order_relaxed);
}

HEADROOM_COLD void thread_ends(void*) noexcept {
    range* left = take_own_slots();
    if (has_slots(slots_of_this_thread)) give_up_slots();
    slots_of_this_thread.generation = at_its_end;
    while (range* const each = left) {
        left = each->cache.next;
        each->cache.next = nullptr;
        keep_or_end(each, 0);
    }
}

// Whether the thread may use slots; where it may, and has none, it gets some.
bool open_slots() noexcept {
    if (usable_slots() != nullptr) return true;
    if (warm_memory_is_hidden() || pointers_are_followed() || memory_is_reported()) return false;
    // (After this a thread's variables may be touched: they live when it is called.)
    if (!at_end_of_thread(thread_ends)) return false;
    own_slots& mine = slots_of_this_thread;
    // (Other destructors of the thread may still take ranges, even when this one is not called any more.)
    if (mine.generation == at_its_end) return false;
    if (!has_slots(mine)) threads_with_slots.fetch_add(1, std::memory_order_relaxed);
    const std::size_t all = threads_with_slots.load(std::memory_order_relaxed) * mine.kept.size() * small_memory;
    std::uint32_t never = 0;
    slots_generation.compare_exchange_strong(never, 1, std::memory_order_relaxed);
    mine.generation = slots_generation.load(std::memory_order_relaxed);
    // (What a few threads hold is too little to ask for the limit.)
    const std::size_t limit = limit_of_cache(all);
    if (all <= limit / 16 || (limit == limit_unasked && all <= limit_unasked)) return true;
    give_up_slots();
    return false;
}

// The range was served from the list: small ones are wanted again. Says whether its life may end in a slot, unless its owner does
// something out of the way to it.
void prepare_end(range* control) noexcept {
    const commit_policy::kind kind = control->terms.policy.which();
    control->cache.ends_fast = control->terms.held == holding::guarded && kind != commit_policy::kind::page_by_page &&
                               kind != commit_policy::kind::prefault_ahead && control->memory() <= small_memory && open_slots();
}

// Ends what was to be given up since the last call: whoever trimmed the cache could not reach it.
HEADROOM_COLD void empty_closed_slots() noexcept {
    if (usable_slots() == nullptr) end_all(take_own_slots());
}

HEADROOM_COLD held_range acquire_elsewhere(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                                           failure& why, expected_use use) noexcept {
    empty_closed_slots();
    const held_range held = acquire_slow(bytes, exact, floor_bytes, policy, why, use);
    if (held.control != nullptr && held.control->cache.wanted_again != 0) prepare_end(held.control);
    return held;
}

// What release_range_slow() does for a range of whose life nothing is left but a little memory. False where that is not enough.
HEADROOM_ALWAYS_INLINE bool end_in_slot(range* control) noexcept {
    if (!control->cache.ends_fast || control->cache.warm != 0) return false;
    const std::size_t committed = committed_of(control);
    const std::size_t memory = control->memory();
    if ((std::max)({committed, memory, control->extent.accessible}) > small_memory) return false;
    own_slots* const mine = usable_slots();
    if (mine == nullptr) return false;
    for (range*& place : mine->kept) {
        if (place != nullptr) continue;
        control->extent.provided = memory;
        const std::size_t start = (std::min)(control->extent.accessible, warm_start);
        if (committed != start) control->extent.committed.store(start, std::memory_order_release);
        control->identity.state.store(range_state::cached, std::memory_order_release);
        place = control;
        return true;
    }
    return false;
}

}    // namespace

held_range acquire(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy, failure& why,
                   expected_use use) noexcept {
    why = {};
    if (own_slots* const mine = usable_slots()) {
        constexpr std::size_t smallest_page = 4096;
        for (range*& place : mine->kept) {
            range* const each = place;
            // (What was asked for was rounded up to pages.)
            if (each == nullptr || each->size() - bytes >= smallest_page || each->terms.policy != policy) continue;
            place = nullptr;
            make_live(each);
            each->cache.drops_before = drops.load(std::memory_order_relaxed);
            each->cache.since = {};
            return {each, each->start(), committed_of(each), each->size()};
        }
    }
    return acquire_elsewhere(bytes, exact, floor_bytes, policy, why, use);
}

void release_range(range* control, std::size_t used) noexcept {
    if (control == nullptr || (control->terms.home == &this_copy && end_in_slot(control))) return;
    empty_closed_slots();
    release_range_slow(control, used);
}

}}}    // namespace headroom::detail
