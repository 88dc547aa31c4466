// SPDX-License-Identifier: MIT
// Queue of mappings to unmap: implements unmap_queue.hpp.
#include "system/unmap_queue.hpp"

#include <atomic>

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Lock-free, so that a forked child needs no lock. A thread that fills or empties a slot marks it busy; a slot that was busy in another
// thread at a fork is lost to the child.
constexpr std::size_t busy = 1;
struct queue_slot {
    std::atomic<std::size_t> bytes{0};    // size of the queued mapping; 0: the slot is free
    std::byte* data = nullptr;
};
constinit queue_slot queue[64]{};

// Removes and returns one queued mapping; empty if there is none.
page_range pop() noexcept {
    for (queue_slot& place : queue) {
        std::size_t bytes = place.bytes.load(std::memory_order_relaxed);
        if (bytes <= busy || !place.bytes.compare_exchange_strong(bytes, busy, std::memory_order_acquire)) continue;
        const page_range taken{place.data, bytes};
        place.bytes.store(0, std::memory_order_release);
        return taken;
    }
    return {};
}

// Queues a mapping that the system refused to unmap. If all slots are taken, its addresses are lost.
void queue_refused_unmap(page_range mapping) noexcept {
    for (queue_slot& place : queue) {
        std::size_t bytes = 0;
        if (!place.bytes.compare_exchange_strong(bytes, busy, std::memory_order_acquire)) continue;
        place.data = mapping.data;
        place.bytes.store(mapping.bytes, std::memory_order_release);
        return;
    }
}

}    // namespace

void unmap_or_queue(page_range mapping) noexcept {
    // Unmapping one may make the next possible.
    for (; mapping.data != nullptr; mapping = pop()) {
        if (release(mapping) && release(mapping)) return queue_refused_unmap(mapping);
    }
}

void retry_unmaps() noexcept { unmap_or_queue(pop()); }

}}}    // namespace headroom::detail
