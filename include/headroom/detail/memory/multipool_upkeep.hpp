// What a multipool does now and then, or when it is asked to: cuts a new chunk into slabs, puts what came back in order, gives
// memory back that it does not need, says what it holds.
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

inline void multipool_resource::enter_chunk(std::size_t least) noexcept {
    std::byte* const first = detail::align_up(chain_.cursor, detail::pool_page);
    std::byte* const bound = chain_.active_bound();
    if (bound < first || static_cast<std::size_t>(bound - first) < least) return;
#if defined(__cpp_exceptions)
    try {
#endif
        if (slabs_ == nullptr) {
            slabs_ = new (upstream_resource()->allocate(sizeof(detail::slab_space), alignof(detail::slab_space)))
                detail::slab_space(upstream_resource());
            each_entered([this](std::size_t index, detail::bin& each) { each.room = room_of(index); });
        }
        slabs_->runs().enter(chain_.active(), chain_.active_is_reserved(), first, bound);
        // (Nothing but slabs lies in a chunk of upstream's then, where no size is cut singly, and it can be given back.)
        if (!chain_.active_is_reserved()) chain_.cursor = first;
        chain_.limit = first;
#if defined(__cpp_exceptions)
    } catch (...) {
        // No memory for a table: blocks are cut from this chunk singly.
    }
#endif
}

HEADROOM_COLD inline void* multipool_resource::carve_farther(std::size_t pool, std::size_t bytes, std::size_t alignment) {
    const std::size_t size = size_of(pool);
    if (size > largest_) return this->allocate_large(bytes, alignment);
    const std::size_t index = index_of(pool);
    detail::bin& entered = enter(index);
    const std::size_t aligned = (std::min)(size & -size, fine_alignment);
    const std::size_t most = most_of(size);
    const std::size_t slab = detail::slab_pages(index) * detail::pool_page;
    for (;;) {
        const bool by_pages = pages_at_hand();
        if (by_pages) {
            if (slabs_->runs().may_collect(long_back())) settle_all();
            if (slabs_->refill(entered, index) || next_slab(index)) return handed_out(entered.take(), bytes, alignment, pool);
        } else if (chain_.fits(size, aligned) || widen(size, aligned)) {
            const std::size_t gap = detail::gap_before(size);
            std::byte* const place = detail::align_up(chain_.cursor, aligned) + (chain_.fits(gap + size, aligned) ? gap : 0);
            chain_.cursor = place + size;
            ++entered.single;
            return fresh(place, bytes, alignment);
        }
        // Rather than a new chunk the last free block is taken.
        if (void* const block = entered.take()) return handed_out(block, bytes, alignment, pool);
        if (refill_at_last(index)) return handed_out(entered.take(), bytes, alignment, pool);
        const bool for_slab = by_pages && slab <= most;
        take_chunk(for_slab ? slab : size, for_slab ? detail::pool_page : aligned, most,
                   for_slab ? detail::arrival::at_first_touch : how_for(size), (std::max)(least_area, slab));
    }
}

inline bool multipool_resource::refill_at_last(std::size_t index) noexcept {
    if (slabs_ == nullptr) return false;
    settle_everything();
    return slabs_->refill(pools_[index], index);
}

[[gnu::noinline]] inline void multipool_resource::take_back_and_settle(std::size_t pool, void* block, std::size_t bytes) {
    detail::bin& mine = pool_at(pool);
    if (mine.last == nullptr) {    // the options exclude it
        mine.room = 0;
        return deallocate_large(block, bytes);
    }
    mine.room = room_of(index_of(pool));
    mine.add(block);
    taken_back(block, pool);
    // What came back since the last look is put in order only at the next one, and only if it was not asked for again until then.
    // So memory that is handed out and comes back in turn is left alone; and where a container is being destroyed, and each block
    // must be fetched from memory as its address stands in the one before, those that are put in order have long arrived: the
    // processor does it while it waits for the next.
    if (slabs_ != nullptr && slabs_->order_matters(index_of(pool))) {
        if (slabs_->let_wait(mine, index_of(pool))) mine.room = room_among_many;
    }
}

inline std::size_t multipool_resource::long_back() const noexcept {
    std::size_t result = 0;
    for (std::uint64_t left = entered_[0] >> detail::short_bins | entered_[1] << (64 - detail::short_bins); left != 0;
         left &= left - 1) {
        const std::size_t index = detail::short_bins + static_cast<std::size_t>(std::countr_zero(left));
        result +=
            static_cast<std::size_t>(room_without_slabs - pools_[index].room) * detail::bin_bytes(index) / detail::pool_page;
    }
    return result;
}

inline void multipool_resource::settle_all() noexcept {
    each_entered([this](std::size_t index, detail::bin& each) {
        // (What was just cut, or taken from slabs in order, is not looked at: only what came back.)
        if (slabs_->was_put_off(index) || index >= detail::short_bins || each.room <= room_between - few_back) {
            each.room = room_of(index);
            slabs_->settle(each, index);
        } else {
            slabs_->settle_waiting(index);
        }
    });
}

inline void multipool_resource::settle_everything() noexcept {
    each_entered([this](std::size_t index, detail::bin& each) { slabs_->settle(each, index); });
}

HEADROOM_COLD inline detail::page_runs::run multipool_resource::more_pages(std::size_t count) {
    detail::page_runs::run found{};
    if (slabs_ != nullptr && slabs_->runs().may_collect(long_back())) {
        settle_all();
        found = slabs_->runs().take(count);
    }
    if (!found) found = fresh_run(count, detail::arrival::at_first_touch);
    if (!found && slabs_ != nullptr) {
        settle_everything();
        found = slabs_->runs().take(count);
    }
    if (found) return found;
    const std::size_t bytes = count * detail::pool_page;
    take_chunk(bytes, detail::pool_page, most_of(bytes), detail::arrival::at_first_touch, bytes);
    return fresh_run(count, detail::arrival::at_first_touch);
}

