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

// Each cached range costs up to three mappings of the 65,530 that a process may have by default.
constexpr std::size_t most_ranges = 128;
constexpr std::size_t nobody_said = SIZE_MAX;
// How long a size is remembered, and how long a range lies here without being taken.
constexpr std::chrono::seconds soon{1};
// What one range may keep, however often its memory was wanted again: nobody can tell the last vector of a loop from the others,
// and its memory would stay. Where memory arrived by appends, element by element, fresh huge pages cost little beside that.
// What came in one piece (a copy, say) would be warm on the heap too, up to this size.
constexpr std::size_t most_of_appended = std::size_t{6} << 20;
constexpr std::size_t most_of_one_piece = std::size_t{32} << 20;
constexpr std::size_t of_larger_pieces = std::size_t{4} << 20;

// --- The list, from the most to the least recently given. Under the registry's lock, but what is atomic.

constinit range* newest_kept = nullptr;
constinit range* oldest = nullptr;
constinit std::size_t ranges = 0;
constinit std::atomic<std::size_t> bytes_listed{0};
constinit std::atomic<std::size_t> cache_bytes{nobody_said};
constinit std::atomic<bool> limit_is_users{false};

// --- What was dropped with its memory: the last sixteen. Under the lock.

struct dropped_range {
    std::size_t reserved;    // 0: none
    std::size_t memory;
    std::size_t number;    // among all that were dropped
    cache_clock::time_point when;
};
constinit dropped_range dropped[16]{};

void remember(const range* control, std::size_t memory, cache_clock::time_point now) noexcept {
    const std::size_t number = drops.load(std::memory_order_relaxed);
    dropped[number % std::size(dropped)] = {control->size(), memory, number, now};
    drops.store(number + 1, std::memory_order_relaxed);
}

bool is_alike(std::size_t a, std::size_t b) noexcept {
    const std::size_t more = std::max(a, b);
    return more <= small_memory || more - std::min(a, b) <= more / 4;
}

// Whether a range of that size was dropped soon before this one's life began; it counts once.
bool was_wanted_again(const range* control, std::size_t memory, cache_clock::time_point now) noexcept {
    // (A life that began in a slot did not look at the clock.)
    const cache_clock::time_point since = control->cache.since == cache_clock::time_point{} ? now : control->cache.since;
    for (dropped_range& each : dropped) {
        if (each.reserved != control->size() || !is_alike(each.memory, memory)) continue;
        const bool before = each.number - control->cache.drops_before > SIZE_MAX / 2;    // (the numbers wrap round)
        if (!before || since - each.when > soon) continue;
        each.reserved = 0;
        return true;
    }
    return false;
}

// How much of the range's `memory` is worth keeping.
std::size_t worth_keeping(const range* control, std::size_t memory, cache_clock::time_point now) noexcept {
    if (limit_is_users.load(std::memory_order_relaxed)) return memory;
    const std::size_t wanted = control->cache.wanted_again;
    const bool all = memory <= wanted || (wanted != 0 && is_alike(memory, wanted)) || was_wanted_again(control, memory, now);
    const std::size_t most = control->cache.appended > memory / 2 ? most_of_appended
                             : memory > most_of_one_piece         ? of_larger_pieces
                                                                  : SIZE_MAX;
    const std::size_t kept = std::min(all ? memory : wanted, most);
    if (kept < memory) remember(control, memory, now);
    return kept;
}

void unlink(range* control) noexcept {
    cache_entry& entry = control->cache;
    (entry.previous != nullptr ? entry.previous->cache.next : newest_kept) = entry.next;
    (entry.next != nullptr ? entry.next->cache.previous : oldest) = entry.previous;
    entry.next = entry.previous = nullptr;
    --ranges;
    bytes_listed.fetch_sub(control->memory(), std::memory_order_relaxed);
}

void link_as_newest(range* control) noexcept {
    control->cache.previous = nullptr;
    control->cache.next = newest_kept;
    (newest_kept != nullptr ? newest_kept->cache.previous : oldest) = control;
    newest_kept = control;
    ++ranges;
    bytes_listed.fetch_add(control->memory(), std::memory_order_relaxed);
}

// Unlinks the oldest while more than `bytes` are listed, or more than `count` ranges, or they were given before `time`; puts them
// before the chain `evicted`.
range* evict(std::size_t bytes, std::size_t count, cache_clock::time_point time, range* evicted) noexcept {
    while (oldest != nullptr &&
           (bytes_listed.load(std::memory_order_relaxed) > bytes || ranges > count || oldest->cache.since < time)) {
        range* const each = oldest;
        unlink(each);
        each->cache.next = evicted;
        evicted = each;
    }
    return evicted;
}

