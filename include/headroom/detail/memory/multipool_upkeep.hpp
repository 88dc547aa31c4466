// What a multipool does now and then, or when it is asked to: takes more memory, puts what came back in order, gives memory back that
// it does not need, says what it holds.
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

HEADROOM_COLD inline bool multipool_resource::add_area(const detail::piece& memory) noexcept {
#if defined(__cpp_exceptions)
    try {
#endif
        if (slabs_ == nullptr) {
            slabs_ = new (upstream_resource()->allocate(sizeof(detail::slab_space), alignof(detail::slab_space)))
                detail::slab_space(upstream_resource());
            each_entered([this](std::size_t index, detail::bin& each) { each.room = room_of(index); });
        }
        slabs_->runs().add(memory);
        return true;
#if defined(__cpp_exceptions)
    } catch (...) {
        count_cut();
        chain_.adopt(memory);
        return false;
    }
#endif
}

HEADROOM_COLD inline bool multipool_resource::add_area_or_not(std::size_t least) noexcept {
#if defined(__cpp_exceptions)
    try {
#endif
        return add_area(chain_.obtain(least, detail::pool_page, most_of(least), detail::arrival::at_first_touch));
#if defined(__cpp_exceptions)
    } catch (...) {
        return false;
    }
#endif
}

HEADROOM_COLD inline bool multipool_resource::more_memory(std::size_t index) {
    const std::size_t size = detail::bin_bytes(index);
    const std::size_t most = most_of(size);
    const std::size_t slab = detail::slab_pages(index) * detail::pool_page;
    const std::size_t least = (std::max)(slab, std::clamp(most, least_area, least_first_area));
    if (chain_.next_bytes(size, most) >= least) {
#if defined(__cpp_exceptions)
        try {
#endif
            if (add_area(chain_.obtain(slab, detail::pool_page, most, arrival_of_slab(index))) && next_slab(index)) return true;
#if defined(__cpp_exceptions)
        } catch (const std::bad_alloc&) {
            // A slab is refused; a few blocks may not be.
        }
#endif
    }
    count_cut();
    chain_.make_room(size, detail::alignment_of(size), most, size + detail::gap_before(size));
    return false;
}

template <class Visit>
void multipool_resource::each_loose(Visit visit) noexcept {
    each_entered([&](std::size_t index, detail::bin& each) noexcept {
        visit(slabs_ != nullptr ? slabs_->loose(index) : static_cast<detail::bin_queue&>(each), each.single);
    });
}

inline void multipool_resource::count_cut() noexcept {
    std::size_t all = 0;
    each_entered([&](std::size_t, const detail::bin& each) noexcept { all += each.single; });
    if (chain_.active() != nullptr) chain_.active()->blocks += all - counted_;
    counted_ = all;
}

HEADROOM_COLD inline bool multipool_resource::takes_back(std::size_t bytes) noexcept {
    if (takes_back_ != answer::unknown) return takes_back_ == answer::yes;
    const auto chunks = chain_.smallest_empty(bytes, chunk_is_empty);
    std::pair<const detail::area*, std::size_t> areas;
    if (slabs_ != nullptr) areas = slabs_->runs().smallest_empty(bytes);
    // Not with the only one, which may be all that is left.
    if (chunks.second + areas.second < 2) return false;
    const detail::chunk* const probe = chunks.first;
    const detail::area* const probed = areas.first;
    const detail::piece gone = probe != nullptr ? probe->memory : probed->memory;
    if (probe != nullptr) {
        chain_.reuse(true, [probe](const detail::chunk& each) noexcept { return &each == probe; });
    } else {
        slabs_->runs().forget_empty(probed);
    }
#if defined(__cpp_exceptions)
    try {
#endif
        void* const again = upstream_resource()->allocate(gone.bytes, gone.alignment);
        upstream_resource()->deallocate(again, gone.bytes, gone.alignment);
        takes_back_ = answer::yes;
#if defined(__cpp_exceptions)
    } catch (...) {
        takes_back_ = answer::no;
    }
#endif
    return takes_back_ == answer::yes;
}