// (A function of its own that returns its result: GCC 12 at -O1 drops the initial value of a variable that a throwing call is assigned to.)
HEADROOM_COLD inline detail::page_runs::run multipool_resource::more_pages_or_none(std::size_t count) noexcept {
#if defined(__cpp_exceptions)
    try {
#endif
        return more_pages(count);
#if defined(__cpp_exceptions)
    } catch (...) {
        return {};
    }
#endif
}

HEADROOM_COLD inline void* multipool_resource::allocate_fresh_run(std::size_t count, std::size_t bytes, std::size_t alignment) {
    const std::size_t used = slabs_ == nullptr ? 0 : slabs_->runs().used();
    const detail::page_runs::run found = more_pages(count);
    if (!found) return this->allocate_large(bytes, alignment);    // no memory for what is known of pages
    void* const block = handed_out_run(found, count, bytes, alignment);
    // The first page comes with a write, for it will be written to: after a read, as of a counter, it would come twice.
    if (slabs_->runs().used() != used) *static_cast<volatile unsigned char*>(block) = 0;
    return block;
}

inline void* multipool_resource::allocate_aligned(std::size_t index, std::size_t bytes, std::size_t alignment) {
    detail::bin& mine = enter(index);
    // Blocks that were cut outside of slabs may lie anywhere; those that come back go behind the others. So a few are looked at, and where
    // all are such a slab is asked.
    constexpr int most_looks = 16;
    for (int looks = 0; looks < most_looks; ++looks) {
        void* const block = mine.take();
        if (block == nullptr) break;
        if (slabs_ != nullptr && slabs_->runs().find(block) != nullptr) {
            return handed_out(block, bytes, alignment, index * sizeof(detail::bin));
        }
        mine.add(block);
    }
    for (;;) {
        void* const block = slabs_ != nullptr ? slabs_->take_from_slab(mine, index) : nullptr;
        if (block != nullptr) return handed_out(block, bytes, alignment, index * sizeof(detail::bin));
        const detail::page_runs::run pages = more_pages_or_none(detail::slab_pages(index));
        if (!pages) return this->allocate_large(bytes, alignment);
        slabs_->open(pages, index);
    }
}

inline void multipool_resource::take_many(std::size_t index, detail::bin_queue& into, std::uint32_t count) {
    const std::size_t bytes = detail::bin_bytes(index);
    const std::size_t alignment = (std::min)(bytes & -bytes, fine_alignment);
    while (count > 0) {
        void* const block = allocate(bytes, alignment);
        into.add(block);
        detail::poison(block, bytes);
        --count;
        // What else is in the queue changes hands unseen, but where every block is remembered.
        if constexpr (!detail::memory_checked) count -= into.take_from(pools_[index], count);
    }
}

inline void multipool_resource::give_many(std::size_t index, detail::free_block* list) noexcept {
    // (Nothing is asked about pools that the options exclude, too: those must not be entered.)
    if (list == nullptr) return;
    if constexpr (detail::memory_checked) {
        const std::size_t bytes = detail::bin_bytes(index);
        while (list != nullptr) {
            detail::free_block* const block = std::exchange(list, detail::next_of(list));
            detail::unpoison(block, bytes);
            deallocate(block, bytes, (std::min)(bytes & -bytes, fine_alignment));
        }
    } else if (slabs_ != nullptr) {
        slabs_->settle(list, index);
    } else {
        detail::bin& mine = enter(index);
        for (; list != nullptr; list = detail::next_of(list)) mine.add(list);
    }
}

inline std::size_t multipool_resource::trim() noexcept {
    large_.trim(upstream_resource());
    if (slabs_ == nullptr) return 0;
    settle_everything();
    if (detail::page_runs& runs = slabs_->runs(); pages_at_hand() && !chain_.active_is_reserved() && runs.is_active_empty()) {
        runs.leave(chain_.active_end());
    }
    const std::size_t result = slabs_->runs().trim([this](auto which) noexcept { chain_.give_back(which); });
    // (An earlier chunk may be the active one then: one that could not grow at that time, and whose pages are in use.)
    if (!pages_at_hand() && chain_.active() != nullptr) slabs_->runs().resume(chain_.active());
    return result;
}

inline multipool_statistics multipool_resource::statistics() const noexcept {
    multipool_statistics result;
    std::array<detail::slab_space::usage, detail::bins> usages{};
    if (slabs_ != nullptr) {
        usages = slabs_->usages();
        result.empty_slab_bytes = slabs_->runs().free() * detail::pool_page;
    }
    for (std::size_t index = 0; index < detail::bins; ++index) {
        multipool_statistics::size_class& each = result.classes[index];
        const detail::bin& pool = pools_[index];
        each.block_bytes = detail::bin_bytes(index);
        each.slabs = usages[index].slabs;
        each.slab_bytes = each.slabs * detail::slab_pages(index) * detail::pool_page;
        each.free = usages[index].free + pool.count();
        each.in_use = usages[index].cut + pool.single - each.free;
        result.blocks += each.in_use;
        result.bytes += each.in_use * each.block_bytes;
    }
    result.chunk_bytes = chain_.bytes();
    return result;
}

}    // HEADROOM_MEMORY_ABI

}}    // namespace headroom
