#include "range/quarantine.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <headroom/detail/hardened.hpp>

#include "range/own_slots.hpp"
#include "range/registry.hpp"
#include "system/waiting.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

#if defined(HEADROOM_HARDENED)
constinit std::atomic<bool> is_hardened{true};
#else
constinit std::atomic<bool> is_hardened{false};
#endif

// Under the registry's lock: the quarantined mappings, the one to go next at `next_place`. Each is a mapping of the system's and
// some gigabytes of addresses, but no memory.
constexpr std::size_t quarantined_most = 32;
constinit page_range quarantined[quarantined_most]{};
constinit std::size_t next_place = 0;

}    // namespace

bool hardened() noexcept { return is_hardened.load(std::memory_order_relaxed); }

bool harden_ranges() noexcept {
    is_hardened.store(true, std::memory_order_relaxed);
    close_own_slots();
    return true;
}

void quarantine(page_range mapping) noexcept {
    // What stays accessible would not be in quarantine.
    if (decommit(mapping)) {
        release_surely(mapping);
        return;
    }
    page_range leaving;
    {
        const registry_guard guard;
        leaving = std::exchange(quarantined[next_place], mapping);
        next_place = (next_place + 1) % quarantined_most;
    }
    if (leaving.data != nullptr) release_surely(leaving);
}

void empty_quarantine() noexcept {
    for (page_range& each : quarantined) {
        page_range leaving;
        {
            const registry_guard guard;
            leaving = std::exchange(each, page_range{});
        }
        if (leaving.data != nullptr) release_surely(leaving);
    }
}

void fail_container(const char* container, const void* data, misuse what, const char* operation, std::size_t value,
                    std::size_t size) noexcept {
    char name[80] = "";
    try {
        if (const auto owner = owner_of(data); owner && !owner->name.empty()) {
            std::snprintf(name, sizeof name, " \"%s\"", owner->name.c_str());
        }
    } catch (...) {    // no memory for the name: the message does without it
    }
    std::fprintf(stderr, "headroom: %s%s of %zu elements at %p: %s", container, name, size, data, operation);
    switch (what) {
        case misuse::past_the_end: std::fprintf(stderr, " of index %zu: there is no such element\n", value); break;
        case misuse::empty: std::fprintf(stderr, " of an empty container\n"); break;
        case misuse::no_position: std::fprintf(stderr, " at %#zx, which is no position in it\n", value); break;
        case misuse::backwards: std::fprintf(stderr, " of a range that ends before it begins\n"); break;
        case misuse::no_room: std::fprintf(stderr, " past the capacity\n"); break;
        case misuse::too_many: std::fprintf(stderr, " was told to keep %zu elements, more than it had given\n", value); break;
        case misuse::appenders_left: std::fprintf(stderr, " while %zu appenders still use it\n", value); break;
        case misuse::allocators_differ: std::fprintf(stderr, " with one of another allocator that does not swap along\n"); break;
    }
    std::abort();
}

}}}    // namespace headroom::detail