// Leaves a range whose owner is gone as the next is to find it, with the memory of the first `kept` bytes. False: it cannot be
// kept.
bool leave_for_next(range* control, std::size_t kept) noexcept {
    // How far an open range was touched only its user knows; the rest is emptied, which costs next to nothing where nothing was
    // touched. It stays readable, and that is not always wanted.
    const bool open = control->terms.held == holding::open;
    if (open) {
        if (hardened() || readable_means_in_use()) return false;
        control->set_memory(control->size());
    }
    cut_memory(control, kept);
    if (open) return control->memory() <= kept;
    range_extent& extent = control->extent;
    if (warm_memory_is_hidden() && extent.accessible > 0) {
        if (protect(control->part(0, extent.accessible), access::none)) return false;
        extent.accessible = 0;
    }
    extent.provided = std::min(control->memory(), kept);    // (of the rest some may have been taken, where the system refused)
    const bool start = control->terms.policy.which() != commit_policy::kind::page_by_page;
    extent.committed.store(start ? std::min(extent.accessible, warm_start) : 0, std::memory_order_release);
    return true;
}

}    // namespace

constinit std::atomic<std::size_t> drops{0};
constinit std::atomic<std::uint32_t> slots_generation{0};
constinit thread_local own_slots slots_of_this_thread{};

std::size_t limit_of_cache(std::size_t bytes) noexcept {
    std::size_t limit = cache_bytes.load(std::memory_order_relaxed);
    if (limit != nobody_said) return limit;
    if (bytes <= limit_unasked) return limit_unasked;
    // Where a group of processes may have little memory, and is killed for more, what is kept for later must be little too.
    const std::size_t own = std::min(default_limit, memory_of_group() / 16);
    return cache_bytes.compare_exchange_strong(limit, own, std::memory_order_relaxed) ? own : limit;
}

range* take_from_list(std::size_t bytes, const commit_policy& policy) noexcept {
    const std::lock_guard guard(registry_mutex);
    std::size_t younger = hardened() ? ranges_between : 0;
    for (range* each = newest_kept; each != nullptr; each = each->cache.next) {
        if (younger != 0) {
            --younger;
            continue;
        }
        if (each->size() != bytes || each->terms.policy != policy) continue;
        unlink(each);
        each->cache.wanted_again = each->memory();
        if (each->memory() > small_memory) {
            each->cache.warm = each->memory();
            this_copy.warm_in_ranges.fetch_add(each->cache.warm, std::memory_order_relaxed);
        }
        make_live(each);
        return each;
    }
    return nullptr;
}

range* give_to_list(range* control, std::size_t memory) noexcept {
    const auto now = cache_clock::now();
    count_warm_in_use(control, SIZE_MAX);
    const auto also = this_copy.warm_in_ranges.load(std::memory_order_relaxed);
    const std::size_t limit = limit_of_cache(bytes_listed.load(std::memory_order_relaxed) + also + memory);
    const std::size_t room = limit > also ? limit - also : 0;
    const bool users = limit_is_users.load(std::memory_order_relaxed);
    std::size_t kept;
    {
        const std::lock_guard guard(registry_mutex);
        kept = limit == 0 ? 0 : std::min(worth_keeping(control, memory, now), room);
    }
    kept &= ~(page_size() - 1);
    const bool left = kept != 0 && leave_for_next(control, kept);
    if (left) memory = control->memory();    // (the system may have refused to take the rest)
    const std::lock_guard guard(registry_mutex);
    const std::size_t room_now =
        std::min(room, cache_bytes.load(std::memory_order_relaxed));    // (others may have set a limit meanwhile)
    const bool listed = left && memory <= room_now;
    range* const ending = evict(listed ? room_now - memory : room_now, most_ranges - 1,
                                users ? cache_clock::time_point::min() : now - soon, listed ? nullptr : control);
    if (listed) {
        control->cache.since = now;
        control->cache.appended = 0;
        link_as_newest(control);
    }
    return ending;
}

range* limit_cache(std::size_t bytes) noexcept {
    range* const mine = take_own_slots();
    close_all_slots();
    const std::lock_guard guard(registry_mutex);
    if (bytes == limit_as_it_is) {
        bytes = 0;
    } else {
        limit_is_users.store(true, std::memory_order_relaxed);
        cache_bytes.store(bytes, std::memory_order_relaxed);
    }
    return evict(bytes, bytes == 0 ? 0 : most_ranges, cache_clock::time_point::min(), mine);
}

}}}    // namespace headroom::detail
