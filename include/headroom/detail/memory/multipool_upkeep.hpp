// Rarely called members of a multipool: getting memory, returning freed blocks to their slabs, returning unused memory, statistics.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include <headroom/detail/memory/multipool_resource.hpp>

namespace headroom { inline namespace v0_1 {

inline namespace HEADROOM_MEMORY_ABI {

HEADROOM_COLD inline bool multipool_resource::add_segment(const detail::memory_piece& memory) noexcept {
#if defined(__cpp_exceptions)
    try {
#endif
        if (slabs_ == nullptr) {
            slabs_ = new (upstream_resource()->allocate(sizeof(detail::slab_pool), alignof(detail::slab_pool)))
                detail::slab_pool(upstream_resource());
            for_each_active(
                [this](std::size_t index, detail::bin& each) { each.frees_until_sort = initial_frees_until_sort(index); });
        }
        slabs_->runs().add(memory);
        return true;
#if defined(__cpp_exceptions)
    } catch (...) {
        record_carved();
        chain_.add_as_chunk(memory);
        return false;
    }
#endif
}

HEADROOM_COLD inline bool multipool_resource::try_add_segment(std::size_t least) noexcept {
#if defined(__cpp_exceptions)
    try {
#endif
        return add_segment(
            chain_.obtain_piece(least, detail::pool_page_bytes, max_chunk_bytes(least), detail::populate::at_first_touch));
#if defined(__cpp_exceptions)
    } catch (...) {
        return false;
    }
#endif
}

HEADROOM_COLD inline bool multipool_resource::add_memory(std::size_t index) {
    const std::size_t size = detail::bin_bytes(index);
    const std::size_t most = max_chunk_bytes(size);
    const std::size_t slab = detail::slab_pages(index) * detail::pool_page_bytes;
    const std::size_t least = (std::max)(slab, std::clamp(most, min_segment_bytes, min_first_segment_bytes));
    if (chain_.next_piece_bytes(size, most) >= least) {
#if defined(__cpp_exceptions)
        try {
#endif
            if (add_segment(chain_.obtain_piece(slab, detail::pool_page_bytes, most, populate_for_slab(index))) &&
                open_unused_slab(index))
                return true;
#if defined(__cpp_exceptions)
        } catch (const std::bad_alloc&) {
            // A slab is refused; a few blocks may not be.
        }
#endif
    }
    record_carved();
    chain_.make_room(size, detail::alignment_of(size), most, size + detail::gap_before(size));
    return false;
}

template <class Visit>
void multipool_resource::for_each_unslabbed(Visit visit) noexcept {
    for_each_active([&](std::size_t index, detail::bin& each) noexcept {
        visit(slabs_ != nullptr ? slabs_->unslabbed(index) : static_cast<detail::bin_queue&>(each), each.unslabbed);
    });
}

inline void multipool_resource::record_carved() noexcept {
    std::size_t all = 0;
    for_each_active([&](std::size_t, const detail::bin& each) noexcept { all += each.unslabbed; });
    if (chain_.active() != nullptr) chain_.active()->blocks += all - carved_;
    carved_ = all;
}

HEADROOM_COLD inline bool multipool_resource::probe_upstream_reuse(std::size_t bytes) noexcept {
    if (upstream_reuses_ != answer::unknown) return upstream_reuses_ == answer::yes;
    const auto chunks = chain_.smallest_empty(bytes, chunk_is_empty);
    std::pair<const detail::segment*, std::size_t> segments;
    if (slabs_ != nullptr) segments = slabs_->runs().smallest_empty(bytes);
    // Not with the only one: upstream may have nothing else.
    if (chunks.second + segments.second < 2) return false;
    const detail::chunk* const probe = chunks.first;
    const detail::segment* const probed = segments.first;
    const detail::memory_piece gone = probe != nullptr ? probe->memory : probed->memory;
    if (probe != nullptr) {
        chain_.reuse_empty(true, [probe](const detail::chunk& each) noexcept { return &each == probe; });
    } else {
        slabs_->runs().release_empty(probed);
    }
#if defined(__cpp_exceptions)
    try {
#endif
        void* const again = upstream_resource()->allocate(gone.bytes, gone.alignment);
        upstream_resource()->deallocate(again, gone.bytes, gone.alignment);
        upstream_reuses_ = answer::yes;
#if defined(__cpp_exceptions)
    } catch (...) {
        upstream_reuses_ = answer::no;
    }
#endif
    return upstream_reuses_ == answer::yes;
}

HEADROOM_COLD inline bool multipool_resource::reclaim(std::size_t bytes) noexcept {
    bool any = large_.release_kept(upstream_resource());
    if (slabs_ != nullptr) return_blocks_to_slabs(true);
    if constexpr (!detail::memory_checked) any = reuse_empty_chunks(bytes) || any;
    if (slabs_ != nullptr && (chain_.uses_reservations() || probe_upstream_reuse(bytes))) any = slabs_->runs().trim() != 0 || any;
    return any;
}

HEADROOM_COLD inline bool multipool_resource::reuse_empty_chunks(std::size_t bytes) noexcept {
    // Looking up a block is linear in the chunks. Only max_blocks_per_chunk makes more than some dozens.
    constexpr std::size_t most_chunks = 64;
    record_carved();
    if (chain_.reset_free_counts() > most_chunks) return false;
    for_each_unslabbed([this](detail::bin_queue& blocks, std::uint32_t) noexcept {
        const detail::free_block* block = blocks.before.next;
        for (std::size_t left = blocks.count(); left != 0; --left) {
            ++chain_.find(block)->free;
            if (left != 1) block = detail::next_of(block);
        }
    });
    bool found = false;
    for_each_unslabbed([&](detail::bin_queue& blocks, std::uint32_t& unslabbed) noexcept {
        detail::free_block* block = blocks.pop_all();
        while (block != nullptr) {
            detail::free_block* const next = detail::next_of(block);
            if (chunk_is_empty(*chain_.find(block))) {
                --unslabbed;
                --carved_;
                found = true;
            } else {
                blocks.push(block);
            }
            block = next;
        }
    });
    if (found) chain_.reuse_empty(!chain_.uses_reservations() && probe_upstream_reuse(bytes), chunk_is_empty);
    return found;
}

HEADROOM_COLD inline void* multipool_resource::allocate_after_reclaim(std::size_t bytes, std::size_t alignment) {
    const bool any = reclaim(bytes);
#if defined(__cpp_exceptions)
    if (any && upstream_reuses_ == answer::yes) {
        try {
            return on_first_use(large_.allocate(bytes, alignment, upstream_resource(), chain_.uses_reservations()), bytes,
                                alignment);
        } catch (const std::bad_alloc&) {
            // A free page run may still do.
        }
    }
#endif
    if (slabs_ != nullptr && may_use_free_run(bytes, alignment)) {
        const std::size_t count = run_pages(bytes, alignment);
        if (const detail::page_runs::run found = slabs_->runs().take_free_run(count)) {
            detail::page_runs::mark_used(found, count);
            return on_first_use(place_in_run(found, bytes, alignment), bytes, alignment);
        }
    }
    if (!any) return nullptr;
    return on_first_use(large_.allocate(bytes, alignment, upstream_resource(), chain_.uses_reservations()), bytes, alignment);
}

HEADROOM_COLD inline void* multipool_resource::refill_or_grow(std::size_t offset, std::size_t bytes, std::size_t alignment) {
    const std::size_t size = size_of(offset);
    const std::size_t index = index_of(offset);
    detail::bin& mine = bin_at(offset);
    const std::size_t aligned = detail::alignment_of(size);
    if (has_slabs(index) || !make_room_in_chunks(size, aligned)) {
        // Uses the last free block before it gets memory.
        const auto take = [&] { return slabs_->refill(mine, index); };
        const auto take_unused = [&] { return open_unused_slab(index) || !mine.empty(); };
        bool found = slabs_ != nullptr ? find_free_or_unused(take, take_unused) : !mine.empty();
        if (!found && (slabs_ == nullptr || !make_room_in_chunks(size, aligned))) {
#if defined(__cpp_exceptions)
            try {
#endif
                found = add_memory(index);
#if defined(__cpp_exceptions)
            } catch (const std::bad_alloc&) {
                if (!reclaim(size)) throw;
                found = slabs_ != nullptr && (take() || take_unused());
                if (!found && !make_room_in_chunks(size, aligned)) found = add_memory(index);
            }
#endif
        }
        if (found) return on_allocate(mine.pop(), bytes, alignment, offset);
    }
    const std::size_t gap = detail::gap_before(size);
    return carve_at_cursor(offset, padding_for(size) + (chain_.fits(gap + size, aligned) ? gap : 0), bytes, alignment);
}

template <class Take, class TakeUnused>
bool multipool_resource::find_free_or_unused(Take take, TakeUnused take_unused) noexcept {
    if (slabs_->runs().start_sort_if_due(medium_pages_freed())) return_blocks_to_slabs(false);
    if (take() || take_unused()) return true;
    return_blocks_to_slabs(true);
    return take();
}

HEADROOM_NOINLINE inline void multipool_resource::push_block_slow(std::size_t offset, void* block, std::size_t bytes) {
    detail::bin& mine = bin_at(offset);
    if (mine.last == nullptr) {    // excluded by the options
        mine.frees_until_sort = 0;
        return deallocate_large(block, bytes);
    }
    mine.push(block);
    on_deallocate(block, offset);
    mine.frees_until_sort = initial_frees_until_sort(index_of(offset));
    if (slabs_ == nullptr) return;
    // Blocks freed since the last call are only deferred, and returned to their slabs at the next call, unless they are reused before. So
    // memory that is freed and allocated in turn stays in the queue. And while a container is destroyed, each block is fetched from memory
    // by the address in the one before; the blocks returned to slabs have arrived long ago, so this work hides in that wait.
    if (!slabs_->has_many_slabs(index_of(offset))) {
        mine.frees_until_sort -= frees_when_few_slabs;    // returned with the others, see return_blocks_to_slabs()
    } else if (slabs_->defer(mine, index_of(offset))) {
        mine.frees_until_sort = frees_between_sorts_busy;
    }
}

inline std::size_t multipool_resource::medium_pages_freed() const noexcept {
    std::size_t result = 0;
    for (std::uint64_t left = active_[0] >> detail::short_bin_count | active_[1] << (64 - detail::short_bin_count); left != 0;
         left &= left - 1) {
        const std::size_t index = detail::short_bin_count + static_cast<std::size_t>(std::countr_zero(left));
        result += static_cast<std::size_t>(frees_without_slabs - bins_[index].frees_until_sort) * detail::bin_bytes(index) /
                  detail::pool_page_bytes;
    }
    return result;
}

HEADROOM_NOINLINE inline void multipool_resource::return_blocks_to_slabs(bool all) noexcept {
    for_each_active([this, all, slabs = slabs_](std::size_t index, detail::bin& each) {
        if (all || index >= detail::short_bin_count || each.frees_until_sort <= frees_between_sorts - frees_when_few_slabs) {
            each.frees_until_sort = initial_frees_until_sort(index);
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

inline void* multipool_resource::allocate_aligned(std::size_t index, std::size_t bytes, std::size_t alignment) {
    detail::bin& mine = activate(index);
    // Blocks carved outside of slabs have any alignment. Looks at a few, and returns those to the end of the queue.
    constexpr int most_looks = 16;
    for (int looks = 0; looks < most_looks; ++looks) {
        void* const block = mine.pop();
        if (block == nullptr) break;
        if (slabs_ != nullptr && slabs_->runs().find(block) != nullptr) {
            return on_allocate(block, bytes, alignment, index * sizeof(detail::bin));
        }
        mine.push(block);
    }
    for (;;) {
        void* const block = slabs_ != nullptr ? slabs_->pop_from_slab(mine, index) : nullptr;
        if (block != nullptr) return on_allocate(block, bytes, alignment, index * sizeof(detail::bin));
        const detail::page_runs::run pages = find_or_add_pages(detail::slab_pages(index));
        if (!pages) return this->allocate_large(bytes, alignment);
        slabs_->open_slab(pages, index);
    }
}

inline void multipool_resource::allocate_batch(std::size_t index, detail::bin_queue& into, std::uint32_t count) {
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

inline void multipool_resource::deallocate_batch(std::size_t index, detail::free_block* list) noexcept {
    // Does nothing for an empty list, because pools excluded by the options must not be activated.
    if (list == nullptr) return;
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
    for (std::size_t index = 0; index < detail::bin_count; ++index) {
        multipool_statistics::size_class& each = result.classes[index];
        const detail::bin& each_bin = bins_[index];
        each.block_bytes = detail::bin_bytes(index);
        each.slab_bytes = each.slabs * detail::slab_pages(index) * detail::pool_page_bytes;
        each.free += each_bin.count();
        each.in_use = each.in_use + each_bin.unslabbed - each.free;
        result.blocks += each.in_use;
        result.bytes += each.in_use * each.block_bytes;
    }
    result.chunk_bytes += chain_.bytes();
    return result;
}

}    // HEADROOM_MEMORY_ABI

}}    // namespace headroom