HEADROOM_COLD inline bool multipool_resource::reclaim(std::size_t bytes) noexcept {
    bool any = large_.give_back_kept(upstream_resource());
    if (slabs_ != nullptr) settle(true);
    if constexpr (!detail::memory_checked) any = release_empty_chunks(bytes) || any;
    if (slabs_ != nullptr && (chain_.reserves() || takes_back(bytes))) any = slabs_->runs().trim() != 0 || any;
    return any;
}

HEADROOM_COLD inline bool multipool_resource::release_empty_chunks(std::size_t bytes) noexcept {
    // Looking up a block is linear in the chunks. Only max_blocks_per_chunk makes more than some dozens.
    constexpr std::size_t most_chunks = 64;
    count_cut();
    if (chain_.forget_free() > most_chunks) return false;
    each_loose([this](detail::bin_queue& blocks, std::uint32_t) noexcept {
        const detail::free_block* block = blocks.before.next;
        for (std::size_t left = blocks.count(); left != 0; --left) {
            ++chain_.find(block)->free;
            if (left != 1) block = detail::next_of(block);
        }
    });
    bool found = false;
    each_loose([&](detail::bin_queue& blocks, std::uint32_t& single) noexcept {
        detail::free_block* block = blocks.take_all();
        while (block != nullptr) {
            detail::free_block* const next = detail::next_of(block);
            if (chunk_is_empty(*chain_.find(block))) {
                --single;
                --counted_;
                found = true;
            } else {
                blocks.add(block);
            }
            block = next;
        }
    });
    if (found) chain_.reuse(!chain_.reserves() && takes_back(bytes), chunk_is_empty);
    return found;
}

HEADROOM_COLD inline void* multipool_resource::allocate_reclaimed(std::size_t bytes, std::size_t alignment) {
    const bool any = reclaim(bytes);
#if defined(__cpp_exceptions)
    if (any && takes_back_ == answer::yes) {
        try {
            return fresh(large_.allocate(bytes, alignment, upstream_resource(), chain_.reserves()), bytes, alignment);
        } catch (const std::bad_alloc&) {
            // A free page run may still do.
        }
    }
#endif
    if (slabs_ != nullptr && may_take_free_pages(bytes, alignment)) {
        const std::size_t count = pages_for(bytes, alignment);
        if (const detail::page_runs::run found = slabs_->runs().take(count)) {
            detail::page_runs::mark_used(found, count);
            return fresh(place_in(found, bytes, alignment), bytes, alignment);
        }
    }
    if (!any) return nullptr;
    return fresh(large_.allocate(bytes, alignment, upstream_resource(), chain_.reserves()), bytes, alignment);
}

HEADROOM_COLD inline void* multipool_resource::carve_farther(std::size_t pool, std::size_t bytes, std::size_t alignment) {
    const std::size_t size = size_of(pool);
    const std::size_t index = index_of(pool);
    detail::bin& mine = pool_at(pool);
    const std::size_t aligned = detail::alignment_of(size);
    if (has_slabs(index) || !chain_has_room(size, aligned)) {
        // (Rather than more memory the last free block is taken.)
        const auto take = [&] { return slabs_->refill(mine, index); };
        const auto fresh_pages = [&] { return next_slab(index) || !mine.empty(); };
        bool found = slabs_ != nullptr ? find(take, fresh_pages) : !mine.empty();
        if (!found && (slabs_ == nullptr || !chain_has_room(size, aligned))) {
#if defined(__cpp_exceptions)
            try {
#endif
                found = more_memory(index);
#if defined(__cpp_exceptions)
            } catch (const std::bad_alloc&) {
                if (!reclaim(size)) throw;
                found = slabs_ != nullptr && (take() || fresh_pages());
                if (!found && !chain_has_room(size, aligned)) found = more_memory(index);
            }
#endif
        }
        if (found) return handed_out(mine.take(), bytes, alignment, pool);
    }
    const std::size_t gap = detail::gap_before(size);
    return cut(pool, aligning(size) + (chain_.fits(gap + size, aligned) ? gap : 0), bytes, alignment);
}

