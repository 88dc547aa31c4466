// The cache of kept ranges: implements cache.hpp. Owns the list, the record of drops, and the limits.
#include "range/cache.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "range/extent.hpp"
#include "range/registry.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

using cache_clock = std::chrono::steady_clock;

// A kept range takes up to three mappings of the 65,530 that a process may have by default.
constexpr std::size_t max_ranges = 128;
constexpr std::size_t not_set = SIZE_MAX;
// How long a dropped size is remembered, and a range kept.
constexpr std::chrono::seconds reuse_period{1};
// At most a sixteenth of the bytes in use is kept of sizes that do not recur, and half of them may be warm and unused in live ranges.
constexpr std::size_t kept_fraction = 16;
constexpr std::size_t warm_fraction = 2;

// --- The list, most recently released first. Under the registry's lock, except atomics.

constinit range* newest_kept = nullptr;
constinit range* oldest_kept = nullptr;
constinit std::size_t range_count = 0;
constinit std::atomic<std::size_t> bytes_listed{0};
constinit std::size_t bytes_not_reusable = 0;    // of those, in ranges kept as a share only
constinit std::atomic<std::size_t> cache_bytes{not_set};
constinit std::atomic<bool> limit_is_set{false};

// --- The last sixteen drops. Under the registry's lock.

struct recent_drop {
    std::size_t reserved;    // 0: none
    std::size_t memory;
    std::size_t number;    // drop_count of the drop
    cache_clock::time_point when;
};
constinit recent_drop recent_drops[16]{};

void record_drop(const range* control, std::size_t memory, cache_clock::time_point now) noexcept {
    const std::size_t number = drop_count.load(std::memory_order_relaxed);
    recent_drops[number % std::size(recent_drops)] = {control->size(), memory, number, now};
    drop_count.store(number + 1, std::memory_order_relaxed);
}

bool are_similar(std::size_t a, std::size_t b) noexcept {
    const std::size_t more = std::max(a, b);
    return more <= max_slot_memory || more - std::min(a, b) <= more / 4;
}

// True if a range of about this size was dropped shortly before this one was acquired. Erases that record, so that it counts once.
bool consume_recent_drop(const range* control, std::size_t memory, cache_clock::time_point now) noexcept {
    // A range acquired from a slot has no time.
    const cache_clock::time_point since = control->cache.since == cache_clock::time_point{} ? now : control->cache.since;
    for (recent_drop& each : recent_drops) {
        if (each.reserved != control->size() || !are_similar(each.memory, memory)) continue;
        const bool before = each.number - control->cache.drops_at_start > SIZE_MAX / 2;    // the counts wrap
        if (!before || since - each.when > reuse_period) continue;
        each.reserved = 0;
        return true;
    }
    return false;
}

// Limits of the listed bytes.
struct list_limits {
    std::size_t reusable;     // of all: with the bytes in use at most their peak, and at most nine tenths of that
    std::size_t share;        // of ranges whose size does not recur
    std::size_t alone = 0;    // of the only range: includes the last tenth
};
constinit std::size_t previous_peak = 0;    // peak of the bytes in use in the second before `peak_started`
constinit cache_clock::time_point peak_started{};

std::size_t recent_peak() noexcept { return std::max(this_copy.peak_in_use.load(std::memory_order_relaxed), previous_peak); }

// Updates the peak of the bytes in use, if its second is over, and returns the limits.
list_limits update_list_limits(cache_clock::time_point now) noexcept {
    const std::size_t in_use = this_copy.bytes_in_use.load(std::memory_order_relaxed);
    if (now - peak_started > reuse_period) {
        const std::size_t most = this_copy.peak_in_use.exchange(in_use, std::memory_order_relaxed);
        previous_peak = now - peak_started > 2 * reuse_period ? in_use : most;
        peak_started = now;
    }
    const std::size_t share = in_use / kept_fraction;
    const std::size_t most = recent_peak();
    // Leaves a tenth for what is not counted: pages populated ahead, page tables.
    const std::size_t rest = most - std::min(most, in_use);
    return {std::max(share, std::min(rest, most - most / 10)), share, std::max(share, rest)};
}

void unlink(range* control) noexcept {
    cache_entry& entry = control->cache;
    (entry.previous != nullptr ? entry.previous->cache.next : newest_kept) = entry.next;
    (entry.next != nullptr ? entry.next->cache.previous : oldest_kept) = entry.previous;
    entry.next = entry.previous = nullptr;
    --range_count;
    bytes_listed.fetch_sub(control->memory(), std::memory_order_relaxed);
    if (!entry.reusable) bytes_not_reusable -= control->memory();
}

