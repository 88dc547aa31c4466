// SPDX-License-Identifier: MIT
// Making, acquiring, releasing and unmapping ranges.
#include "range/control_block.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "range/cache.hpp"
#include "range/counters.hpp"
#include "range/options.hpp"
#include "range/process_policy.hpp"
#include "range/quarantine.hpp"
#include "range/range.hpp"
#include "range/registry.hpp"
#include "system/at_fork.hpp"
#include "system/platform.hpp"
#include "system/unmap_queue.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Returns the offset of the next start before a 2 MiB boundary. Staggered, so that the last pages of many vectors that grow together fall
// into different sets of the processor's table of translations (TLB), which are chosen by the lowest bits of the page number. The first
// eight start at the boundary: so few pages fit into one set. Before the boundary, so that huge pages begin at most that much later than
// the policy says.
std::size_t next_start_stagger() noexcept {
    constexpr std::size_t alike = 8;
    static constinit std::atomic<std::size_t> made{0};
    return made.fetch_add(1, std::memory_order_relaxed) / alike * page_size() % max_start_stagger;
}

// Address space of ranges whose owners ask for 4 GiB and at most 64 KiB more: so those of all kinds serve each other, and owners that
// ask for less. Those get no more than they ask for if a range is made for them: programs may have tens of thousands. None with 32-bit
// addresses.
constexpr std::size_t least_common = sizeof(std::size_t) >= 8 ? std::size_t{1} << 31 << 1 : 0;
constexpr std::size_t common_size = least_common == 0 ? 0 : least_common + (std::size_t{64} << 10);

// Makes a range with `usable` bytes of addresses, of which the owner is given `bytes`. Enters it into the address table; begin_life()
// must follow. Held guarded where premapping is refused. If refused, sets `error` and returns null.
range* make_range(std::size_t bytes, std::size_t usable, const commit_policy& policy, std::error_code& error,
                  reserve_function* for_file) noexcept {
    range* const control = exceeds_mappings() ? nullptr : new_control_block();
    if (control == nullptr) {
        error = out_of_memory();
        return nullptr;
    }
    control->policy = policy;
    control->creation.held = policy.how_held();
    if (control->creation.held == holding::open && !policy_calls::mapping(policy)(control, usable))
        control->creation.held = holding::guarded;
    const bool open = control->creation.held == holding::open;
    if (!open) {
        control->creation.mapping = for_file != nullptr ? for_file(mapping_bytes_for(usable), page_size(), error)
                                                        : reserve(mapping_bytes_for(usable), page_size(), error);
        if (error) {
            free_control_block(control);
            return nullptr;
        }
    }
    // Not for a premapped range, whose guards are adjacent.
    const std::size_t early = open || for_file != nullptr ? 0 : next_start_stagger();
    control->creation.usable = usable;
    identity_writer(control).set_base_and_size(aligned_start_of(control->creation.mapping) - early, bytes);
    control->extent.reset(open ? usable : 0);
    control->protection = {};
    if (for_file == nullptr && declines_huge_pages(policy) && huge_pages_come_unasked())
        control->protection.set_huge_declined(!advise_huge(control->part(0, usable), false));
    control->cache.reset();
    report_to_heap_profiler(control, control->extent.committed());
    enter_addresses(control);
    return control;
}

// Gives the range to an owner.
void begin_life(range* control) noexcept { control->identity.state.store(range_state::live, std::memory_order_release); }

// Makes a range of `bytes`, not live yet. If refused, releases all idle memory and asks again, then, unless `exact`, asks for half as
// much, and so on down to `floor_bytes`. Null if all are refused.
range* make_range_or_smaller(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy,
                             std::error_code& error) noexcept {
    // Once the common size was refused where less was not, as under `ulimit -v`, it is not asked for again.
    static constinit std::atomic<bool> too_large{false};
    const bool common = !exact && policy.how_held() != holding::open && bytes >= least_common && bytes < common_size &&
                        !too_large.load(std::memory_order_relaxed);
    range* control = common ? make_range(bytes, common_size, policy, error, nullptr) : nullptr;
    if (control != nullptr) return control;
    control = make_range(bytes, bytes, policy, error, nullptr);
    if (common && control != nullptr && !exceeds_mappings()) too_large.store(true, std::memory_order_relaxed);
    if (control == nullptr) {
        release_unused();
        control = make_range(bytes, bytes, policy, error, nullptr);
    }
    while (control == nullptr && !exact && bytes > floor_bytes) {
        bytes = std::max(floor_bytes, whole_pages(bytes / 2));
        control = make_range(bytes, bytes, policy, error, nullptr);
    }
    return control;
}

