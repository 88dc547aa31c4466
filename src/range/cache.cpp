#include "range/cache.hpp"

#include <algorithm>

#include "range/quarantine.hpp"
#include "system/platform.hpp"
#include "range/range_calls.hpp"
#include "range/registry.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Each cached range costs up to three mappings of the 65,530 that a process may have by default.
constexpr std::size_t most_ranges = 64;
constexpr std::size_t default_limit = std::size_t{64} << 20;
constexpr std::size_t nobody_said = SIZE_MAX;

// Under the registry's lock. A list from the most to the least recently given.
constinit range* newest = nullptr;
constinit range* oldest = nullptr;
constinit std::size_t ranges = 0;
constinit std::size_t bytes_kept = 0;
constinit std::atomic<std::size_t> limit{nobody_said};    // written under the lock, read without it as a first guess

// Where a group of processes may have little memory, and is killed for more, what is kept for later must be little too.
std::size_t present_limit() noexcept {
    std::size_t bytes = limit.load(std::memory_order_relaxed);
    if (bytes != nobody_said) return bytes;
    const std::size_t own = std::min(default_limit, memory_of_group() / 16);
    return limit.compare_exchange_strong(bytes, own, std::memory_order_relaxed) ? own : bytes;
}

void unlink(range* control) noexcept {
    (control->previous != nullptr ? control->previous->next : newest) = control->next;
    (control->next != nullptr ? control->next->previous : oldest) = control->previous;
    control->next = control->previous = nullptr;
    --ranges;
    bytes_kept -= control->high;
}

void link(range* control) noexcept {
    control->previous = nullptr;
    control->next = newest;
    (newest != nullptr ? newest->previous : oldest) = control;
    newest = control;
    ++ranges;
    bytes_kept += control->high;
}

// Unlinks the oldest while more than `bytes` or `count` are kept, and chains them for destruction outside the lock.
range* evict_down_to(std::size_t bytes, std::size_t count) noexcept {
    range* evicted = nullptr;
    while (oldest != nullptr && (bytes_kept > bytes || ranges > count)) {
        range* const victim = oldest;
        unlink(victim);
        victim->next = evicted;
        evicted = victim;
    }
    return evicted;
}

void destroy_all(range* evicted) noexcept {
    while (evicted != nullptr) {
        range* const following = evicted->next;
        evicted->next = nullptr;
        destroy(evicted);
        evicted = following;
    }
}

}  // namespace

range* take_from_cache(std::size_t bytes, const commit_policy& policy) noexcept {
    const registry_guard guard;
    std::size_t younger = hardened() ? ranges_between : 0;
    for (range* each = newest; each != nullptr; each = each->next) {
        if (younger != 0) {
            --younger;
            continue;
        }
        if (each->reserved != bytes || !(each->policy == policy)) continue;
        unlink(each);
        make_live(each);
        return each;
    }
    return nullptr;
}

bool give_to_cache(range* control) noexcept {
    const std::size_t room = present_limit();
    if (room == 0) return false;
    // Older ranges give way to this one, but it alone must fit.
    if (control->high > room) cut_memory(control, room / page_size() * page_size());
    if (control->high > room) return false;    // the system would not take its memory back
    range* evicted;
    {
        const registry_guard guard;
        const std::size_t allowed = limit.load(std::memory_order_relaxed);
        if (allowed == 0 || control->high > allowed) return false;
        evicted = evict_down_to(allowed - control->high, most_ranges - 1);
        end_life(control, range_state::cached);
        link(control);
    }
    destroy_all(evicted);
    return true;
}

}}}  // namespace headroom::detail

namespace headroom { inline namespace v0_1 {

void set_cache_limit(std::size_t bytes) noexcept {
    detail::range* evicted;
    {
        const detail::registry_guard guard;
        detail::limit.store(std::min(bytes, detail::nobody_said - 1), std::memory_order_relaxed);
        evicted = detail::evict_down_to(bytes, bytes == 0 ? 0 : detail::most_ranges);
    }
    detail::destroy_all(evicted);
}

std::size_t cache_limit() noexcept { return detail::present_limit(); }

std::size_t cached_bytes() noexcept {
    const detail::registry_guard guard;
    return detail::bytes_kept;
}

void trim_cache() noexcept {
    detail::range* evicted;
    {
        const detail::registry_guard guard;
        evicted = detail::evict_down_to(0, 0);
    }
    detail::destroy_all(evicted);
}

}}  // namespace headroom
