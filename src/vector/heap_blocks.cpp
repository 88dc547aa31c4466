// SPDX-License-Identifier: MIT
// Implements heap_blocks.hpp. Detects the process's malloc.
#include "vector/heap_blocks.hpp"

#include <cstdlib>
#include <initializer_list>

#include <headroom/detail/range/admitting.hpp>

#include "system/usable_bytes.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// True if malloc's block for `bytes` has the size that heap_block_bytes() returns.
bool block_has_known_size(std::size_t bytes) noexcept {
    // About one block in a hundred begins at a page, where usable_bytes() is not allowed: takes a second one then.
    void* const first = std::malloc(bytes);
    void* const second = begins_within_a_page(first) ? nullptr : std::malloc(bytes);
    void* const asked = second == nullptr ? first : second;
    const std::size_t usable = begins_within_a_page(asked) ? usable_bytes(asked) : 0;
    std::free(second);
    std::free(first);
    return usable == heap_block_bytes(bytes);
}

}    // namespace

constinit std::atomic<heap_kind> kind_of_heap{heap_kind::not_detected};

heap_kind detect_heap() noexcept {
    // Set first, because malloc itself may come here meanwhile.
    kind_of_heap.store(heap_kind::unknown, std::memory_order_relaxed);
    constexpr std::size_t least = min_heap_block;
    for (const std::size_t bytes : {std::size_t{1}, least + 1, least + heap_step, least + heap_step + 1}) {
        if (!block_has_known_size(bytes)) return heap_kind::unknown;
    }
    kind_of_heap.store(heap_kind::known, std::memory_order_relaxed);
    return heap_kind::known;
}

void* allocate_heap_block(const block_layout& layout, std::size_t bytes) noexcept {
    return bytes >= min_checked_heap_block && !try_admit(bytes) ? nullptr : allocate_admitted_heap_block(layout, bytes);
}

void* allocate_admitted_heap_block(const block_layout& layout, std::size_t bytes) noexcept {
    return layout.heap == nullptr ? std::malloc(bytes) : layout.heap->allocate_bytes(bytes);
}

void free_heap_block(const block_layout& layout, void* begin) noexcept {
    layout.heap == nullptr ? std::free(begin) : layout.heap->free_bytes(begin);
}

}}}    // namespace headroom::detail
