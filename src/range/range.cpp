// The life of a range: how it is made, handed out warm, given back and taken apart.
#include "range/range.hpp"

#include <algorithm>

#include "range/cache.hpp"
#include "range/own_slots.hpp"
#include "range/prefaulter.hpp"
#include "range/quarantine.hpp"
#include "range/range_calls.hpp"
#include "range/registry.hpp"
#include "range/statistics.hpp"
#include "system/platform.hpp"
#include "system/waiting.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// How much of a warm range its next owner gets at once: what the default policy may leave unused.
constexpr std::size_t warm_start = std::size_t{64} << 10;

// Writes past either end of an open range must travel at least this far to do harm.
constexpr std::size_t open_guard = std::size_t{64} << 10;

// The layout of a mapping: a granule of guard, the range, and guard up to the next granule. Whole granules, so that
// mappings made one after another stay aligned and one system call each is enough.
std::size_t span_of(std::size_t reserved) noexcept { return granule + round_up(reserved + open_guard, granule); }

// A mapping that is readable and writable but for a guard at either end. Not where whatever is mapped is locked into memory:
// there it would all be resident at once.
page_range map_open(std::size_t reserved, std::error_code& error) noexcept {
    if (mappings_are_locked()) {
        error = std::make_error_code(std::errc::not_enough_memory);
        return {};
    }
    const page_range mapping = reserve(span_of(reserved), granule, error, access::read_write);
    if (error) return {};
    std::byte* const base = mapping.data + granule;
    error = guard({base - open_guard, open_guard});
    if (!error) error = guard({base + reserved, open_guard});
    if (!error) return mapping;
    release_surely(mapping);
    return {};
}

// Whether the end of a life may need no more than end_quickly() does, unless the owner does something out of the way.
bool ends_quickly(const range* control) noexcept {
    const commit_policy::kind kind = control->policy.which();
    return control->held == holding::guarded && kind != commit_policy::kind::page_by_page &&
           kind != commit_policy::kind::prefault_ahead;
}

page_range reserve_for_memory(std::size_t bytes, std::size_t alignment, std::error_code& error) noexcept {
    return reserve(bytes, alignment, error);
}

// A fresh range, live; null and `error` when refused.
range* make_range(std::size_t reserved, const commit_policy& policy, std::error_code& error,
                  reserving* reserve_guarded = reserve_for_memory) noexcept {
    range* const control = new_control_block();
    if (control == nullptr) {
        error = std::make_error_code(std::errc::not_enough_memory);
        return nullptr;
    }
    holding held = policy.how_held();
    page_range mapping{};
    if (held == holding::open) {
        mapping = map_open(reserved, error);
        if (error) held = holding::guarded;
    }
    if (held == holding::guarded) mapping = reserve_guarded(span_of(reserved), granule, error);
    if (error) {
        free_control_block(control);
        return nullptr;
    }
    {
        rewriting words(control);
        words.place(mapping.data + granule, reserved);
        words.label(nullptr);
    }
    control->mapping = mapping;
    control->policy = policy;
    control->held = held;
    control->allowed = access::read_write;
    control->huge_advised = false;
    control->named = false;
    control->quick = ends_quickly(control);
    control->default_size = held == holding::guarded && policy == commit_policy{} ? reserved : 0;
    control->accessible = held == holding::open ? reserved : 0;
    control->provided = 0;
    control->warm = 0;
    control->cut = false;
    control->offered = false;
    control->set_memory(0);
    control->helped = 0;
    control->handed = 0;
    control->appended = 0;
    control->stale = 0;
    control->ready.store(0);
    control->wanted.store(0);
    set_committed(control, control->accessible);
    if (!enter_granules(control)) {
        release_surely(mapping);
        free_control_block(control);
        error = std::make_error_code(std::errc::not_enough_memory);
        return nullptr;
    }
    control->state.store(range_state::live, std::memory_order_release);
    return control;
}

// Of a range whose owner committed more than was provided (reserve() provides nothing), only the system knows how much has
// memory behind it. What was left almost empty is emptied: it would count as kept, and as little.
void find_memory(range* control, std::size_t committed) noexcept {
    const std::size_t known = std::min(control->provided, committed);
    if (committed - known <= warm_start) return;
    const residency found = resident(control->part(known, committed));
    const std::size_t kept = found.bytes >= found.reach / 2 ? known + found.reach : known;
    // What is not resident is emptied as well: it may have been, and be swapped out.
    if (kept < committed && discard(control->part(kept, committed))) return;
    control->set_memory(std::max(kept, control->provided));
}

// Prepares an open range for the cache. How far it was touched only its user knows; the rest is emptied, which costs next to
// nothing where nothing was touched. (It stays readable, and that is not always wanted.)
bool close_open_range(range* control, std::size_t used) noexcept {
    control->set_memory(std::min(control->size(), round_up(used, page_size())));
    control->stale = control->memory();
    if (hardened() || readable_means_in_use()) return false;
    return control->memory() == control->size() || !discard(control->part(control->memory(), control->size()));
}

// The same for a guarded one: its memory stays, hidden or ready for the next owner.
bool close_guarded_range(range* control, bool hidden) noexcept {
    const std::size_t committed = committed_of(control);
    find_memory(control, committed);
    control->stale = std::max(control->memory(), committed);
    if (hidden && control->accessible > 0) {
        if (protect(control->part(0, control->accessible), access::none)) return false;
        control->accessible = 0;
    }
    control->provided = control->memory();
    if (committed > offered_from) control->offered = false;
    const bool start = control->policy.which() != commit_policy::kind::page_by_page;
    control->committed.store(start ? std::min(control->accessible, warm_start) : 0, std::memory_order_release);
    return true;
}

}    // namespace

