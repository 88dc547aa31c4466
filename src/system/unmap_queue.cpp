#include "system/unmap_queue.hpp"

#include <atomic>

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// No lock, for a child would need it free. A thread that fills or empties a place has it in hand meanwhile. (One that another thread
// had in hand when the process forked is lost to the child.)
constexpr std::size_t busy = 1;
struct queue_slot {
    std::atomic<std::size_t> bytes{0};    // of the mapping that waits here; 0: the place is free
    std::byte* data = nullptr;
};
constinit queue_slot queue[64]{};

// Removes and returns one of the mappings that wait; empty when there is none.
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

void queue_unmap(page_range mapping) noexcept {
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
    // One given back may be all that the next one lacked.
    for (; mapping.data != nullptr; mapping = pop()) {
        if (release(mapping) && release(mapping)) return queue_unmap(mapping);
    }
}

void retry_unmaps() noexcept { unmap_or_queue(pop()); }

}}}    // namespace headroom::detail
