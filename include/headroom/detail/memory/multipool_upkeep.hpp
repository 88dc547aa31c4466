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

inline void multipool_resource::enter_chunk() noexcept {
    std::byte* const first = detail::align_up(chain_.cursor, detail::slab_granule);
    std::byte* const bound = chain_.active_bound();
    if (bound < first || static_cast<std::size_t>(bound - first) < least_area) return;
#if defined(__cpp_exceptions)
    try {
#endif
        if (slabs_ == nullptr) {
            slabs_ = new (upstream_resource()->allocate(sizeof(detail::slab_space), alignof(detail::slab_space)))
                detail::slab_space(upstream_resource());
            for (std::uint64_t left = entered_; left != 0; left &= left - 1) {
                pools_[static_cast<std::size_t>(std::countr_zero(left))].room = room_between;
            }
        }
        slabs_->enter(chain_.active(), chain_.active_is_reserved(), first, bound);
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
    if (slabs_at_work() && !slabs_->few(index)) {
        if (slabs_->may_collect()) settle_all();
        if (slabs_->refill(entered, index) || next_slab(index)) return handed_out(entered.take(), bytes, alignment, pool);
        if (void* const block = entered.take()) return handed_out(block, bytes, alignment, pool);
        if (refill_at_last(index)) return handed_out(entered.take(), bytes, alignment, pool);
        take_chunk(size, fine_alignment, most_of(size));
        if (slabs_at_work() && next_slab(index)) return handed_out(entered.take(), bytes, alignment, pool);
    }
    // Rather than a new chunk the last free block is taken; but rather than that, which is slow each time, some more of a
    // reservation, so that two are free from then on.
    if (!at_hand(pool).fits(size, aligned) && !chain_.fits(size, fine_alignment) &&
        !widen(size, fine_alignment, 0, how_for(size))) {
        if (void* const block = entered.take()) return handed_out(block, bytes, alignment, pool);
        if (refill_at_last(index)) return handed_out(entered.take(), bytes, alignment, pool);
    }
    void* const block = is_small(pool) && !slabs_at_work() ? cut_small(size, aligned)
                                                           : cut(size, aligned, most_of(size), detail::gap_before(size));
    ++entered.single;
    return fresh(block, bytes, alignment);
}

inline bool multipool_resource::refill_at_last(std::size_t index) noexcept {
    if (slabs_ == nullptr) return false;
    settle_everything();
    return slabs_->refill(pools_[index], index);
}

[[gnu::noinline]] inline void multipool_resource::deallocate_and_settle(std::size_t pool, void* block, std::size_t bytes,
                                                                        std::size_t alignment) {
    detail::bin& mine = pool_at(pool);
    if (mine.last == nullptr) {
        mine.room = 0;
        return deallocate_rare(block, bytes, alignment);
    }
    mine.room = slabs_ == nullptr ? room_without_slabs : room_between;
    mine.add(block);
    taken_back(block, pool);
    // What came back since the last look is put in order only at the next one, and only if it was not asked for again until then.
    // So memory that is handed out and comes back in turn is left alone; and where a container is being destroyed, and each block
    // must be fetched from memory as its address stands in the one before, those that are put in order have long arrived: the
    // processor does it while it waits for the next.
    if (slabs_ != nullptr && slabs_->order_matters(index_of(pool))) {
        if (slabs_->settle_waiting(index_of(pool))) mine.room = room_among_many;
        slabs_->let_wait(mine, index_of(pool));
    }
}

inline void multipool_resource::settle_all() noexcept {
    for (std::uint64_t left = entered_; left != 0; left &= left - 1) {
        const auto index = static_cast<std::size_t>(std::countr_zero(left));
        detail::bin& each = pools_[index];
        // (What was just cut, or taken from slabs in order, is not looked at: only what came back.)
        if (slabs_->was_put_off(index) || each.room <= room_between - few_back) {
            each.room = room_between;
            slabs_->settle(each, index);
        } else {
            slabs_->settle_waiting(index);
        }
    }
}

inline void multipool_resource::settle_everything() noexcept {
    for (std::uint64_t left = entered_; left != 0; left &= left - 1) {
        const auto index = static_cast<std::size_t>(std::countr_zero(left));
        slabs_->settle(pools_[index], index);
        slabs_->close_unused(index);
    }
}

inline bool multipool_resource::reuse_empties(std::size_t size) noexcept {
    if (!slabs_at_work()) return false;
    settle_everything();
    const std::size_t least = std::bit_ceil((size + detail::slab_granule - 1) / detail::slab_granule);
    std::size_t count = (std::max)(least, single_granules);
    std::byte* from = slabs_->take_pages(count);
    if (from == nullptr) from = slabs_->take_pages(count = least);
    if (from == nullptr) return false;
    scrap(chain_.cursor, chain_.limit);
    chain_.cursor = from;
    chain_.limit = from + count * detail::slab_granule;
    return true;
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
    return slabs_->trim([this](auto which) noexcept { chain_.give_back(which); });
}

inline multipool_statistics multipool_resource::statistics() const noexcept {
    multipool_statistics result;
    std::array<detail::slab_space::usage, detail::bins> usages{};
    if (slabs_ != nullptr) {
        usages = slabs_->usages();
        result.empty_slab_bytes = slabs_->empty_bytes();
    }
    for (std::size_t index = 0; index < detail::bins; ++index) {
        multipool_statistics::size_class& each = result.classes[index];
        const detail::bin& pool = pools_[index];
        each.block_bytes = detail::bin_bytes(index);
        each.slabs = usages[index].slabs;
        each.slab_bytes = each.slabs * detail::slab_granules(index) * detail::slab_granule;
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
