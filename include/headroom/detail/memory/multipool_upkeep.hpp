// SPDX-License-Identifier: MIT
// Slow paths of a multipool: getting memory, returning freed blocks to their slabs, returning unused memory, statistics. For those of
// upstream's refusal see multipool_refusals.hpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>    // max, min

#include <headroom/detail/attempt.hpp>
#include <headroom/detail/memory/multipool_refusals.hpp>
#include <headroom/detail/memory/multipool_resource.hpp>

namespace headroom { inline namespace v0_1 {

inline namespace HEADROOM_MEMORY_ABI {

HEADROOM_COLD inline bool multipool_resource::add_segment(const detail::memory_piece& memory) noexcept {
    const bool added = detail::value_or_on_throw(false, [&] {
        if (slabs_ == nullptr) {
            slabs_ = new (detail::allocate_upstream(upstream_resource(), sizeof(detail::slab_pool), alignof(detail::slab_pool)))
                detail::slab_pool(upstream_resource());
            for_each_active([this](detail::bin_index index, detail::bin& each) {
                each.frees_until_flush = initial_frees_until_flush(index);
            });
        }
        slabs_->runs().add(memory);
        if (chain_.was_refused()) slabs_->use_small_slabs();
        return true;
    });
    if (!added) {
        record_carved();
        const chunk_rest_guard rest{*this};
        chain_.add_as_chunk(memory);
    }
    return added;
}

HEADROOM_COLD inline bool multipool_resource::try_add_segment(std::size_t least) noexcept {
    return detail::value_or_on_throw(false, [&] {
        return add_segment(
            chain_.obtain_piece(least, detail::pool_page_bytes, max_chunk_bytes(least), detail::populate::at_first_touch));
    });
}

HEADROOM_COLD inline bool multipool_resource::add_memory(detail::bin_index index) {
    const std::size_t size = detail::bin_bytes(index);
    const std::size_t most = max_chunk_bytes(size);
    const std::size_t slab = detail::max_slab_pages(index) * detail::pool_page_bytes;
    const std::size_t least = (std::max)(slab, (std::min)((std::max)(most, min_segment_bytes), min_first_segment_bytes));
    if (chain_.next_piece_bytes(size, most) >= least) {
        const auto add_slab = [&] {
            return add_segment(chain_.obtain_piece(slab, detail::pool_page_bytes, most, populate_for_slab(index))) &&
                   open_unused_slab(index);
        };
        // If a slab is refused, a few blocks may not be.
        if (detail::catch_bad_alloc(add_slab, [] { return false; })) return true;
    }
    const chunk_rest_guard rest{*this};
    chain_.make_room(size, detail::alignment_of(size), most, size);
    return false;
}

HEADROOM_COLD inline void* multipool_resource::refill_or_grow(detail::bin_offset offset, std::size_t bytes,
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

HEADROOM_NOINLINE inline void* multipool_resource::allocate_slow(std::size_t bytes, std::size_t alignment) {
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

HEADROOM_NOINLINE inline void multipool_resource::deallocate_slow(void* block, std::size_t bytes, std::size_t alignment) {
    if (bytes == 0 && alignment <= detail::fine_alignment)
        return push_block(detail::offset_of(detail::bin_of(alignment)), block, bytes);
    if (!uses_page_runs(bytes, alignment)) {
        return may_use_free_run(bytes, alignment) ? deallocate_by_address(block, bytes, alignment)
                                                  : deallocate_large(block, bytes);
    }
    bytes += bytes == 0;
    const detail::page_runs::run found = find_page(block);
    if (!found) return deallocate_large(block, bytes);
    if (const detail::bin_index index = aligned_bin_of(bytes, alignment); index < detail::end_bin) {
        return push_block(detail::offset_of(index), block, bytes);
    }
    free_run_block(found, block, bytes, alignment);
}

inline detail::bin_index multipool_resource::aligned_bin_of(std::size_t bytes, std::size_t alignment) const noexcept {
    const std::size_t size = detail::round_up_to(bytes, alignment);
    if (bytes > detail::max_short_bytes || size > detail::max_short_bytes) return detail::end_bin;
    for (detail::bin_index index = detail::bin_of(size); index < detail::first_medium_bin; ++index) {
        const std::size_t found = detail::bin_bytes(index);
        if (found > max_block_bytes_) break;
        if (found % alignment == 0 && (alignment <= 64 || detail::gap_before(found) == 0)) return index;
    }
    return detail::end_bin;
}

inline bool multipool_resource::make_room_in_chunks(std::size_t bytes, std::size_t alignment) noexcept {
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

inline void* multipool_resource::allocate_run_block(std::size_t bytes, std::size_t alignment) {
    const std::size_t count = run_pages(bytes, alignment);
    detail::page_runs::run found{};
    if (slabs_ != nullptr) found = slabs_->runs().take_free_run(count);
    if (HEADROOM_UNLIKELY(!found)) {
        found = find_or_add_pages(count);
        if (!found) return this->allocate_large(bytes, alignment);
    }
    detail::page_runs::mark_used(found, count);
    return on_first_use(place_in_run(found, bytes, alignment), bytes, alignment);
}

template <class Take, class TakeUnused>
bool multipool_resource::find_free_or_unused(Take take, TakeUnused take_unused) noexcept {
    if (slabs_->runs().start_flush_if_due(medium_pages_freed())) return_blocks_to_slabs(false);
    if (take() || take_unused()) return true;
    if (joined_stamp_ != 0 && free_stamp() == joined_stamp_) return false;
    return_blocks_to_slabs(true);
    return take();
}

HEADROOM_NOINLINE inline void multipool_resource::push_block_slow(detail::bin_offset offset, void* block, std::size_t bytes) {
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

inline std::size_t multipool_resource::medium_pages_freed() noexcept {
    std::size_t result = 0;
    const auto add = [&](detail::bin_index index, const detail::bin& each) noexcept {
        const auto blocks = static_cast<std::size_t>(frees_without_slabs - each.frees_until_flush);
        result += blocks * detail::bin_bytes(index) / detail::pool_page_bytes;
    };
    for_each_bin(active_[0] >> detail::short_bin_count | active_[1] << (64 - detail::short_bin_count), detail::short_bin_count,
                 add);
    return result;
}

HEADROOM_NOINLINE inline void multipool_resource::return_blocks_to_slabs(bool all) noexcept {
    for_each_active([this, all, slabs = slabs_](detail::bin_index index, detail::bin& each) {
        if (all || index >= detail::first_medium_bin || each.frees_until_flush <= frees_between_flushes - frees_when_few_slabs) {
            const std::int32_t initial = initial_frees_until_flush(index);
            slow_frees_ += static_cast<std::uint32_t>(initial - each.frees_until_flush);
            each.frees_until_flush = initial;
            slabs->return_to_slabs(each, index);
        } else {
            slabs->return_deferred(index);
        }
    });
}

HEADROOM_COLD inline detail::page_runs::run multipool_resource::find_or_add_pages(std::size_t count) noexcept {
    detail::page_runs::run found{};
    const auto take = [&] { return static_cast<bool>(found = slabs_->runs().take_free_run(count)); };
    const auto take_unused = [&] {
        found = take_unused_run(count, detail::populate::at_first_touch);
        return static_cast<bool>(found);
    };
    if ((slabs_ == nullptr || !find_free_or_unused(take, take_unused)) && try_add_segment(count * detail::pool_page_bytes))
        take_unused();
    return found;
}

inline void* multipool_resource::allocate_aligned(detail::bin_index index, std::size_t bytes, std::size_t alignment) {
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
        const detail::page_runs::run pages = find_or_add_pages(count);
        if (!pages) return this->allocate_large(bytes, alignment);
        slabs_->open_slab(pages, count, index);
    }
}

inline void multipool_resource::allocate_batch(detail::bin_index index, detail::bin_queue& into, std::uint32_t count) {
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

inline void multipool_resource::deallocate_batch(detail::bin_index index, detail::free_block* list) noexcept {
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

inline std::size_t multipool_resource::trim() noexcept {
    large_.release_kept(upstream_resource());
    if (slabs_ == nullptr) return 0;
    return_blocks_to_slabs(true);
    return slabs_->runs().trim();
}

inline multipool_statistics multipool_resource::statistics() const noexcept {
    multipool_statistics result;
    if (slabs_ != nullptr) {
        slabs_->add_counts(result.classes);
        result.empty_slab_bytes = slabs_->runs().free() * detail::pool_page_bytes;
        result.chunk_bytes = slabs_->runs().total_bytes();
    }
    for (detail::bin_index index{}; index < detail::end_bin; ++index) {
        multipool_statistics::size_class& each = result.classes[static_cast<std::size_t>(index)];
        const detail::bin& each_bin = bins_[index];
        each.block_bytes = detail::bin_bytes(index);
        each.free += each_bin.count();
        each.in_use = each.in_use + each_bin.chunk_blocks - each.free;
        result.blocks += each.in_use;
        result.bytes += each.in_use * each.block_bytes;
    }
    result.chunk_bytes += chain_.bytes();
    return result;
}

}    // HEADROOM_MEMORY_ABI

}}    // namespace headroom
