// Making, acquiring, releasing and unmapping ranges.
#include "range/range.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "range/cache.hpp"
#include "range/counters.hpp"
#include "range/quarantine.hpp"
#include "range/range_calls.hpp"
#include "range/registry.hpp"
#include "system/at_fork.hpp"
#include "system/platform.hpp"
#include "system/unmap_queue.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Returns the offset of the next start before a 2 MiB boundary. Staggered, so that the last pages of many vectors that grow together fall
// into different sets of the processor's table of translations (TLB), which are chosen by the lowest bits of the page number. The first
// eight start at the boundary: so few pages fit into one set. Before the boundary, so that huge pages begin at most that much later than
// the policy says. 0 for policies of huge pages.
std::size_t next_start_stagger(const commit_policy& policy) noexcept {
    constexpr std::size_t alike = 8;
    static constinit std::atomic<std::size_t> made{0};
    const commit_policy::kind kind = policy.which();
    if (kind == commit_policy::kind::huge_pages || kind == commit_policy::kind::prefault_ahead) return 0;
    return made.fetch_add(1, std::memory_order_relaxed) / alike * page_size() % max_start_stagger;
}

// Makes a new live range. If refused, sets `error` and returns null.
range* make_range(std::size_t reserved, const commit_policy& policy, std::error_code& error,
                  reserve_function* for_file) noexcept {
    range* const control = new_control_block();
    if (control == nullptr) {
        error = out_of_memory();
        return nullptr;
    }
    control->creation.policy = policy;
    control->creation.held = policy.how_held();
    if (control->creation.held == holding::open && !policy_calls::mapping(policy)(control, reserved))
        control->creation.held = holding::guarded;
    const bool open = control->creation.held == holding::open;
    if (!open) {
        control->creation.mapping = for_file != nullptr ? for_file(mapping_bytes_for(reserved), page_size(), error)
                                                        : reserve(mapping_bytes_for(reserved), page_size(), error);
        if (error) {
            free_control_block(control);
            return nullptr;
        }
    }
    // Not for a premapped range, whose guards are adjacent.
    const std::size_t early = open || for_file != nullptr ? 0 : next_start_stagger(policy);
    identity_writer(control).set_base_and_size(aligned_start_of(control->creation.mapping) - early, reserved);
    control->extent.accessible = open ? reserved : 0;
    control->extent.populated = 0;
    control->set_memory(0);
    control->protection = {};
    control->cache.reused_bytes = 0;
    control->cache.fits_thread_slot = false;
    set_committed(control, control->extent.accessible);
    enter_addresses(control);
    control->identity.state.store(range_state::live, std::memory_order_release);
    return control;
}

// Bytes worth caching after release. If more was committed than populated, as by reserve(), asks the kernel what is resident. `used`:
// bytes in use of a premapped range.
std::size_t bytes_worth_caching(const range* control, std::size_t used) noexcept {
    if (control->creation.held == holding::open) return std::min(control->size(), whole_pages(used));
    const std::size_t committed = committed_of(control);
    const std::size_t populated = control->extent.populated;
    const std::size_t known = std::min(populated, committed);
    // Memory past both is left only where the system refused to release it, perhaps after emptying the pages.
    std::size_t worth = std::min(control->memory(), std::max(populated, committed));
    if (committed - known > initial_warm_commit) {
        const residency found = resident(control->part(known, committed));
        // A range that is almost empty would count as kept.
        worth = std::max(found.bytes >= found.reach / 2 ? known + found.reach : known, populated);
    }
    // More than twice what this owner used came from an earlier one. A similar next owner does not need it.
    return std::min(worth, 2 * committed);
}

// Unmaps a range without an owner, and frees its control block.
void unmap_range_of(range* control) noexcept {
    control->identity.state.store(range_state::unused, std::memory_order_release);
    update_warm_unused(control, SIZE_MAX);
    remove_from_in_use(control);
    remove_addresses(control);
    quarantine_or_release(control->creation.mapping);
    control->creation.mapping = {};
    free_control_block(control);
}

}    // namespace

void unmap_all_ranges(range* chain) noexcept {
    while (chain != nullptr) {
        range* const following = chain->cache.next;
        chain->cache.next = nullptr;
        unmap_range_of(chain);
        chain = following;
    }
}

void release_unused() noexcept {
    unmap_all_ranges(take_kept_ranges());
    empty_quarantine();
    retry_unmaps();
}

range* make_range_with_retry(std::size_t reserved, const commit_policy& policy, std::error_code& error,
                             reserve_function* for_file) noexcept {
    range* const control = make_range(reserved, policy, error, for_file);
    if (control != nullptr) return control;
    release_unused();
    return make_range(reserved, policy, error, for_file);
}

