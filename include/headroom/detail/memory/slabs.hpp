// SPDX-License-Identifier: MIT
// Slabs of a multipool: the free blocks of its pools once it has grown beyond a few kilobytes.
//
// A slab is a run of pages carved into blocks of one size. Freed blocks return to their slabs, in any order, and are allocated from there
// in order of addresses. So a container built in memory that another one freed is as dense, and as much in order, as in fresh memory. In
// the order of their frees, the nodes of a hash table with a million elements were scattered over all of its memory: building the next one
// took three times as long. A slab whose blocks are all free becomes a free page run (page_runs.hpp).
//
// docs/design.md has the states of a free block. Blocks carved from the first small chunks are in no slab, and have a list of their own.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>    // max, min

#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/checks.hpp>
#include <headroom/detail/memory/memory_abi.hpp>
#include <headroom/detail/memory/multipool_statistics.hpp>
#include <headroom/detail/memory/page_runs.hpp>
#include <headroom/detail/memory/pieces.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {
inline namespace HEADROOM_MEMORY_ABI {

// The slabs of a multipool. Made with its first segment, in upstream's memory.
class slab_pool {
public:
    explicit slab_pool(std::pmr::memory_resource* upstream) noexcept : runs_(upstream) {}
    slab_pool(const slab_pool&) = delete;
    slab_pool& operator=(const slab_pool&) = delete;

    // Returns the page runs that slabs are made of. Other users mark their runs as used.
    [[nodiscard]] page_runs& runs() noexcept { return runs_; }
    [[nodiscard]] const page_runs& runs() const noexcept { return runs_; }

    // Forgets all blocks and slabs; keeps the segments, as free pages.
    void reset() noexcept {
        runs_.reset();
        sizes_ = {};
    }

    // Appends free blocks of bin `index` to the queue: deferred ones, those of no slab, or by refill_from_slab(). False if there are none.
    [[nodiscard]] bool refill(bin_queue& queue, bin_index index) noexcept {
        size_state& state = sizes_[index];
        if (!state.deferred.empty()) {
            (void)queue.append_up_to(state.deferred, refill_blocks);
            state.reused_deferred = true;
        } else if (!state.free_chunk_blocks.empty()) {
            (void)queue.append_up_to(state.free_chunk_blocks, refill_blocks);
        } else {
            return refill_from_slab(queue, index);
        }
        return true;
    }

    // Returns a block of a slab, and appends others to the queue. Null if there are neither slabs with free blocks nor free pages.
    void* pop_from_slab(bin_queue& queue, bin_index index) noexcept {
        bin_queue found;
        found.clear();
        if (!refill_from_slab(found, index)) return nullptr;
        void* const block = found.pop();
        if (!found.empty()) queue.push_all(found);
        return block;
    }

    // Makes slabs small from now on: memory is short, and each of many sizes opens a slab.
    void use_small_slabs() noexcept { small_slabs_ = true; }
    // Returns the pages of the bin's next slab. Of small slabs: as many as the bin has already, so that at most half of them is unused.
    [[nodiscard]] std::size_t next_slab_pages(bin_index index) const noexcept {
        const std::size_t most = detail::max_slab_pages(index);
        return small_slabs_ ? (std::min)((std::max)(std::size_t{sizes_[index].pages}, detail::min_slab_pages(index)), most)
                            : most;
    }
    // Frees the pages of slabs behind those that blocks were carved from. True if there were any. O(bins).
    bool free_uncarved_pages() noexcept {
        bool any = false;
        for (bin_index index{}; index < end_bin; ++index) any = end_current_slab(sizes_[index], index) || any;
        return any;
    }
    // Makes `count` pages a slab of the bin, to be carved next. Precondition: they were taken, a block fits, and the bin has no slab to be
    // carved.
    void open_slab(const page_run& pages, std::size_t count, bin_index index) noexcept {
        pages.of_->set_slab(pages.index(), count, index, pages.place() + first_block_offset(index, count, pages.index()));
        sizes_[index].current = pages;
        sizes_[index].pages += static_cast<std::uint32_t>(count);
    }
    [[nodiscard]] bool has_slabs(bin_index index) const noexcept { return sizes_[index].pages != 0; }

    // True if the bin has more than 16 slabs: more than the processor's first caches hold, so its freed blocks should go back to their
    // slabs, to be in order. Those of fewer slabs may stay in the bin's queue until empty slabs are needed.
    [[nodiscard]] bool has_many_slabs(bin_index index) const noexcept {
        return sizes_[index].pages > max_queued_slabs * bin_shapes[index].pages;
    }

    // Empties the queue: refill() takes its blocks first, or the next defer() returns them to their slabs. True if blocks were deferred
    // before and refill() took none of them. O(blocks deferred before). Precondition: the queue is not empty.
    bool defer(bin_queue& queue, bin_index index) noexcept {
        size_state& state = sizes_[index];
        free_block* const waited = state.deferred.pop_all();
        state.deferred.clear();
        state.deferred.push_all(queue);
        queue.clear();
        return_to_slabs(waited, index);
        return !std::exchange(state.reused_deferred, false) && waited != nullptr;
    }
    // Returns the bin's deferred blocks to their slabs. O(blocks).
    void return_deferred(bin_index index) noexcept { return_to_slabs(sizes_[index].deferred.pop_all(), index); }
    // Returns the bin's deferred blocks and those of its queue to their slabs. O(blocks).
    void return_to_slabs(bin_queue& queue, bin_index index) noexcept {
        return_deferred(index);
        return_to_slabs(queue.pop_all(), index);
    }
    // Returns a null-terminated list of free blocks to their slabs, those of no slab to free_chunk_blocks(). O(blocks).
    void return_to_slabs(free_block* block, bin_index index) noexcept {
        while (block != nullptr) {
            segment* const of = runs_.find(block).of_;
            if (of == nullptr) {
                bin_queue& free_chunk_blocks = sizes_[index].free_chunk_blocks;
                if (free_chunk_blocks.last == nullptr) free_chunk_blocks.clear();
                free_chunk_blocks.push(std::exchange(block, detail::next_of(block)));
            } else {
                block = detail::max_slab_pages(index) == 1 ? return_to_segment<false>(*of, block, index)
                                                           : return_to_segment<true>(*of, block, index);
            }
        }
    }

    // Returns the bin's free blocks of no slab, except those in its queue or deferred.
    [[nodiscard]] bin_queue& free_chunk_blocks(bin_index index) noexcept { return sizes_[index].free_chunk_blocks; }

    // Adds to each class its slabs, the blocks carved from them (as in use, also free ones) and the free blocks outside of queues.
    void add_counts(std::array<multipool_statistics::size_class, bin_count>& classes) const noexcept {
        for (const segment* const each : runs_) {
            each->for_each_run([&](std::size_t, std::size_t pages, const page_state& found) noexcept {
                if (!found.is_slab()) return;
                multipool_statistics::size_class& of = classes[static_cast<std::size_t>(found.bin())];
                ++of.slabs;
                of.slab_bytes += pages * pool_page_bytes;
                of.in_use += found.carved();
                of.free += found.free();
            });
        }
        for (bin_index index{}; index < end_bin; ++index) {
            classes[static_cast<std::size_t>(index)].free +=
                sizes_[index].deferred.count() + sizes_[index].free_chunk_blocks.count();
        }
    }

private:
    static constexpr std::uint32_t refill_blocks = 128;    // blocks moved to a queue at a time

    // State of one size.
    struct size_state {
        page_list with_free{};            // slabs with free blocks, in the order in which they got some
        page_run current{};               // slab that blocks are carved from; none if false
        bin_queue deferred{};             // freed blocks that refill() takes first
        bin_queue free_chunk_blocks{};    // free blocks of no slab
        std::uint32_t pages = 0;          // of its slabs
        bool reused_deferred = false;     // true if refill() took deferred blocks
    };

    // Returns the bytes from the beginning of a slab's block to the next one's.
    static std::size_t block_stride(const bin_shape& shape) noexcept { return std::size_t{shape.bytes} + shape.gap; }
    // Returns the number of blocks in a slab of `pages` pages.
    static std::size_t blocks_in(const bin_shape& shape, std::size_t pages) noexcept {
        if (pages == shape.pages) return shape.blocks;
        return (std::max)(pages * pool_page_bytes / block_stride(shape), std::size_t{1});
    }

    // Returns the blocks of a list to the slabs of one segment. Stops at the first block elsewhere, and returns it; null at the list's end.
    // Half the cost of freeing a block: everything rare is out of line.
    template <bool Several>    // slabs have several pages
    HEADROOM_NOINLINE free_block* return_to_segment(segment& of, free_block* block, bin_index index) noexcept {
        std::byte* const base = of.data();
        const std::size_t bytes = of.high_water() * pool_page_bytes;
        page_state* const states = &of.state(0);
        while (true) {
            std::size_t offset = detail::address_of(block) - detail::address_of(base);
            if (HEADROOM_UNLIKELY(offset >= bytes)) return block;    // also null
            page_state* slab = states + offset / pool_page_bytes;
            auto* place = reinterpret_cast<std::byte*>(block) - offset % pool_page_bytes;
            offset %= pool_page_bytes;
            if constexpr (Several) {
                place -= slab->page_in_slab() * pool_page_bytes;
                offset += slab->page_in_slab() * pool_page_bytes;
                slab -= slab->page_in_slab();
            }
            // Takes blocks of one page that follow each other in the list together.
            free_block* last = block;
            free_block* next = detail::next_of(last);
            std::uint32_t count = 1;
            for (; (detail::address_of(next) ^ detail::address_of(block)) < pool_page_bytes; ++count) {
                last = next;
                next = detail::next_of(last);
            }
            const std::ptrdiff_t first_free = slab->first_free();
            const bool is_listed = first_free >= 0;
            if (HEADROOM_UNLIKELY(slab->push_free(count, offset))) {
                close_slab({of, static_cast<std::size_t>(slab - states)}, index, is_listed);
            } else {
                detail::link(last, place + first_free);    // unused if the list was empty: it ends after free() blocks
                if (HEADROOM_UNLIKELY(!is_listed)) list_slab(of, static_cast<std::size_t>(slab - states), index);
            }
            block = next;
        }
    }

    // Frees the pages of an empty slab; `is_listed`: it is in the list of slabs with free blocks.
    HEADROOM_NOINLINE void close_slab(const page_run& slab, bin_index index, bool is_listed) noexcept {
        size_state& state = sizes_[index];
        if (is_listed) state.with_free.remove(slab.links());
        if (state.current == slab) state.current = {};    // even if not fully carved
        const std::size_t count = slab.state().length();
        state.pages -= static_cast<std::uint32_t>(count);
        runs_.free_run(slab, count);
    }
    // Appends the slab that begins at page `at` to the bin's list of slabs with free blocks.
    HEADROOM_NOINLINE void list_slab(segment& of, std::size_t at, bin_index index) noexcept {
        sizes_[index].with_free.push_back(of.links(at));
    }

    // Returns the number of pages from the slab's first to the last with a part of a carved block.
    static std::size_t carved_pages(const page_run& slab, bin_index index) noexcept {
        const bin_shape& shape = bin_shapes[index];
        const std::byte* const end = slab.links().start() + slab.state().carved() * block_stride(shape) - shape.gap;
        return static_cast<std::size_t>(end - slab.place() + std::ptrdiff_t{pool_page_bytes} - 1) / pool_page_bytes;
    }
    // Ends the bin's current slab after the pages that blocks were carved from, and frees the rest. False if there is no rest, or no block
    // was carved.
    bool end_current_slab(size_state& state, bin_index index) noexcept {
        const page_run slab = state.current;
        if (!slab || slab.state().carved() == 0) return false;
        const std::size_t kept = carved_pages(slab, index);
        const std::size_t gone = slab.state().length() - kept;
        if (gone == 0) return false;
        slab.state().shorten(kept);
        state.pages -= static_cast<std::uint32_t>(gone);
        state.current = {};
        runs_.free_run(slab.behind(kept), gone);
        return true;
    }

    // Appends blocks of the slab that is being carved, of one with free blocks, or of one made of free pages. False if there is none.
    HEADROOM_ALWAYS_INLINE bool refill_from_slab(bin_queue& queue, bin_index index) noexcept {
        size_state& state = sizes_[index];
        if (state.current) {
            carve_blocks(queue, state, index);
        } else if (state.with_free.front() != nullptr) {
            take_free_blocks(queue, state, index);
        } else {
            return refill_from_free_run(queue, index);
        }
        return true;
    }
    // Slow path of refill_from_slab(): opens a slab in a free page run. False if none is long enough.
    HEADROOM_NOINLINE bool refill_from_free_run(bin_queue& queue, bin_index index) noexcept {
        std::size_t count = next_slab_pages(index);
        page_run found = runs_.take_free_run(count);
        if (!found && small_slabs_) {
            for (const std::size_t fewer : {detail::min_slab_pages(index), detail::pages_of_block(index)}) {
                if (found || fewer >= count) continue;
                count = fewer;
                found = runs_.take_free_run(count);
            }
        }
        if (!found) return false;
        open_slab(found, count, index);
        carve_blocks(queue, sizes_[index], index);
        return true;
    }

    // Returns the offset of the first block of a slab, `pages` pages at page `at`: slabs with gaps begin in different cache lines. A slab
    // too small for a gap has none.
    static std::size_t first_block_offset(bin_index index, std::size_t pages, std::size_t at) noexcept {
        const bin_shape& shape = bin_shapes[index];
        const std::size_t blocks = blocks_in(shape, pages);
        const std::size_t needed = blocks * block_stride(shape);
        if (shape.gap == 0 || pages * pool_page_bytes < needed) return 0;
        const std::size_t unused = pages * pool_page_bytes - needed;
        return shape.gap + at / pages * blocks % (unused / shape.gap + 1) * shape.gap;
    }

    // Carves blocks from the current slab and appends them: a page's worth, then as many as were carved before, so that a slab of which
    // little is used is not written to as a whole. Precondition: there is one.
    void carve_blocks(bin_queue& queue, size_state& state, bin_index index) noexcept {
        page_state& from = state.current.state();
        const bin_shape& shape = bin_shapes[index];
        const std::size_t size = shape.bytes;
        const std::size_t stride = block_stride(shape);
        const std::size_t carved = from.carved();
        const std::size_t blocks = blocks_in(shape, from.length());
        const std::size_t count = (std::min)(blocks - carved, (std::max)(carved, std::size_t{shape.first}));
        std::byte* place = state.current.links().start() + carved * stride;
        const std::byte* const end = place + count * stride;
        free_block* tail = queue.last;
        for (; place != end; place += stride) {
            detail::poison_free_block(place, size);
            detail::link(tail, place);
            tail = reinterpret_cast<free_block*>(place);
        }
        queue.last = tail;
        from.carve(count);
        if (carved + count == blocks) state.current = {};
    }

    // Moves the free blocks of the first slab in the list to the end of the queue, in order of addresses. Precondition: there is one.
    void take_free_blocks(bin_queue& queue, size_state& state, bin_index index) noexcept {
        const page_run slab = runs_.run_at(*state.with_free.front());
        std::byte* const start = slab.links().start();
        page_state& from = slab.state();
        const auto free = static_cast<std::uint16_t>(from.free());
        state.with_free.remove(slab.links());
        const auto stride = static_cast<std::uint32_t>(block_stride(bin_shapes[index]));
        const auto* block = reinterpret_cast<const free_block*>(slab.place() + from.first_free());
        if (free >= min_prefetched) {
            // Prefetches the whole slab: its memory may be cold, and links would be fetched one by one.
            const std::size_t step = (std::max)(std::size_t{stride}, std::size_t{64});
            for (std::size_t line = 0; line < from.carved() * stride; line += step) HEADROOM_PREFETCH(start + line);
        }
        std::array<std::uint64_t, pool_page_bytes / block_step / 64> marks{};
        for (std::uint16_t left = free; left > 0; --left) {
            const auto offset = static_cast<std::uint32_t>(reinterpret_cast<const std::byte*>(block) - start);
            const std::uint32_t which = offset / stride;
            marks[which / 64] |= std::uint64_t{1} << which % 64;
            block = detail::next_of(block);
        }
        from.use_all();
        free_block* tail = queue.last;
        for (std::size_t word = 0; word < marks.size(); ++word) {
            for (std::uint64_t left = marks[word]; left != 0; left &= left - 1) {
                const std::size_t which = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
                std::byte* const found = start + which * stride;
                detail::link(tail, found);
                tail = reinterpret_cast<free_block*>(found);
            }
        }
        queue.last = tail;
    }

    static constexpr std::uint16_t min_prefetched = 8;
    static constexpr std::size_t max_queued_slabs = 16;

    page_runs runs_;
    bin_array<size_state> sizes_{};
    bool small_slabs_ = false;
};

}}}}    // namespace headroom::detail
