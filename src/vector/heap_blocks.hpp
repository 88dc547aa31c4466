// SPDX-License-Identifier: MIT
// Heap blocks of vectors, and the block sizes of the process's malloc.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/detail/vector/block_layout.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Sizes of a known malloc's blocks: the smallest, and the step to larger ones. They are glibc's, except for old 32-bit versions: chunks of
// 16 bytes, at least two of them in 64 bits, less a word of header. The last one is of any other malloc.
inline constexpr std::size_t heap_step = 16;    // bytes
inline constexpr std::size_t min_heap_block = sizeof(void*) == 8 ? 24 : 12;
inline constexpr std::size_t min_unknown_block = 8;

// Returns the usable bytes of the known malloc's block for `bytes`.
[[nodiscard]] constexpr std::size_t heap_block_bytes(std::size_t bytes) noexcept {
    constexpr std::size_t least = min_heap_block;
    return bytes <= least ? least : least + (bytes - least + (heap_step - 1)) / heap_step * heap_step;
}

enum class heap_kind : std::uint32_t { not_detected, known, unknown };
extern std::atomic<heap_kind> kind_of_heap;

// Returns and stores `known` if four small blocks have the known malloc's sizes, otherwise `unknown`. Thread-safe.
heap_kind detect_heap() noexcept;

// True if this process has the known malloc. Thread-safe.
[[nodiscard]] inline bool heap_is_known() noexcept {
    heap_kind kind = kind_of_heap.load(std::memory_order_relaxed);
    if (kind == heap_kind::not_detected) [[unlikely]]
        kind = detect_heap();
    return kind == heap_kind::known;
}

// Smallest heap block that must pass try_admit(): larger ones replace ranges.
inline constexpr std::size_t min_checked_heap_block = std::size_t{1} << 20;
// Allocates a block of the layout's heap. Null if that or try_admit() refuses.
[[nodiscard]] void* allocate_heap_block(const block_layout& layout, std::size_t bytes) noexcept;
// The same for memory that was admitted.
[[nodiscard]] void* allocate_admitted_heap_block(const block_layout& layout, std::size_t bytes) noexcept;
// True if blocks of so many bytes come from malloc without further ado.
[[nodiscard]] inline bool is_plain_block(const block_layout& layout, std::size_t bytes) noexcept {
    return layout.heap == nullptr && bytes < layout.min_mapped_bytes && bytes < min_checked_heap_block;
}
void free_heap_block(const block_layout& layout, void* begin) noexcept;

}}}    // namespace headroom::detail
