// The life of a range: how it is made, handed out warm, given back and taken apart.
#include "range/range.hpp"

#include <algorithm>
#include <atomic>

#include "range/cache.hpp"
#include "range/quarantine.hpp"
#include "range/range_calls.hpp"
#include "range/registry.hpp"
#include "range/statistics.hpp"
#include "system/platform.hpp"
#include "system/waiting.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

#if defined(HEADROOM_HARDENED)
constinit std::atomic<const hardening*> hardening_in_force{&quarantining};
#else
constinit std::atomic<const hardening*> hardening_in_force{nullptr};
#endif

namespace {

// Whether the end of a life may need no more than end_quickly() does, unless the owner does something out of the way.
bool ends_quickly(const range* control) noexcept {
    const commit_policy::kind kind = control->policy.which();
    return control->held == holding::guarded && kind != commit_policy::kind::page_by_page &&
           kind != commit_policy::kind::prefault_ahead;
}

// How many bytes before its granule a range starts. Processors look an address's translation up in a small table, in one of
// few places that the lowest bits of its page number choose: of many vectors that grow together, all the last pages would share
// one place if all ranges started alike. The first few start at their granule, for a few such pages fit into a place. (Before it
// and not behind, so that huge pages come no more than that later than the policy says. Not where a policy is about huge pages.)
std::size_t next_early_start(const commit_policy& policy) noexcept {
    constexpr std::size_t alike = 8;
    constexpr std::size_t longest = std::size_t{512} << 10;
    static_assert(longest + open_guard <= granule);
    static constinit std::atomic<std::size_t> made{0};
    const commit_policy::kind kind = policy.which();
    if (kind == commit_policy::kind::huge_pages || kind == commit_policy::kind::prefault_ahead) return 0;
    const std::size_t page = page_size();
    return made.fetch_add(1, std::memory_order_relaxed) / alike % (std::max)(longest / page, std::size_t{1}) * page;
}

page_range reserve_for_memory(std::size_t bytes, std::size_t alignment, std::error_code& error) noexcept {
    return reserve(bytes, alignment, error);
}

}    // namespace

range* make_range(std::size_t reserved, const commit_policy& policy, std::error_code& error,
                  reserving* reserve_guarded) noexcept {
    range* const control = new_control_block();
    if (control == nullptr) {
        error = std::make_error_code(std::errc::not_enough_memory);
        return nullptr;
    }
    holding held = policy.how_held();
    control->close_open = nullptr;
    if (held == holding::open && !policy_calls::map_open(policy)(control, reserved)) held = holding::guarded;
    if (held == holding::guarded) {
        control->mapping = reserve_guarded(span_of(reserved), granule, error);
        if (error) {
            free_control_block(control);
            return nullptr;
        }
    }
    const page_range mapping = control->mapping;
    // (An open range has its guards close to it.)
    const bool may_start_early = held == holding::guarded && reserve_guarded == reserve_for_memory;
    const std::size_t early = may_start_early ? next_early_start(policy) : 0;
    rewriting(control).place(mapping.data + granule - early, reserved);    // (the label was cleared when its last life ended)
    control->policy = policy;
    control->held = held;
    control->allowed = access::read_write;
    control->limited = 0;
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

namespace {

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

// Prepares a guarded range for the cache: its memory stays, hidden or ready for the next owner.
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
    if (const hardening* const hard = hardening_in_force.load(std::memory_order_acquire)) hard->empty();
    retry_releases();
}

held_range acquire_slowly(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                          failure& why) noexcept {
    std::error_code error;
    constexpr std::size_t most = SIZE_MAX / 4;
    if (bytes > most) {
        if (exact || floor_bytes > most) {
            why = failure_of(std::make_error_code(std::errc::not_enough_memory));
            return {};
        }
        bytes = most;
    }
    bytes = whole_pages(std::max<std::size_t>(bytes, 1));
    range* control = take_from_cache(bytes, policy);
    if (control == nullptr) {
        count_cache_miss();
        floor_bytes = std::min(bytes, whole_pages(std::max<std::size_t>(floor_bytes, 1)));
        control = make_range(bytes, policy, error, reserve_for_memory);
        if (control == nullptr) {
            // What is kept warm may be what stands in the way: address space, mappings or memory.
            give_back_unused();
            control = make_range(bytes, policy, error, reserve_for_memory);
        }
        while (control == nullptr && !exact && bytes > floor_bytes) {
            bytes = std::max(floor_bytes, whole_pages(bytes / 2));
            control = make_range(bytes, policy, error, reserve_for_memory);
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

void relinquish_slowly(range* control, std::size_t used) noexcept {
    tell_of_pointers(control, false);
    if (control->end_help != nullptr) control->end_help(control);
    bool keep = control->change_back == nullptr || control->change_back(control);
    control->quick = ends_quickly(control);
    const bool hidden = warm_memory_is_hidden();
    keep = keep && (control->close_open != nullptr ? control->close_open(control, used) : close_guarded_range(control, hidden));
    report(control, 0);    // what is kept warm is nobody's
    if (keep && give_to_cache(control, !hidden)) return;
    destroy(control);
}

void destroy(range* control) noexcept {
    control->state.store(range_state::unused, std::memory_order_release);
    count_warm_in_use(control, SIZE_MAX);
    leave_granules(control);
    if (const hardening* const hard = hardening_in_force.load(std::memory_order_acquire)) {
        hard->quarantine(control->mapping);
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
