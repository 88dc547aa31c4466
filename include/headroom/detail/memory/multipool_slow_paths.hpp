// SPDX-License-Identifier: MIT
// Slow paths of a multipool: every request that its queues of free blocks do not serve at once. With those of multipool_upkeep.hpp and
// multipool_refusals.hpp they are nine tenths of its code. The library compiles them for most files; see memory_abi.hpp.
#pragma once

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>    // min

#include <headroom/detail/attempt.hpp>
#include <headroom/detail/memory/memory_abi.hpp>
#include <headroom/detail/memory/multipool_refusals.hpp>
#include <headroom/detail/memory/multipool_resource.hpp>
#include <headroom/detail/memory/multipool_upkeep.hpp>
#include <headroom/detail/memory/slabs.hpp>

namespace headroom { inline namespace v0_1 {

inline namespace HEADROOM_MEMORY_ABI {

HEADROOM_NOINLINE HEADROOM_MEMORY_INLINE void* multipool_resource::pop_block_slow(detail::bin_offset offset, std::size_t bytes,
                                                                                  std::size_t alignment) {
    detail::bin& mine = bins_[offset];
    if (mine.last == nullptr) {    // first use
        if (detail::bin_bytes(offset) > max_block_bytes_) return allocate_large(bytes, alignment);
        (void)activate(detail::index_of(offset));
        return carve(offset, mine.before.next, bytes, alignment);
    }
    // Not aligned: carve() leaves it to this.
    if (HEADROOM_UNLIKELY(detail::bin_bytes(offset) + detail::block_step <= chain_.bytes_left())) {
        return carve_aligned(offset, bytes, alignment);
    }
    if (has_slabs(detail::index_of(offset)) && slabs_->refill(mine, detail::index_of(offset))) {
        return on_allocate(mine.pop(), bytes, alignment, offset);
    }
    return refill_or_grow(offset, bytes, alignment);
}

HEADROOM_COLD HEADROOM_MEMORY_INLINE void* multipool_resource::refill_or_grow(detail::bin_offset offset, std::size_t bytes,
                                                                              std::size_t alignment) {
    const std::size_t size = detail::bin_bytes(offset);
    const detail::bin_index index = detail::index_of(offset);
    detail::bin& mine = bins_[offset];
    const std::size_t aligned = detail::alignment_of(size);
    if (has_slabs(index) || !make_room_in_chunks(size, aligned)) {
        // Uses the last free block before it gets memory.
        const auto take = [&] { return slabs_->refill(mine, index); };
        const auto take_unused = [&] { return open_unused_slab(index) || !mine.empty(); };
        bool found = slabs_ != nullptr ? find_free_or_unused(take, take_unused) : !mine.empty();
        if (!found && (slabs_ == nullptr || !make_room_in_chunks(size, aligned))) {
            found = detail::catch_bad_alloc([&] { return add_memory(index); }, [&] { return refill_after_refusal(index); });
        }
        if (found) return on_allocate(mine.pop(), bytes, alignment, offset);
    }
    return carve_aligned(offset, bytes, alignment);
}

HEADROOM_NOINLINE HEADROOM_MEMORY_INLINE void* multipool_resource::allocate_medium(std::size_t bytes, std::size_t alignment) {
    // std::has_single_bit may be a call.
    if (bytes - 1 < detail::max_pooled_bytes && alignment - 1 < detail::fine_alignment && (alignment & (alignment - 1)) == 0) {
        if (bypasses_bins(bytes)) return allocate_run_block(bytes, alignment);
        return pop_block(detail::offset_of(detail::medium_bin_of(bytes)), bytes, alignment);
    }
    return allocate_slow(bytes, alignment);
}

HEADROOM_NOINLINE HEADROOM_MEMORY_INLINE void* multipool_resource::allocate_slow(std::size_t bytes, std::size_t alignment) {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) detail::throw_upstream_bad_alloc(upstream_resource());
    if (bytes == 0 && alignment <= detail::fine_alignment)
        return pop_block(detail::offset_of(detail::bin_of(alignment)), bytes, alignment);
    if (!uses_page_runs(bytes, alignment)) return this->allocate_large(bytes, alignment);
    bytes += bytes == 0;
    if (const detail::bin_index index = aligned_bin_of(bytes, alignment); index < detail::end_bin) {
        return allocate_aligned(index, bytes, alignment);
    }
    return allocate_run_block(bytes, alignment);
}

HEADROOM_NOINLINE HEADROOM_MEMORY_INLINE void multipool_resource::deallocate_medium(void* block, std::size_t bytes,
                                                                                    std::size_t alignment) {
    if (bytes - 1 < detail::max_pooled_bytes && alignment <= detail::fine_alignment) {
        if (bypasses_bins(bytes)) return deallocate_by_address(block, bytes, alignment);
        return push_block(detail::offset_of(detail::medium_bin_of(bytes)), block, bytes);
    }
    deallocate_slow(block, bytes, alignment);
}

HEADROOM_NOINLINE HEADROOM_MEMORY_INLINE void multipool_resource::deallocate_slow(void* block, std::size_t bytes,
                                                                                  std::size_t alignment) {
    if (bytes == 0 && alignment <= detail::fine_alignment)
        return push_block(detail::offset_of(detail::bin_of(alignment)), block, bytes);
    if (!uses_page_runs(bytes, alignment)) {
        return may_use_free_run(bytes, alignment) ? deallocate_by_address(block, bytes, alignment)
                                                  : deallocate_large(block, bytes);
    }
    bytes += bytes == 0;
    const detail::page_run found = find_page(block);
    if (!found) return deallocate_large(block, bytes);
    if (const detail::bin_index index = aligned_bin_of(bytes, alignment); index < detail::end_bin) {
        return push_block(detail::offset_of(index), block, bytes);
    }
    free_run_block(found, block, bytes, alignment);
}

HEADROOM_MEMORY_INLINE detail::page_run multipool_resource::find_page(const void* block) const noexcept {
    return slabs_ != nullptr ? slabs_->runs().find(block) : detail::page_run{};
}

HEADROOM_MEMORY_INLINE std::byte* multipool_resource::place_in_run(const detail::page_run& pages, std::size_t bytes,
                                                                   std::size_t alignment) const noexcept {
    const std::size_t unused = run_pages(bytes, alignment) * detail::pool_page_bytes - bytes;
    if (alignment > 64 || unused < 64) return pages.place();
    return pages.place() + (pages.index() * 64 & (std::bit_floor((std::min)(unused, detail::pool_page_bytes)) - 1));
}

HEADROOM_MEMORY_INLINE void multipool_resource::free_run_block(const detail::page_run& pages, void* block, std::size_t bytes,
                                                               std::size_t alignment) noexcept {
    detail::poison(block, bytes);
    ++slow_frees_;
    slabs_->runs().free_run(pages, run_pages(bytes, alignment));
}

HEADROOM_MEMORY_INLINE void multipool_resource::deallocate_by_address(void* block, std::size_t bytes, std::size_t alignment) {
    const detail::page_run found = find_page(block);
    if (!found) return deallocate_large(block, bytes);
    free_run_block(found, block, bytes, alignment);
}

HEADROOM_MEMORY_INLINE detail::bin_index multipool_resource::aligned_bin_of(std::size_t bytes,
                                                                            std::size_t alignment) const noexcept {
    const std::size_t size = detail::round_up_to(bytes, alignment);
    if (bytes > detail::max_short_bytes || size > detail::max_short_bytes) return detail::end_bin;
    for (detail::bin_index index = detail::bin_of(size); index < detail::first_medium_bin; ++index) {
        const std::size_t found = detail::bin_bytes(index);
        if (found > max_block_bytes_) break;
        if (found % alignment == 0 && (alignment <= 64 || detail::gap_before(found) == 0)) return index;
    }
    return detail::end_bin;
}

HEADROOM_MEMORY_INLINE bool multipool_resource::make_room_in_chunks(std::size_t bytes, std::size_t alignment) noexcept {
    if (chain_.fits(bytes, alignment)) return true;
    record_carved();
    if (uses_spans_) {
        retire_cursor();
        std::size_t found = 0;
        if (std::byte* const first = spans_.pop(bytes, alignment, found)) {
            chain_.use_span(first, first + found);
            return true;
        }
    }
    const chunk_rest_guard rest{*this};
    return chain_.make_room_in_kept(bytes, alignment);
}

HEADROOM_MEMORY_INLINE void* multipool_resource::allocate_run_block(std::size_t bytes, std::size_t alignment) {
    const std::size_t count = run_pages(bytes, alignment);
    detail::page_run found{};
    if (slabs_ != nullptr) found = slabs_->runs().take_free_run(count);
    if (HEADROOM_UNLIKELY(!found)) {
        found = find_or_add_pages(count);
        if (!found) return this->allocate_large(bytes, alignment);
    }
    detail::page_runs::mark_used(found, count);
    return on_first_use(place_in_run(found, bytes, alignment), bytes, alignment);
}

HEADROOM_NOINLINE HEADROOM_MEMORY_INLINE void multipool_resource::push_block_slow(detail::bin_offset offset, void* block,
                                                                                  std::size_t bytes) {
    detail::bin& mine = bins_[offset];
    ++slow_frees_;
    if (mine.last == nullptr) {    // excluded by the options
        mine.frees_until_flush = 0;
        return deallocate_large(block, bytes);
    }
    mine.push(block);
    on_deallocate(block, offset);
    mine.frees_until_flush = initial_frees_until_flush(detail::index_of(offset));
    if (slabs_ == nullptr) return;
    // Blocks freed since the last call are only deferred, and returned to their slabs at the next call, unless they are reused before. So
    // memory that is freed and allocated in turn stays in the queue. And while a container is destroyed, each block is fetched from memory
    // by the address in the one before; the blocks returned to slabs have arrived long ago, so this work hides in that wait.
    if (!slabs_->has_many_slabs(detail::index_of(offset))) {
        mine.frees_until_flush -= frees_when_few_slabs;    // returned with the others, see return_blocks_to_slabs()
    } else if (slabs_->defer(mine, detail::index_of(offset))) {
        mine.frees_until_flush = frees_between_flushes_busy;
    }
}

HEADROOM_MEMORY_INLINE void* multipool_resource::allocate_aligned(detail::bin_index index, std::size_t bytes,
                                                                  std::size_t alignment) {
    detail::bin& mine = activate(index);
    // Blocks carved outside of slabs have any alignment. Looks at a few, and returns those to the end of the queue.
    constexpr int most_looks = 16;
    for (int looks = 0; looks < most_looks; ++looks) {
        void* const block = mine.pop();
        if (block == nullptr) break;
        if (find_page(block)) {
            return on_allocate(block, bytes, alignment, detail::offset_of(index));
        }
        mine.push(block);
    }
    for (;;) {
        void* const block = slabs_ != nullptr ? slabs_->pop_from_slab(mine, index) : nullptr;
        if (block != nullptr) return on_allocate(block, bytes, alignment, detail::offset_of(index));
        const std::size_t count = slabs_ != nullptr ? slabs_->next_slab_pages(index) : detail::min_slab_pages(index);
        const detail::page_run pages = find_or_add_pages(count);
        if (!pages) return this->allocate_large(bytes, alignment);
        slabs_->open_slab(pages, count, index);
    }
}

HEADROOM_MEMORY_INLINE void multipool_resource::allocate_batch(detail::bin_index index, detail::bin_queue& into,
                                                               std::uint32_t count) {
    const std::size_t bytes = detail::bin_bytes(index);
    const std::size_t alignment = detail::alignment_of(bytes);
    while (count > 0) {
        void* const block = allocate(bytes, alignment);
        into.push(block);
        detail::poison(block, bytes);
        --count;
        // Takes the rest of the queue without allocate(), except in checked builds, which record every block.
        if constexpr (!detail::memory_checked) count -= into.append_up_to(bins_[index], count);
    }
}

HEADROOM_MEMORY_INLINE void multipool_resource::deallocate_batch(detail::bin_index index, detail::free_block* list) noexcept {
    // Does nothing for an empty list, because pools excluded by the options must not be activated.
    if (list == nullptr) return;
    ++slow_frees_;
    if constexpr (detail::memory_checked) {
        const std::size_t bytes = detail::bin_bytes(index);
        while (list != nullptr) {
            detail::free_block* const block = std::exchange(list, detail::next_of(list));
            detail::unpoison(block, bytes);
            deallocate(block, bytes, detail::alignment_of(bytes));
        }
    } else if (slabs_ != nullptr) {
        slabs_->return_to_slabs(list, index);
    } else {
        detail::bin& mine = activate(index);
        for (; list != nullptr; list = detail::next_of(list)) mine.push(list);
    }
}

HEADROOM_NOINLINE HEADROOM_MEMORY_INLINE void* multipool_resource::allocate_out_of_line(std::size_t bytes,
                                                                                        std::size_t alignment) {
    return allocate(bytes, alignment);
}

}    // HEADROOM_MEMORY_ABI

}}    // namespace headroom
