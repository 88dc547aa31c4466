#include "range/quarantine.hpp"

#include <atomic>
#include <mutex>
#include <utility>

#include <headroom/detail/hardened.hpp>

#include "range/cache.hpp"
#include "range/registry.hpp"
#include "system/platform.hpp"
#include "system/waiting.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Under the registry's lock: the quarantined mappings, the one to go next at `next_place`. Each is a mapping of the system's and
// some gigabytes of addresses, but no memory.
constexpr std::size_t quarantined_most = 32;
constinit page_range quarantined[quarantined_most]{};
constinit std::size_t next_place = 0;

void quarantine(page_range mapping) noexcept {
    // Unmapped at once where its pages cannot be made inaccessible, and while this code is being unloaded, after which nobody would.
    if (is_being_unloaded() || decommit(mapping)) {
        release_surely(mapping);
        return;
    }
    page_range leaving;
    {
        const std::lock_guard guard(registry_mutex);
        leaving = std::exchange(quarantined[next_place], mapping);
        next_place = (next_place + 1) % quarantined_most;
    }
    if (leaving.data != nullptr) release_surely(leaving);
}

void empty_quarantine() noexcept {
    for (page_range& each : quarantined) {
        page_range leaving;
        {
            const std::lock_guard guard(registry_mutex);
            leaving = std::exchange(each, page_range{});
        }
        if (leaving.data != nullptr) release_surely(leaving);
    }
}

}    // namespace

extern constinit const hardening quarantining{quarantine, empty_quarantine};

bool harden_ranges() noexcept {
    hardening_in_force.store(&quarantining, std::memory_order_relaxed);
    close_all_slots();    // what lies there can be read
    return true;
}

}}}    // namespace headroom::detail
