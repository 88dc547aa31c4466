// What blocks the heap of this process hands out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headroom { inline namespace v0_1 { namespace detail {

// The blocks of the malloc that is known: the smallest, and what the others are larger by. (glibc's, but for old ones of 32 bits:
// chunks of 16 bytes, at least two of them in 64 bits, less a word of header.)
inline constexpr std::size_t heap_step = 16;    // bytes
inline constexpr std::size_t min_heap_block = sizeof(void*) == 8 ? 24 : 12;

// The bytes of its block for `bytes`.
[[nodiscard]] constexpr std::size_t heap_block_bytes(std::size_t bytes) noexcept {
    constexpr std::size_t least = min_heap_block;
    return bytes <= least ? least : least + (bytes - least + (heap_step - 1)) / heap_step * heap_step;
}

enum class heap_kind : std::uint32_t { not_detected, known, unknown };
extern std::atomic<heap_kind> kind_of_heap;

// Asks malloc, by four small blocks: another one than the system's may have been preloaded or linked.
heap_kind detect_heap() noexcept;

// Whether this process has that malloc. Any thread may call it.
[[nodiscard]] inline bool heap_is_known() noexcept {
    heap_kind kind = kind_of_heap.load(std::memory_order_relaxed);
    if (kind == heap_kind::not_detected) [[unlikely]]
        kind = detect_heap();
    return kind == heap_kind::known;
}

}}}    // namespace headroom::detail
