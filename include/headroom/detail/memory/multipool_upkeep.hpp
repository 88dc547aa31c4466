// SPDX-License-Identifier: MIT
// A multipool's own memory: getting segments, returning freed blocks to their slabs, returning unused memory, statistics. Compiled where
// multipool_slow_paths.hpp is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>    // max, min

#include <headroom/detail/attempt.hpp>
#include <headroom/detail/memory/memory_abi.hpp>
#include <headroom/detail/memory/multipool_resource.hpp>
#include <headroom/detail/memory/slabs.hpp>

namespace headroom { inline namespace v0_1 {

inline namespace HEADROOM_MEMORY_ABI {

HEADROOM_MEMORY_INLINE void multipool_resource::release() noexcept {
    forget_blocks();
    release_segments();
    chain_.release();
}

HEADROOM_MEMORY_INLINE void multipool_resource::rewind() noexcept {
    forget_blocks();
    large_.rewind(upstream_resource());
    chain_.rewind();
}

HEADROOM_MEMORY_INLINE void multipool_resource::release_segments() noexcept {
    large_.release(upstream_resource());
    if (slabs_ == nullptr) return;
    slabs_->~slab_pool();
    upstream_resource()->deallocate(slabs_, sizeof(detail::slab_pool), alignof(detail::slab_pool));
    slabs_ = nullptr;
}

HEADROOM_MEMORY_INLINE void multipool_resource::forget_blocks() noexcept {
    checks_.on_release();
    for_each_active([this](detail::bin_index index, detail::bin& each) {
        each.clear();
        each.chunk_blocks = 0;
        each.frees_until_flush = initial_frees_until_flush(index);
    });
    carved_ = 0;
    ++slow_frees_;
    spans_.clear();
    uses_spans_ = false;
    chain_.forget_blocks();
    if (slabs_ != nullptr) slabs_->reset();
}

HEADROOM_MEMORY_INLINE bool multipool_resource::has_slabs(detail::bin_index index) const noexcept {
    return slabs_ != nullptr && slabs_->has_slabs(index);
}

HEADROOM_MEMORY_INLINE detail::page_run multipool_resource::take_unused_run(std::size_t pages, detail::populate how) noexcept {
    return slabs_->runs().take_unused(
        pages, [&](detail::memory_piece& memory, std::size_t bytes) noexcept { return chain_.commit_piece(memory, bytes, how); });
}

HEADROOM_MEMORY_INLINE detail::populate multipool_resource::populate_for_slab(detail::bin_index index) const noexcept {
    const bool all = index < detail::first_coarse_bin || (index < detail::first_medium_bin && has_slabs(index));
    return all ? detail::populate::at_once : detail::populate::at_first_touch;
}

HEADROOM_MEMORY_INLINE bool multipool_resource::open_unused_slab(detail::bin_index index) noexcept {
    const std::size_t count = slabs_->next_slab_pages(index);
    const detail::page_run found = take_unused_run(count, populate_for_slab(index));
    if (!found) return false;
    slabs_->open_slab(found, count, index);
    return slabs_->refill(bins_[index], index);
}

HEADROOM_COLD HEADROOM_MEMORY_INLINE bool multipool_resource::add_segment(const detail::memory_piece& memory) noexcept {
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

HEADROOM_COLD HEADROOM_MEMORY_INLINE bool multipool_resource::try_add_segment(std::size_t least) noexcept {
    return detail::value_or_on_throw(false, [&] {
        return add_segment(
            chain_.obtain_piece(least, detail::pool_page_bytes, max_chunk_bytes(least), detail::populate::at_first_touch));
    });
}

HEADROOM_COLD HEADROOM_MEMORY_INLINE bool multipool_resource::add_memory(detail::bin_index index) {
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

HEADROOM_MEMORY_INLINE std::size_t multipool_resource::medium_pages_freed() noexcept {
    std::size_t result = 0;
    const auto add = [&](detail::bin_index index, const detail::bin& each) noexcept {
        const auto blocks = static_cast<std::size_t>(frees_without_slabs - each.frees_until_flush);
        result += blocks * detail::bin_bytes(index) / detail::pool_page_bytes;
    };
    for_each_bin(active_[0] >> detail::short_bin_count | active_[1] << (64 - detail::short_bin_count), detail::short_bin_count,
                 add);
    return result;
}

HEADROOM_NOINLINE HEADROOM_MEMORY_INLINE void multipool_resource::return_blocks_to_slabs(bool all) noexcept {
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

template <class Take, class TakeUnused>
bool multipool_resource::find_free_or_unused(Take take, TakeUnused take_unused) noexcept {
    if (slabs_->runs().start_flush_if_due(medium_pages_freed())) return_blocks_to_slabs(false);
    if (take() || take_unused()) return true;
    if (joined_stamp_ != 0 && free_stamp() == joined_stamp_) return false;
    return_blocks_to_slabs(true);
    return take();
}

HEADROOM_COLD HEADROOM_MEMORY_INLINE detail::page_run multipool_resource::find_or_add_pages(std::size_t count) noexcept {
    detail::page_run found{};
    const auto take = [&] { return static_cast<bool>(found = slabs_->runs().take_free_run(count)); };
    const auto take_unused = [&] {
        found = take_unused_run(count, detail::populate::at_first_touch);
        return static_cast<bool>(found);
    };
    if ((slabs_ == nullptr || !find_free_or_unused(take, take_unused)) && try_add_segment(count * detail::pool_page_bytes))
        take_unused();
    return found;
}

HEADROOM_MEMORY_INLINE std::size_t multipool_resource::trim() noexcept {
    large_.release_kept(upstream_resource());
    if (slabs_ == nullptr) return 0;
    return_blocks_to_slabs(true);
    return slabs_->runs().trim();
}

HEADROOM_MEMORY_INLINE multipool_statistics multipool_resource::statistics() const noexcept {
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
