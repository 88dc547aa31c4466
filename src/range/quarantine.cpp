// SPDX-License-Identifier: MIT
// Quarantine of address ranges: implements quarantine.hpp.
#include "range/quarantine.hpp"

#include <atomic>
#include <mutex>
#include <utility>

#include <headroom/detail/hardened.hpp>

#include "range/cache.hpp"
#include "range/registry.hpp"
#include "system/platform.hpp"
#include "system/unmap_queue.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Quarantined mappings, the oldest at `next_place`: each takes a mapping and addresses, no memory. Under the registry's lock.
constexpr std::size_t max_quarantined = 32;
constinit page_range quarantined[max_quarantined]{};
constinit std::size_t next_place = 0;

}    // namespace

#if defined(HEADROOM_HARDENED)
constinit std::atomic<bool> ranges_hardened{true};
#else
constinit std::atomic<bool> ranges_hardened{false};
#endif

void quarantine_or_release(page_range mapping) noexcept {
    // Unmaps at once if decommitting fails, and while this code is being unloaded, because nothing would unmap it later.
    if (!hardened() || module_is_unloading() || decommit(mapping)) return unmap_or_queue(mapping);
    page_range leaving;
    {
        const registry_lock guard;
        leaving = std::exchange(quarantined[next_place], mapping);
        next_place = (next_place + 1) % max_quarantined;
    }
    unmap_or_queue(leaving);    // empty at first
}

void empty_quarantine() noexcept {
    for (page_range& each : quarantined) {
        page_range leaving;
        {
            const registry_lock guard;
            leaving = std::exchange(each, page_range{});
        }
        unmap_or_queue(leaving);
    }
}

bool harden_ranges() noexcept {
    ranges_hardened.store(true, std::memory_order_relaxed);
    invalidate_all_slots();    // memory in slots is readable
    return true;
}

}}}    // namespace headroom::detail
