// The sizes in which a multipool hands out memory.
//
// Up to 128 bytes in steps of 8, so that a list node of 24 bytes takes 24; above, eight steps to each doubling, so that at
// most an eighth of a block is unused. Every step is a power of two, so a size that
// was rounded up to an alignment lands in a bin whose size is a multiple of that alignment.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <headroom/detail/memory/poison.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

inline constexpr std::size_t block_step = 8;              // bytes
inline constexpr std::size_t fine_bin_count = 16;         // 8, 16, ... 128
inline constexpr std::size_t short_bin_count = 56;        // up to max_short_bytes
inline constexpr std::size_t bin_count = 88;              // and 4608, 5120, ... max_pooled_bytes
inline constexpr std::size_t max_short_bytes = 4096;      // bytes: what the fast paths serve
inline constexpr std::size_t max_pooled_bytes = 65536;    // bytes

inline constexpr std::size_t pool_page_bytes = 4096;    // bytes; the system's may be larger

// Unused bytes before a block, where there is room. Blocks whose size is a multiple of a kilobyte would begin in few sets
// of the processor's cache: 256 of 4 KiB in one. A line between them, and their beginnings are spread over all.
HEADROOM_ALWAYS_INLINE constexpr std::size_t gap_before(std::size_t size) noexcept { return size % 1024 == 0 ? 64 : 0; }

// Smallest block with a slab of its own. Over a named upstream such blocks bypass the bins and take page runs of their exact length.
inline constexpr std::size_t min_dedicated_slab_bytes = 16384;

// What there is to know of the blocks of one bin, and of the slabs that they are cut from.
struct bin_shape {
    std::uint32_t bytes;     // of a block
    std::uint16_t gap;       // before a block
    std::uint16_t blocks;    // in a slab
    std::uint16_t first;     // of those that are cut at first
    std::uint16_t pages;     // of a slab
};

inline constexpr std::array<bin_shape, bin_count> bin_shapes = [] {
    std::array<bin_shape, bin_count> table{};
    std::size_t bytes = 0;
    for (bin_shape& each : table) {
        bytes += bytes < 128 ? block_step : std::bit_floor(bytes) / 8;
        const std::size_t gap = detail::gap_before(bytes);
        // The nodes of containers get one page at a time; larger blocks slabs of which they leave little over; and from 16 KiB on each
        // has pages of its own.
        std::size_t pages = bytes <= 128                       ? 1
                            : bytes <= 512                     ? 4
                            : bytes <= 1024                    ? 8
                            : bytes < min_dedicated_slab_bytes ? 16
                                                               : bytes / pool_page_bytes + 1;
        if (bytes > max_short_bytes && bytes < min_dedicated_slab_bytes) {
            const auto left_over = [&](std::size_t of) { return of * pool_page_bytes % (bytes + gap) * 64 / of; };
            for (std::size_t fewer = pages - 1; fewer >= 8; --fewer) {
                if (left_over(fewer) < left_over(pages)) pages = fewer;
            }
        }
        each.bytes = static_cast<std::uint32_t>(bytes);
        each.gap = static_cast<std::uint16_t>(gap);
        each.blocks = static_cast<std::uint16_t>(pages * pool_page_bytes / (bytes + gap));
        each.first = static_cast<std::uint16_t>(bytes < pool_page_bytes ? pool_page_bytes / bytes : 1);
        each.pages = static_cast<std::uint16_t>(pages);
    }
    return table;
}();

inline constexpr std::size_t max_shared_slab_bytes = min_dedicated_slab_bytes - min_dedicated_slab_bytes / 2 / 8;

// Size of the blocks in bin `index`, in bytes.
constexpr std::size_t bin_bytes(std::size_t index) noexcept { return bin_shapes[index].bytes; }
constexpr std::size_t slab_pages(std::size_t index) noexcept { return bin_shapes[index].pages; }

// How blocks of that size are aligned. (More takes more; see multipool_resource::uses_page_runs.)
inline constexpr std::size_t fine_alignment = 2 * block_step;
constexpr std::size_t alignment_of(std::size_t size) noexcept { return size % fine_alignment == 0 ? fine_alignment : block_step; }

// A free block holds the address of the next one, and nothing else: a block in use belongs to its user altogether.
struct free_block {
    free_block* next;
};

HEADROOM_SEES_POISONED free_block* next_of(const free_block* block) noexcept { return block->next; }
HEADROOM_SEES_POISONED void link(free_block* block, void* next) noexcept { block->next = static_cast<free_block*>(next); }