void link_as_newest(range* control) noexcept {
    control->cache.previous = nullptr;
    control->cache.next = newest_kept;
    (newest_kept != nullptr ? newest_kept->cache.previous : oldest_kept) = control;
    newest_kept = control;
    ++range_count;
    bytes_listed.fetch_add(control->memory(), std::memory_order_relaxed);
    if (!control->cache.reusable) bytes_not_reusable += control->memory();
}

// From the oldest on, unlinks each range while the list exceeds `limits` or `count` ranges, or that was released before `expiry`. Puts them
// in front of the list `evicted`, and returns that.
range* evict(list_limits limits, std::size_t count, cache_clock::time_point expiry, range* evicted) noexcept {
    for (range* each = oldest_kept; each != nullptr;) {
        range* const younger = each->cache.previous;
        if (bytes_listed.load(std::memory_order_relaxed) > limits.reusable || range_count > count || each->cache.since < expiry ||
            (!each->cache.reusable && bytes_not_reusable > limits.share)) {
            unlink(each);
            each->cache.next = evicted;
            evicted = each;
        }
        each = younger;
    }
    return evicted;
}

// Prepares a range without an owner for reuse, with the memory of the first `kept` bytes. False if it cannot be kept.
bool prepare_for_reuse(range* control, std::size_t kept) noexcept {
    // Only the owner of a premapped range knows how far it was touched. Releases the rest, which is cheap where nothing was touched. It
    // stays readable, which hardened processes and Valgrind do not allow.
    const bool open = control->creation.held == holding::open;
    if (open) {
        if (hardened() || valgrind_present()) return false;
        control->set_memory(control->size());
    }
    release_memory_after(control, kept);
    if (open) return control->memory() <= kept;
    range_extent& extent = control->extent;
    if (warm_memory_is_protected() && extent.accessible > 0) {
        if (protect(control->part(0, extent.accessible), access::none)) return false;
        extent.accessible = 0;
    }
    extent.populated =
        std::min(control->memory(), kept);    // the system may have released some memory before it refused the rest
    const bool start = control->creation.policy.which() != commit_policy::kind::page_by_page;
    extent.committed.store(start ? std::min(extent.accessible, initial_warm_commit) : 0, std::memory_order_release);
    return true;
}

}    // namespace

constinit std::atomic<std::size_t> drop_count{0};
constinit std::atomic<std::uint32_t> slots_generation{0};
constinit thread_local thread_range_slots this_thread_slots{};

std::size_t limit_of_cache(std::size_t bytes) noexcept {
    std::size_t limit = cache_bytes.load(std::memory_order_relaxed);
    if (limit != not_set) return limit;
    if (bytes <= min_limit) return min_limit;
    // A control group with little memory is killed for more, so little is kept.
    const std::size_t own = std::min(default_limit, lowest_cgroup_limit() / 16);
    return cache_bytes.compare_exchange_strong(limit, own, std::memory_order_relaxed) ? own : limit;
}

range* pop_from_list(std::size_t bytes, const commit_policy& policy, expected_use use, std::size_t& kept) noexcept {
    const std::size_t in_use = this_copy.bytes_in_use.load(std::memory_order_relaxed);
    const std::size_t warm = this_copy.warm_unused_bytes.load(std::memory_order_relaxed);
    const std::lock_guard guard(registry_mutex);
    // Largest memory to hand out. A request of known size gets at most an eighth more than it needs. One that may grow gets twice that,
    // more while little is warm and unused, and anything while at most a quarter of the peak is in use.
    const std::size_t known = std::min(use.bytes, SIZE_MAX / 4);
    std::size_t most = std::max(known + known / 8, max_slot_memory);
    if (use.may_grow) {
        const std::size_t unused = in_use / warm_fraction;
        most = std::max(2 * known, max_slot_memory) + unused - std::min(warm, unused);
        if (in_use <= recent_peak() / 4) most = SIZE_MAX;
    }
    if (limit_is_set.load(std::memory_order_relaxed)) most = SIZE_MAX;
    std::size_t younger = hardened() ? min_reuse_distance : 0;
    // Takes the range whose memory is closest to the expected use; the first of several that grow gets the smallest.
    range* found = nullptr;
    std::size_t least = SIZE_MAX;
    for (range* each = newest_kept; each != nullptr && least != 0; each = each->cache.next) {
        if (younger != 0) {
            --younger;
            continue;
        }
        if (each->size() != bytes || each->creation.policy != policy) continue;
        const std::size_t memory = each->memory();
        const std::size_t off = std::max(memory, use.bytes) - std::min(memory, use.bytes);
        if (off >= least) continue;
        least = off;
        found = each;
    }
    if (found == nullptr) return nullptr;
    unlink(found);
    kept = most;
    found->cache.reused_bytes = std::min(found->memory(), kept);
    if (found->memory() > max_slot_memory) {
        found->cache.warm = found->memory();
        this_copy.warm_unused_bytes.fetch_add(found->cache.warm, std::memory_order_relaxed);
    }
    mark_live(found);
    return found;
}