// Unmaps a range without an owner, and frees its control block.
void unmap_range_of(range* control) noexcept {
    control->identity.state.store(range_state::unused, std::memory_order_release);
    {
        const range_lock held(control);    // the cache may be releasing memory of it
        remove_from_cache(held);
        settle_range(held, SIZE_MAX);
        set_huge_until(held, 0);
    }
    remove_addresses(control);
    quarantine_or_release(control->creation.mapping);
    control->creation.mapping = {};
    free_control_block(control);
}

// Prepares a range for another owner. `used`: bytes in use, if it is premapped. False if it must be unmapped.
bool prepare_for_reuse(locked_range control, std::size_t used) noexcept {
    // A named or protected range is seldom recreated, and resetting it takes as many calls as making one.
    if (is_named(control.get()) || control->protection.allowed() != access::read_write || control->cache.is_unfit()) return false;
    range_extent& extent = control->extent;
    const bool premapped = control->creation.held == holding::open;
    std::size_t worth = extent.memory();
    if (premapped) {
        // Only the owner of a premapped range knows how far it was touched. The rest is released, which is cheap where nothing was
        // touched. It stays readable, which hardened processes and Valgrind do not allow.
        if (hardened() || valgrind_present()) return false;
        worth = std::min(control->size(), whole_pages(used));
        extent.assume_memory(control->size());
    }
    if (!release_memory_after(control, worth) || worth == 0) return false;    // bytes charged and not committed, too
    if (warm_memory_is_protected() && !premapped && !protect_memory(control)) return false;
    extent.end_owner();
    return true;
}

}    // namespace

bool exceeds_mappings() noexcept {
    constexpr std::size_t few = 1024;    // ranges; no system allows fewer mappings than twice these take
    const std::size_t ranges = addresses.ranges.load(std::memory_order_relaxed);
    const bool is_set = limits_of_process.mappings.load(std::memory_order_relaxed) != 0;
    const std::size_t taken = (ranges + ranges_with_advice.load(std::memory_order_relaxed) + 1) * mappings_per_range;
    return (ranges >= few || is_set) && taken > mapping_limit();
}

void unmap_all_ranges(range_chain chain) noexcept {
    while (range* const each = chain.pop()) unmap_range_of(each);
}

void heed_options() noexcept { unmap_all_ranges(read_options_once()); }

void release_unused() noexcept {
    unmap_all_ranges(take_kept_ranges());
    empty_quarantine();
    retry_unmaps();
}

range* make_file_range(std::size_t reserved, const commit_policy& policy, std::error_code& error,
                       reserve_function* for_file) noexcept {
    heed_options();
    range* control = make_range(reserved, reserved, policy, error, for_file);
    if (control == nullptr) {
        release_unused();
        control = make_range(reserved, reserved, policy, error, for_file);
    }
    if (control != nullptr) begin_life(control);
    return control;
}

held_range acquire_slow(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy, failure& why,
                        std::size_t known_use) noexcept {
    heed_options();
    constexpr std::size_t most = SIZE_MAX / 4;
    if (std::min(bytes, exact ? bytes : floor_bytes) > most) {
        why = failure_of(out_of_memory());
        return {};
    }
    bytes = whole_pages(std::clamp<std::size_t>(bytes, 1, most));
    range_lock kept = pop_range({bytes, exact, policy, known_use});
    range* control = kept.get();
    const bool is_kept = control != nullptr;
    if (is_kept) {
        control->policy = policy;
        if (control->size() != bytes) identity_writer(control).set_size(bytes);
        zero_old_contents(kept, 0, control->extent.committed());    // committed before the caller asks for more
    } else {
        counts.cache_misses.fetch_add(1, std::memory_order_relaxed);
        std::error_code error;
        floor_bytes = std::min(bytes, whole_pages(std::max<std::size_t>(floor_bytes, 1)));
        control = make_range_or_smaller(bytes, exact, floor_bytes, policy, error);
        if (control == nullptr) {
            why = failure_of(error);
            return {};
        }
    }
    control->cache.set_reused(is_kept);
    const std::size_t committed = control->extent.committed();
    report_to_leak_checker(control, true);
    report_to_heap_profiler(control, committed);
    if (is_kept) {
        mark_live(control);
        kept.unlock();
    } else {
        begin_life(control);
    }
    return {control, control->start(), committed, control->size()};
}

