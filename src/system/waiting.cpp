#include "system/waiting.hpp"

#include <atomic>

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// No lock, for a child would need it free. A thread that fills or empties a place has it in hand meanwhile. (One that another thread
// had in hand when the process forked is lost to the child.)
constexpr std::size_t in_hand = 1;
struct waiting_place {
    std::atomic<std::size_t> bytes{0};    // of the mapping that waits here; 0: the place is free
    std::byte* data = nullptr;
};
constinit waiting_place waiting[64]{};

// Removes and returns one of the mappings that wait; empty when there is none.
page_range take_one() noexcept {
    for (waiting_place& place : waiting) {
        std::size_t bytes = place.bytes.load(std::memory_order_relaxed);
        if (bytes <= in_hand || !place.bytes.compare_exchange_strong(bytes, in_hand, std::memory_order_acquire)) continue;
        const page_range taken{place.data, bytes};
        place.bytes.store(0, std::memory_order_release);
        return taken;
    }
    return {};
}

void let_wait(page_range mapping) noexcept {
    for (waiting_place& place : waiting) {
        std::size_t bytes = 0;
        if (!place.bytes.compare_exchange_strong(bytes, in_hand, std::memory_order_acquire)) continue;
        place.data = mapping.data;
        place.bytes.store(mapping.bytes, std::memory_order_release);
        return;
    }
}

}    // namespace

void release_surely(page_range mapping) noexcept {
    // One given back may be all that the next one lacked.
    for (; mapping.data != nullptr; mapping = take_one()) {
        if (release(mapping) && release(mapping)) return let_wait(mapping);
    }
}

void retry_releases() noexcept { release_surely(take_one()); }

}}}    // namespace headroom::detail