template <class Take, class Fresh>
bool multipool_resource::find(Take take, Fresh fresh_pages) noexcept {
    if (slabs_->runs().may_collect(long_back())) settle(false);
    if (take() || fresh_pages()) return true;
    settle(true);
    return take();
}

[[gnu::noinline]] inline void multipool_resource::take_back_and_settle(std::size_t pool, void* block, std::size_t bytes) {
    detail::bin& mine = pool_at(pool);
    if (mine.last == nullptr) {    // the options exclude it
        mine.room = 0;
        return deallocate_large(block, bytes);
    }
    mine.add(block);
    taken_back(block, pool);
    mine.room = room_of(index_of(pool));
    if (slabs_ == nullptr) return;
    // What came back since the last look is put in order only at the next one, and only if it was not asked for again until then.
    // So memory that is handed out and comes back in turn is left alone; and where a container is being destroyed, and each block
    // must be fetched from memory as its address stands in the one before, those that are put in order have long arrived: the
    // processor does it while it waits for the next.
    if (!slabs_->order_matters(index_of(pool))) {
        mine.room -= few_back;    // it is put in order with the others (see settle)
    } else if (slabs_->let_wait(mine, index_of(pool))) {
        mine.room = room_among_many;
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

[[gnu::noinline]] inline void multipool_resource::settle(bool all) noexcept {
    each_entered([this, all, slabs = slabs_](std::size_t index, detail::bin& each) {
        if (all || index >= detail::short_bins || each.room <= room_between - few_back) {
            each.room = room_of(index);
            slabs->settle(each, index);
        } else {
            slabs->settle_waiting(index);
        }
    });
}

HEADROOM_COLD inline detail::page_runs::run multipool_resource::more_pages(std::size_t count) noexcept {
    detail::page_runs::run found{};
    const auto take = [&] { return static_cast<bool>(found = slabs_->runs().take(count)); };
    const auto fresh_pages = [&] {
        found = fresh_run(count, detail::arrival::at_first_touch);
        return static_cast<bool>(found);
    };
    if ((slabs_ == nullptr || !find(take, fresh_pages)) && add_area_or_not(count * detail::pool_page)) fresh_pages();
    return found;
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
        const detail::page_runs::run pages = more_pages(detail::slab_pages(index));
        if (!pages) return this->allocate_large(bytes, alignment);
        slabs_->open(pages, index);
    }
}

inline void multipool_resource::take_many(std::size_t index, detail::bin_queue& into, std::uint32_t count) {
    const std::size_t bytes = detail::bin_bytes(index);
    const std::size_t alignment = detail::alignment_of(bytes);
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
            deallocate(block, bytes, detail::alignment_of(bytes));
        }
    } else if (slabs_ != nullptr) {
        slabs_->settle(list, index);
    } else {
        detail::bin& mine = enter(index);
        for (; list != nullptr; list = detail::next_of(list)) mine.add(list);
    }
}

inline std::size_t multipool_resource::trim() noexcept {
    large_.give_back_kept(upstream_resource());
    if (slabs_ == nullptr) return 0;
    settle(true);
    return slabs_->runs().trim();
}

inline multipool_statistics multipool_resource::statistics() const noexcept {
    multipool_statistics result;
    if (slabs_ != nullptr) {
        slabs_->count(result.classes);
        result.empty_slab_bytes = slabs_->runs().free() * detail::pool_page;
        result.chunk_bytes = slabs_->runs().bytes();
    }
    for (std::size_t index = 0; index < detail::bins; ++index) {
        multipool_statistics::size_class& each = result.classes[index];
        const detail::bin& pool = pools_[index];
        each.block_bytes = detail::bin_bytes(index);
        each.slab_bytes = each.slabs * detail::slab_pages(index) * detail::pool_page;
        each.free += pool.count();
        each.in_use = each.in_use + pool.single - each.free;
        result.blocks += each.in_use;
        result.bytes += each.in_use * each.block_bytes;
    }
    result.chunk_bytes += chain_.bytes();
    return result;
}

}    // HEADROOM_MEMORY_ABI

}}    // namespace headroom
