#include "memory/heap_steps.hpp"

#include <cstdlib>

#include "system/usable_bytes.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

bool block_is_filled(std::size_t bytes) noexcept {
    void* const block = std::malloc(bytes);
    const std::size_t usable = block == nullptr ? 0 : usable_bytes(block);
    std::free(block);
    return usable == filled_block(bytes);
}

}    // namespace

constinit std::atomic<heap_kind> kind_of_heap{heap_kind::not_asked};

heap_kind ask_heap() noexcept {
    // A malloc that itself comes here meanwhile gets an answer, too.
    kind_of_heap.store(heap_kind::unknown, std::memory_order_relaxed);
    constexpr std::size_t least = known_least_block;
    for (const std::size_t bytes : {std::size_t{1}, least + 1, least + heap_step, least + heap_step + 1}) {
        if (!block_is_filled(bytes)) return heap_kind::unknown;
    }
    kind_of_heap.store(heap_kind::known, std::memory_order_relaxed);
    return heap_kind::known;
}

}}}    // namespace headroom::detail