held_range acquire_slow(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy, failure& why,
                        expected_use use) noexcept {
    std::error_code error;
    constexpr std::size_t most = SIZE_MAX / 4;
    if (std::min(bytes, exact ? bytes : floor_bytes) > most) {
        why = failure_of(out_of_memory());
        return {};
    }
    bytes = whole_pages(std::clamp<std::size_t>(bytes, 1, most));
    std::size_t kept = SIZE_MAX;
    range* control = pop_from_list(bytes, policy, use, kept);
    if (control != nullptr) {
        release_memory_after(control, kept);
        update_warm_unused(control, 0);
    } else {
        counts.cache_misses.fetch_add(1, std::memory_order_relaxed);
        floor_bytes = std::min(bytes, whole_pages(std::max<std::size_t>(floor_bytes, 1)));
        control = make_range_with_retry(bytes, policy, error);
        while (control == nullptr && !exact && bytes > floor_bytes) {
            bytes = std::max(floor_bytes, whole_pages(bytes / 2));
            control = make_range(bytes, policy, error, nullptr);
        }
        if (control == nullptr) {
            why = failure_of(error);
            return {};
        }
    }
    control->cache.drops_at_start = drop_count.load(std::memory_order_relaxed);
    control->cache.since = std::chrono::steady_clock::now();
    const std::size_t committed = committed_of(control);
    zero_old_contents(control, 0, committed);    // committed before the caller asks for more
    update_warm_unused(control, committed);
    update_bytes_in_use(control);
    report_to_leak_checker(control, true);
    report_to_heap_profiler(control, committed);
    return {control, control->start(), committed, control->size()};
}

constinit library_copy this_copy{release_range_slow};

void release_range_slow(range* control, std::size_t used) noexcept {
    if (control->creation.home != &this_copy) return control->creation.home->release_range(control, used);
    control->identity.state.store(range_state::cached, std::memory_order_release);
    report_to_leak_checker(control, false);
    {
        const std::lock_guard pause(control->prefault.mutex);
        control->prefault.target.store(0, std::memory_order_relaxed);    // stops the helper's work
        control->prefault.given_to_owner = 0;
    }
    report_to_heap_profiler(control, 0);    // kept memory has no owner
    // A named or protected range is seldom recreated, and resetting it takes as many calls as making one.
    if (is_named(control) || control->protection.allowed != access::read_write) {
        unmap_range_of(control);
    } else {
        cache_or_unmap(control, used);
    }
}

void cache_or_unmap(range* control, std::size_t used) noexcept {
    unmap_all_ranges(push_to_list(control, bytes_worth_caching(control, used)));
}

namespace {

// Fork handler. Resets state of other threads that nothing in the child would finish: readers must not wait for a block with an odd
// version, nor owners for a helper that is not there. The ranges of those threads are lost in the child.
void ranges_at_fork(fork_moment now) noexcept {
    if (now == fork_moment::before) return registry_mutex.lock();
    if (now == fork_moment::in_child) {
        for (range* control = first_of_all(); control != nullptr; control = control->identity.next_of_all) {
            const std::uint32_t version = control->identity.version.load(std::memory_order_relaxed);
            if (version % 2 != 0) control->identity.version.store(version + 1, std::memory_order_relaxed);
            control->prefault.mutex.reset_in_child();
            control->prefault.target.store(0, std::memory_order_relaxed);
        }
    }
    registry_mutex.unlock();
}

[[maybe_unused]] const bool ranges_fork = at_fork(fork_place::ranges, ranges_at_fork);

// Returns the ranges in other threads' slots, linked by `cache.next`. Only with an empty list, once no thread runs this code.
range* ranges_in_all_slots() noexcept {
    range* found = nullptr;
    for (range* each = first_of_all(); each != nullptr; each = each->identity.next_of_all) {
        if (each->identity.state.load(std::memory_order_relaxed) != range_state::cached) continue;
        each->cache.next = found;
        found = each;
    }
    return found;
}

// Releases kept ranges when the code is unloaded or the program ends. Ranges of static objects that live longer are then unmapped.
struct cache_end {
    ~cache_end() {
        set_cache_limit(0);
        release_unused();
        if (module_is_unloading()) unmap_all_ranges(ranges_in_all_slots());
    }
};
[[maybe_unused]] const cache_end empty_at_exit;

}    // namespace

}}}    // namespace headroom::detail

namespace headroom { inline namespace v0_1 {

void set_cache_limit(std::size_t bytes) noexcept {
    detail::unmap_all_ranges(detail::limit_cache(std::min(bytes, SIZE_MAX - 1)));    // SIZE_MAX: not set
}

std::size_t cache_limit() noexcept { return detail::limit_of_cache(SIZE_MAX); }

void trim_cache() noexcept { detail::unmap_all_ranges(detail::take_kept_ranges()); }

}}    // namespace headroom
