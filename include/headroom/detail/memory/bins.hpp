// SPDX-License-Identifier: MIT
// Size classes (bins) of a multipool: up to 128 bytes in steps of 8, so that a list node of 24 bytes takes 24; above, eight steps to each
// doubling, so that at most an eighth of a block is unused. Steps are powers of two: sizes rounded up to an alignment get aligned blocks.
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
inline constexpr std::size_t max_short_bytes = 4096;      // served by the fast paths
inline constexpr std::size_t max_pooled_bytes = 65536;    // bytes

inline constexpr std::size_t pool_page_bytes = 4096;    // the system's may be larger

// A bin by its number, from 0 for the smallest size; and by its offset in a bin_array, in bytes, with which the fast paths save a shift.
enum class bin_index : std::size_t {};
enum class bin_offset : std::size_t {};
constexpr bin_index& operator++(bin_index& index) noexcept { return index = bin_index{static_cast<std::size_t>(index) + 1}; }

inline constexpr bin_index first_coarse_bin{fine_bin_count};     // above 128 bytes
inline constexpr bin_index first_medium_bin{short_bin_count};    // above max_short_bytes
inline constexpr bin_index end_bin{bin_count};                   // behind the last one

inline constexpr std::size_t bin_stride = 2 * sizeof(void*) + 8;    // bytes of an element that a bin_offset finds

// An element for each bin.
template <class T, std::size_t Count = bin_count>
struct bin_array : std::array<T, Count> {
    HEADROOM_ALWAYS_INLINE constexpr T& operator[](bin_index index) noexcept {
        return this->data()[static_cast<std::size_t>(index)];
    }
    HEADROOM_ALWAYS_INLINE constexpr const T& operator[](bin_index index) const noexcept {
        return this->data()[static_cast<std::size_t>(index)];
    }
    HEADROOM_ALWAYS_INLINE T& operator[](bin_offset offset) noexcept {
        static_assert(sizeof(T) == bin_stride);
        return *reinterpret_cast<T*>(reinterpret_cast<std::byte*>(this->data()) + static_cast<std::size_t>(offset));
    }
};
HEADROOM_ALWAYS_INLINE constexpr bin_index index_of(bin_offset offset) noexcept {
    return bin_index{static_cast<std::size_t>(offset) / bin_stride};
}
HEADROOM_ALWAYS_INLINE constexpr bin_offset offset_of(bin_index index) noexcept {
    return bin_offset{static_cast<std::size_t>(index) * bin_stride};
}

// Returns the unused bytes before a block. Blocks of whole kilobytes would begin in few sets of the processor's cache: 256 of 4 KiB in
// one. A cache line between them spreads their beginnings over all sets.
HEADROOM_ALWAYS_INLINE constexpr std::size_t gap_before(std::size_t size) noexcept { return size % 1024 == 0 ? 64 : 0; }

// Smallest block with a slab of its own. Where chunks are no reservations such blocks
// bypass the bins and take page runs of their exact length (see multipool_resource::bypasses_bins()).
inline constexpr std::size_t min_dedicated_slab_bytes = 16384;

// Sizes of one bin: of its blocks, and of the slabs that they are carved from.
struct bin_shape {
    std::uint32_t bytes;     // of a block
    std::uint16_t gap;       // before a block
    std::uint16_t blocks;    // in a slab
    std::uint16_t first;     // blocks carved at first
    std::uint16_t pages;     // of a slab
    std::uint16_t least;     // of a small slab, see slab_pool::use_small_slabs()
};

inline constexpr bin_array<bin_shape> bin_shapes = [] {
    bin_array<bin_shape> table{};
    std::size_t bytes = 0;
    for (bin_shape& each : table) {
        bytes += bytes < 128 ? block_step : std::bit_floor(bytes) / 8;
        const std::size_t gap = detail::gap_before(bytes);
        // One page for the nodes of containers; for larger blocks as many pages as leave little over; from 16 KiB on pages for one block.
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
        // As few pages as leave at most a quarter over.
        std::size_t least = 1;
        while (least < pages && least * pool_page_bytes / (bytes + gap) * (bytes + gap) * 4 < least * pool_page_bytes * 3)
            ++least;
        each.least = static_cast<std::uint16_t>(least);
    }
    return table;
}();

inline constexpr std::size_t max_shared_slab_bytes = min_dedicated_slab_bytes - min_dedicated_slab_bytes / 2 / 8;

// Returns the bytes of a block of the bin.
HEADROOM_ALWAYS_INLINE constexpr std::size_t bin_bytes(bin_index index) noexcept { return bin_shapes[index].bytes; }
HEADROOM_ALWAYS_INLINE constexpr std::size_t bin_bytes(bin_offset offset) noexcept {
    return detail::bin_bytes(detail::index_of(offset));
}
// Returns the pages of the bin's largest slabs, of its first small one, and of one block, which the smallest slab has.
constexpr std::size_t max_slab_pages(bin_index index) noexcept { return bin_shapes[index].pages; }
constexpr std::size_t min_slab_pages(bin_index index) noexcept { return bin_shapes[index].least; }
constexpr std::size_t pages_of_block(bin_index index) noexcept {
    return (detail::bin_bytes(index) + pool_page_bytes - 1) / pool_page_bytes;
}