// The free blocks of one size, first in, first out: what was allocated in a row and freed in a row is handed out in a row
// again, so a list that is popped and pushed for hours keeps running through memory in order. (The usual stack scrambles
// it: reading such a list afterwards took 2.5 times as long here.)
//
// Zero: not in use yet. Empty: both point to `before`. The fast path of an allocation takes a block only while another
// stays behind, so that it need not set `last` back.
struct bin_queue {
    free_block before;    // its `next` is the first free block
    free_block* last;

    void clear() noexcept { before.next = last = &before; }
    [[nodiscard]] bool empty() const noexcept { return last == nullptr || last == &before; }
    // Precondition for the others: not zero.
    void push(void* block) noexcept {
        detail::link(last, block);
        last = static_cast<free_block*>(block);
    }
    // All blocks of another, which is not empty, and whose blocks these are then.
    void push_all(const bin_queue& other) noexcept {
        detail::link(last, other.before.next);
        last = other.last;
    }
    // The first `most` blocks of another, or all; returns how many those are. O(that many).
    std::uint32_t pop_up_to(bin_queue& other, std::uint32_t most) noexcept {
        if (most == 0 || other.last == &other.before) return 0;
        free_block* const first = other.before.next;
        free_block* end = first;
        std::uint32_t count = 1;
        for (; end != other.last && count < most; ++count) end = detail::next_of(end);
        if (end == other.last) {
            other.clear();
        } else {
            other.before.next = detail::next_of(end);
        }
        detail::link(last, first);
        last = end;
        return count;
    }
    // All blocks, as a list whose last link is null; null: there is none.
    free_block* pop_all() noexcept {
        if (empty()) return nullptr;
        free_block* const first = before.next;
        detail::link(last, nullptr);
        clear();
        return first;
    }
    // O(blocks).
    [[nodiscard]] std::size_t count() const noexcept {
        if (empty()) return 0;
        std::size_t result = 1;
        for (const free_block* block = before.next; block != last; block = detail::next_of(block)) ++result;
        return result;
    }
    // The first block; null when there is none.
    void* pop() noexcept {
        if (last == &before) return nullptr;
        free_block* const block = before.next;
        if (block == last) {
            clear();
        } else {
            before.next = detail::next_of(block);
        }
        return block;
    }
};

// The queue of a multipool's size: it counts what comes back, to put it in order now and then (see slabs.hpp).
struct bin : bin_queue {
    std::int32_t frees_until_sort;    // how many blocks may come back before that; 0: not in use yet
    std::uint32_t unslabbed;          // how many blocks were cut from no slab
};

// One less than the size rounded up to the alignment; zero bytes wrap to a large number. (The bins are block_step apart, so
// where less alignment is asked for, as for nodes and characters, there is nothing to round.)
HEADROOM_ALWAYS_INLINE constexpr std::size_t size_minus_one(std::size_t bytes, std::size_t alignment) noexcept {
    if (HEADROOM_IS_CONSTANT(alignment) && alignment - 1 < block_step) return bytes - 1;
    return (bytes - 1) | (alignment - 1);
}

// bin_offset[(bytes - 1) / block_step] for 1 <= bytes <= max_short_bytes: where in an array the size's bin lies, in bytes.
// (An index would cost a shift at each allocation.)
inline constexpr auto bin_offset = [] {
    std::array<std::uint16_t, max_short_bytes / block_step> table{};
    std::size_t index = 0;
    for (std::size_t slot = 0; slot < table.size(); ++slot) {
        while (detail::bin_bytes(index) < (slot + 1) * block_step) ++index;
        table[slot] = static_cast<std::uint16_t>(index * sizeof(bin));
    }
    return table;
}();

// The bin of a size from max_short_bytes + 1 to max_pooled_bytes. (No division: it would take longer than the rest of an allocation.)
HEADROOM_ALWAYS_INLINE constexpr std::size_t medium_index(std::size_t bytes) noexcept {
    const std::size_t octave = static_cast<unsigned>(std::bit_width((bytes - 1) / max_short_bytes)) - 1U;
    return short_bin_count + octave * 8 + ((bytes - 1) / (max_short_bytes / 8) >> octave) - 8;
}

// The bin of any size from 1 to max_pooled_bytes.
constexpr std::size_t bin_of(std::size_t bytes) noexcept {
    return bytes <= max_short_bytes ? bin_offset[(bytes - 1) / block_step] / sizeof(bin) : detail::medium_index(bytes);
}

static_assert(detail::bin_bytes(short_bin_count - 1) == max_short_bytes && detail::bin_bytes(bin_count - 1) == max_pooled_bytes);
static_assert([] {
    for (std::size_t index = 0; index < bin_count; ++index) {
        if (detail::bin_of(detail::bin_bytes(index)) != index) return false;
        if (index > 0 && detail::bin_of(detail::bin_bytes(index - 1) + 1) != index) return false;
    }
    return true;
}());

}}}    // namespace headroom::detail