range* push_to_list(range* control, std::size_t memory) noexcept {
    const auto now = cache_clock::now();
    update_warm_unused(control, SIZE_MAX);
    remove_from_in_use(control);
    const bool users = limit_is_set.load(std::memory_order_relaxed);
    const std::size_t also = users ? this_copy.warm_unused_bytes.load(std::memory_order_relaxed) : 0;
    const std::size_t limit = limit_of_cache(bytes_listed.load(std::memory_order_relaxed) + also + memory);
    const std::size_t room = limit > also ? limit - also : 0;
    list_limits limits{room, room, room};
    std::size_t kept = memory;
    bool reusable = true;
    {
        const std::lock_guard guard(registry_mutex);
        if (!users) {
            const list_limits own = update_list_limits(now);
            limits = {std::min(room, own.reusable), std::min(room, own.share), std::min(room, own.alone)};
            const std::size_t before = control->cache.reused_bytes;
            reusable =
                memory <= before || (before != 0 && are_similar(memory, before)) || consume_recent_drop(control, memory, now);
            if (!reusable && memory > limits.share) kept = std::min(before, limits.reusable);
        }
        const std::size_t listed = bytes_listed.load(std::memory_order_relaxed);
        if (listed == 0) limits.reusable = limits.alone;
        kept = std::min(kept, limits.reusable);
        // Keeps part of this range, if a large part, rather than unmap another one.
        const std::size_t left = limits.reusable - std::min(limits.reusable, listed);
        if (limits.reusable > limits.share && left < kept && left >= kept / 2) kept = left;
        if (kept < memory) record_drop(control, memory, now);
    }
    kept &= ~(page_size() - 1);
    const bool left = kept != 0 && prepare_for_reuse(control, kept);
    if (left) memory = control->memory();    // the system may have refused
    const std::lock_guard guard(registry_mutex);
    const std::size_t room_now = cache_bytes.load(std::memory_order_relaxed);    // another thread may have set a limit
    limits = {std::min(limits.reusable, room_now), std::min(limits.share, room_now), 0};
    const bool listed = left && memory <= limits.reusable;
    const std::size_t less = listed ? memory : 0;
    const list_limits others{limits.reusable - less, limits.share - std::min(limits.share, reusable ? 0 : less)};
    range* const ending =
        evict(others, max_ranges - 1, users ? cache_clock::time_point::min() : now - reuse_period, listed ? nullptr : control);
    if (listed) {
        control->cache.since = now;
        control->cache.reusable = reusable;
        link_as_newest(control);
    }
    return ending;
}

range* evict_excess() noexcept {
    const std::size_t listed = bytes_listed.load(std::memory_order_relaxed);
    if (listed == 0 || limit_is_set.load(std::memory_order_relaxed)) return nullptr;
    const std::size_t in_use = this_copy.bytes_in_use.load(std::memory_order_relaxed);
    const std::size_t share = in_use / kept_fraction;
    // Tolerates one share more: a vector slightly longer than in the last round must not cost another its whole range.
    if (listed <= share || in_use - share + listed <= this_copy.peak_in_use.load(std::memory_order_relaxed)) return nullptr;
    const std::lock_guard guard(registry_mutex);
    list_limits limits = update_list_limits(cache_clock::now());
    limits.reusable += share;
    return evict(limits, max_ranges, cache_clock::time_point::min(), nullptr);
}

range* limit_cache(std::size_t bytes) noexcept {
    range* const mine = detach_thread_slots();
    invalidate_all_slots();
    const std::lock_guard guard(registry_mutex);
    if (bytes == keep_limit) {
        bytes = 0;
    } else {
        limit_is_set.store(true, std::memory_order_relaxed);
        cache_bytes.store(bytes, std::memory_order_relaxed);
    }
    return evict({bytes, bytes}, bytes == 0 ? 0 : max_ranges, cache_clock::time_point::min(), mine);
}

}}}    // namespace headroom::detail