inline constexpr std::size_t fine_alignment = 2 * block_step;
// Returns the alignment of the blocks of a bin of `size` bytes. Larger alignments: see multipool_resource::uses_page_runs().
constexpr std::size_t alignment_of(std::size_t size) noexcept { return size % fine_alignment == 0 ? fine_alignment : block_step; }

// A free block: holds the address of the next one. A block in use holds nothing of ours.
struct free_block {
    free_block* next;
};

HEADROOM_SEES_POISONED free_block* next_of(const free_block* block) noexcept { return block->next; }
HEADROOM_SEES_POISONED void link(free_block* block, void* next) noexcept { block->next = static_cast<free_block*>(next); }

// FIFO queue of the free blocks of one size. Blocks that were allocated and freed in a row are allocated in a row again, so a list that is
// pushed and popped for hours keeps running through memory in order. A stack scrambles it: reading such a list took 2.5 times as long.
//
// Zero-initialised: not active yet. Empty: `last` is `before`. Fast paths pop only if another block stays, so `last` need not change.
struct bin_queue {
    free_block before;    // its `next` is the first free block
    free_block* last;

    // Makes the queue empty and active. Precondition of all functions but this one, empty(), pop_all() and count(): it is active.
    void clear() noexcept { before.next = last = &before; }
    [[nodiscard]] bool empty() const noexcept { return last == nullptr || last == &before; }
    void push(void* block) noexcept {
        detail::link(last, block);
        last = static_cast<free_block*>(block);
    }
    // Appends all blocks of `other`. Preconditions: it is not empty, and not used again before clear().
    void push_all(const bin_queue& other) noexcept {
        detail::link(last, other.before.next);
        last = other.last;
    }
    // Moves the first `most` blocks of `other`, or all if it has fewer, to the end of this queue. Returns their number. O(blocks moved).
    std::uint32_t append_up_to(bin_queue& other, std::uint32_t most) noexcept {
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
    // Removes all blocks and returns them as a null-terminated list; null if there are none.
    free_block* pop_all() noexcept {
        if (empty()) return nullptr;
        free_block* const first = before.next;
        detail::link(last, nullptr);
        clear();
        return first;
    }
    // Returns the number of blocks. O(blocks).
    [[nodiscard]] std::size_t count() const noexcept {
        if (empty()) return 0;
        std::size_t result = 1;
        for (const free_block* block = before.next; block != last; block = detail::next_of(block)) ++result;
        return result;
    }
    // Removes and returns the first block; null if there is none.
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

// Queue of a multipool's bin. Counts frees, so that freed blocks are returned to their slabs from time to time (slabs.hpp).
struct bin : bin_queue {
    std::int32_t frees_until_flush;    // frees until then; 0 while the bin is not active
    std::uint32_t chunk_blocks;        // blocks carved from chunks, not slabs: in use and free
};
static_assert(sizeof(bin) == bin_stride);

// Returns the size rounded up to the alignment, minus one; zero bytes wrap to a large number. Does not round to a constant alignment below
// block_step, as of nodes and characters: bins are multiples of that.
HEADROOM_ALWAYS_INLINE constexpr std::size_t size_minus_one(std::size_t bytes, std::size_t alignment) noexcept {
    if (HEADROOM_IS_CONSTANT(alignment) && alignment - 1 < block_step) return bytes - 1;
    return (bytes - 1) | (alignment - 1);
}

inline constexpr auto short_bin_offsets = [] {
    std::array<std::uint16_t, max_short_bytes / block_step> table{};
    bin_index index{};
    for (std::size_t slot = 0; slot < table.size(); ++slot) {
        while (detail::bin_bytes(index) < (slot + 1) * block_step) ++index;
        table[slot] = static_cast<std::uint16_t>(detail::offset_of(index));
    }
    return table;
}();
// Returns the bin for `last` + 1 bytes, 1 to max_short_bytes.
HEADROOM_ALWAYS_INLINE constexpr bin_offset short_bin_of(std::size_t last) noexcept {
    return bin_offset{short_bin_offsets[last / block_step]};
}

// Returns the bin for a size from max_short_bytes + 1 to max_pooled_bytes. A division would take longer than the rest.
HEADROOM_ALWAYS_INLINE constexpr bin_index medium_bin_of(std::size_t bytes) noexcept {
    const std::size_t octave = static_cast<unsigned>(std::bit_width((bytes - 1) / max_short_bytes)) - 1U;
    return bin_index{short_bin_count + octave * 8 + ((bytes - 1) / (max_short_bytes / 8) >> octave) - 8};
}

// Returns the bin for a size from 1 to max_pooled_bytes.
constexpr bin_index bin_of(std::size_t bytes) noexcept {
    return bytes <= max_short_bytes ? detail::index_of(detail::short_bin_of(bytes - 1)) : detail::medium_bin_of(bytes);
}

static_assert(detail::bin_bytes(bin_index{short_bin_count - 1}) == max_short_bytes);
static_assert(detail::bin_bytes(bin_index{bin_count - 1}) == max_pooled_bytes);
static_assert([] {
    std::size_t before = 0;    // bytes of the bin before
    for (bin_index index{}; index < end_bin; ++index) {
        if (detail::bin_of(before + 1) != index || detail::bin_of(detail::bin_bytes(index)) != index) return false;
        before = detail::bin_bytes(index);
    }
    return true;
}());

}}}    // namespace headroom::detail