void give_back_unused() noexcept {
    trim_cache();
    empty_quarantine();
    retry_releases();
}

namespace {

held_range acquire_slowly(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                          failure& why) noexcept {
    std::error_code error;
    const std::size_t page = page_size();
    constexpr std::size_t most = SIZE_MAX / 4;
    if (bytes > most) {
        if (exact || floor_bytes > most) {
            why = failure_of(std::make_error_code(std::errc::not_enough_memory));
            return {};
        }
        bytes = most;
    }
    bytes = round_up(std::max<std::size_t>(bytes, 1), page);
    range* control = take_from_cache(bytes, policy);
    if (control == nullptr) {
        count_cache_miss();
        floor_bytes = std::min(bytes, round_up(std::max<std::size_t>(floor_bytes, 1), page));
        control = make_range(bytes, policy, error);
        if (control == nullptr) {
            // What is kept warm may be what stands in the way: address space, mappings or memory.
            give_back_unused();
            control = make_range(bytes, policy, error);
        }
        while (control == nullptr && !exact && bytes > floor_bytes) {
            bytes = std::max(floor_bytes, round_up(bytes / 2, page));
            control = make_range(bytes, policy, error);
        }
        if (control == nullptr) {
            why = failure_of(error);
            return {};
        }
    }
    const std::size_t committed = committed_of(control);
    clear_stale(control, 0, committed);    // given back before anybody asked for more
    count_warm_in_use(control, committed);
    tell_of_pointers(control, true);
    report(control, committed);
    return {control, control->start(), committed, control->size()};
}

// What relinquish_slowly() does for a range of whose life nothing is left but a little memory: what is said of it in the
// control block, and a slot of the thread's own. False where that is not enough.
HEADROOM_ALWAYS_INLINE bool end_quickly(range* control) noexcept {
    const std::size_t committed = committed_of(control);
    const std::size_t memory = control->memory();
    if (!control->quick || control->warm != 0 || (std::max)(committed, memory) > small_memory) return false;
    // (Whether it is kept is seen last, and what was written before is right either way.)
    control->stale = (std::max)(memory, committed);
    control->provided = memory;
    const std::size_t start = (std::min)(control->accessible, warm_start);
    if (committed != start) control->committed.store(start, std::memory_order_release);
    return keep_own(control);
}

void relinquish_slowly(range* control, std::size_t used) noexcept {
    tell_of_pointers(control, false);
    if (control->policy.which() == commit_policy::kind::prefault_ahead) {
        stop_asking(control);
        control->set_memory(std::max(control->memory(), control->helped));
        control->provided = std::max(control->provided, control->ready.load(std::memory_order_relaxed));
        control->helped = control->handed = 0;
        control->ready.store(0, std::memory_order_relaxed);
    }
    bool keep = true;
    if (control->allowed != access::read_write) {
        const std::size_t committed = committed_of(control);
        keep = committed == 0 || !protect(control->part(0, committed), access::read_write);
        control->allowed = access::read_write;
    }
    if (control->named) name(control, nullptr);
    control->quick = ends_quickly(control);
    const bool hidden = warm_memory_is_hidden();
    keep = keep && (control->held == holding::open ? close_open_range(control, used) : close_guarded_range(control, hidden));
    report(control, 0);    // what is kept warm is nobody's
    if (keep && give_to_cache(control, !hidden)) return;
    destroy(control);
}

}    // namespace

held_range acquire(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy, failure& why) noexcept {
    why = {};
    constexpr std::size_t smallest_page = 4096;
    range* const mine = take_own([bytes, &policy](const range* each) noexcept {
        return each->size() - bytes < smallest_page && each->policy == policy;    // rounded up to pages
    });
    if (mine != nullptr) return {mine, mine->start(), committed_of(mine), mine->size()};
    return acquire_slowly(bytes, exact, floor_bytes, policy, why);
}

held_range take_warm(std::size_t bytes) noexcept {
    range* const mine = take_own([bytes](const range* each) noexcept { return each->default_size == bytes; });
    return mine == nullptr ? held_range{} : held_range{mine, mine->start(), committed_of(mine), bytes};
}

void relinquish(range* control, std::size_t used) noexcept {
    if (control == nullptr || end_quickly(control)) return;
    relinquish_slowly(control, used);
}

range* acquire_bare(std::size_t bytes, reserving* how, std::error_code& error) noexcept {
    bytes = round_up(bytes, page_size());
    range* control = make_range(bytes, page_by_page(), error, how);
    if (control == nullptr) {
        give_back_unused();
        control = make_range(bytes, page_by_page(), error, how);
    }
    return control;
}

void relinquish_bare(range* control) noexcept { destroy(control); }

void destroy(range* control) noexcept {
    control->state.store(range_state::unused, std::memory_order_release);
    count_warm_in_use(control, SIZE_MAX);
    leave_granules(control);
    if (hardened()) {
        quarantine(control->mapping);
    } else {
        release_surely(control->mapping);
    }
    control->mapping = {};
    free_control_block(control);
}

void destroy_all(range* chain) noexcept {
    while (chain != nullptr) {
        range* const following = chain->next;
        chain->next = nullptr;
        destroy(chain);
        chain = following;
    }
}

}}}    // namespace headroom::detail