constinit library_copy this_copy{release_range_slow};
constinit std::atomic<void (*)() noexcept> end_helper{nullptr};

void release_range_slow(range* control, std::size_t used) noexcept {
    if (control->creation.home != &this_copy) return control->creation.home->release_range(control, used);
    control->identity.state.store(range_state::cached, std::memory_order_release);
    report_to_leak_checker(control, false);
    report_to_heap_profiler(control, 0);    // kept memory has no owner
    cache_or_unmap(control, used);
}

void cache_or_unmap(range* control, std::size_t used) noexcept {
    range_lock held(control);
    control->prefault.stop();
    control->prefault.give_to_owner(0);
    if (prepare_for_reuse(held, used)) return unmap_all_ranges(push_to_list(std::move(held)));
    unmap_range_of(held.unlock());
}

namespace {

// Fork handler. Resets state of other threads that nothing in the child would finish: readers must not wait for a block with an odd
// version, nor owners for a helper that is not there. The ranges of those threads are lost in the child.
void ranges_at_fork(fork_moment now) noexcept {
    if (now == fork_moment::before) return lock_registry_across_fork();
    if (now == fork_moment::in_child) {
        for (range* control = first_of_all(); control != nullptr; control = control->identity.next_of_all) {
            const std::uint32_t version = control->identity.version.load(std::memory_order_relaxed);
            if (version % 2 != 0) control->identity.version.store(version + 1, std::memory_order_relaxed);
            control->mutex.reset_in_child();
            control->prefault.stop();
        }
    }
    unlock_registry_after_fork();
}

[[maybe_unused]] const bool ranges_fork = at_fork(fork_place::ranges, ranges_at_fork);

// Returns the ranges in other threads' slots. Only with an empty list, once no other thread runs this code.
range_chain ranges_in_all_slots() noexcept {
    const registry_lock guard;
    range_chain found;
    for (range* each = first_of_all(); each != nullptr; each = each->identity.next_of_all) {
        if (each->identity.state.load(std::memory_order_relaxed) != range_state::cached) continue;
        found.push(each);
    }
    return found;
}

// When the code is unloaded or the program ends: ends the helper thread and releases kept ranges, those in other threads' slots only when
// unloaded. Ranges of static objects that live longer are then unmapped.
struct cache_end {
    ~cache_end() {
        if (void (*const end)() noexcept = end_helper.load()) end();
        unmap_all_ranges(limit_cache(0));
        release_unused();
        if (module_is_unloading()) unmap_all_ranges(ranges_in_all_slots());
    }
};
[[maybe_unused]] const cache_end empty_at_exit;

}    // namespace

}}}    // namespace headroom::detail

namespace headroom { inline namespace v0_1 {

void set_cache_limit(std::size_t bytes) noexcept {
    detail::heed_options();
    detail::unmap_all_ranges(detail::limit_cache(std::min(bytes, SIZE_MAX - 1)));    // SIZE_MAX: not set
}

void set_mapping_limit(std::size_t mappings) noexcept {
    detail::heed_options();
    detail::allow({.mapping_limit = mappings});
}

std::size_t mapping_limit() noexcept {
    detail::heed_options();
    std::size_t limit = detail::limits_of_process.mappings.load(std::memory_order_relaxed);
    if (limit != 0) return limit;
    const std::size_t half = detail::max_mappings() / 2;
    return detail::limits_of_process.mappings.compare_exchange_strong(limit, half, std::memory_order_relaxed) ? half : limit;
}

std::size_t cache_limit() noexcept {
    detail::heed_options();
    return detail::limit_of_cache(SIZE_MAX);
}

void trim_cache() noexcept { detail::unmap_all_ranges(detail::take_kept_ranges()); }

}}    // namespace headroom
