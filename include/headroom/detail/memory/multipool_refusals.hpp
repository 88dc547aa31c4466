// SPDX-License-Identifier: MIT
// Slow paths of a multipool after upstream has refused memory: they make what is free usable for any size, and return empty pieces to
// upstream, before the program is refused. Compiled where multipool_slow_paths.hpp is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include <headroom/detail/attempt.hpp>
#include <headroom/detail/memory/memory_abi.hpp>
#include <headroom/detail/memory/multipool_resource.hpp>
#include <headroom/detail/memory/slabs.hpp>

namespace headroom { inline namespace v0_1 {

inline namespace HEADROOM_MEMORY_ABI {

HEADROOM_MEMORY_INLINE void multipool_resource::record_carved() noexcept {
    std::size_t all = 0;
    for_each_active([&](detail::bin_index, const detail::bin& each) noexcept { all += each.chunk_blocks; });
    if (chain_.active() != nullptr) chain_.active()->blocks += all - carved_;
    carved_ = all;
}

HEADROOM_MEMORY_INLINE void multipool_resource::retire_cursor() noexcept {
    std::byte* const last = chain_.active_is_unused() ? chain_.cursor : chain_.limit;
    add_span(std::exchange(chain_.cursor, chain_.limit), last);
}

HEADROOM_COLD HEADROOM_MEMORY_INLINE bool multipool_resource::probe_upstream_reuse(std::size_t bytes) noexcept {
    if (upstream_reuses_ != answer::unknown) return upstream_reuses_ == answer::yes;
    constexpr std::size_t most_left = 8;    // pieces
    const std::size_t least = bytes / most_left;
    const auto chunks = chain_.smallest_empty(least, chunk_is_empty);
    std::pair<const detail::segment*, std::size_t> segments;
    if (slabs_ != nullptr) segments = slabs_->runs().smallest_empty(least);
    // Not with the only one: upstream may have nothing else.
    if (chunks.second + segments.second < 2) return false;
    const detail::chunk* const probe = chunks.first;
    const detail::segment* const probed = segments.first;
    detail::memory_piece piece = probe != nullptr ? probe->memory : probed->memory();
    const std::byte* const gone = piece.data;
    // Takes what upstream has left: what it grants after that was returned to it.
    std::array<std::byte*, most_left> left{};
    std::size_t count = 0;
    while (count < most_left && (left[count] = try_upstream(piece)) != nullptr) ++count;
    if (count < most_left) {
        if (probe != nullptr) {
            chain_.reuse_empty(true, [gone](const detail::chunk& each) noexcept { return each.memory.data == gone; });
        } else {
            slabs_->runs().release_segment(probed);
        }
        std::byte* const again = try_upstream(piece);
        upstream_reuses_ = again != nullptr ? answer::yes : answer::no;
        if (again != nullptr) upstream_resource()->deallocate(again, piece.bytes, piece.alignment);
    }
    while (count != 0) {
        piece.data = left[--count];
        if (upstream_reuses_ == answer::yes) {
            piece.release(upstream_resource());
        } else {
            chain_.add_as_unused(piece);
        }
    }
    return upstream_reuses_ == answer::yes;
}

HEADROOM_MEMORY_INLINE std::byte* multipool_resource::try_upstream(const detail::memory_piece& like) noexcept {
    return static_cast<std::byte*>(detail::try_allocate_upstream(upstream_resource(), like.bytes, like.alignment));
}

HEADROOM_MEMORY_INLINE std::uint64_t multipool_resource::free_stamp() const noexcept {
    std::uint64_t left = 0;
    for (const detail::bin& each : bins_) left += static_cast<std::uint32_t>(each.frees_until_flush);
    return (slow_frees_ << 40) - left;
}

HEADROOM_COLD HEADROOM_MEMORY_INLINE bool multipool_resource::join_free_memory() noexcept {
    if (free_stamp() == joined_stamp_) return false;
    bool any = false;
    if (slabs_ != nullptr) {
        return_blocks_to_slabs(true);
        slabs_->use_small_slabs();
        any = slabs_->free_uncarved_pages() || slabs_->runs().free() != 0;
    }
    if constexpr (!detail::memory_checked) any = join_chunk_blocks() || any;
    joined_stamp_ = free_stamp();
    return any;
}

HEADROOM_COLD HEADROOM_MEMORY_INLINE bool multipool_resource::release_empty(std::size_t bytes) noexcept {
    if (free_stamp() == released_stamp_ && bytes >= released_for_) return false;
    bool any = large_.release_kept(upstream_resource());
    if (chain_.uses_reservations()) {
        if (slabs_ != nullptr) any = slabs_->runs().trim() != 0 || any;
    } else {
        record_carved();
        if (probe_upstream_reuse(bytes)) {
            if constexpr (!detail::memory_checked) any = chain_.reuse_empty(true, chunk_is_empty) || any;
            if (slabs_ != nullptr) any = slabs_->runs().trim() != 0 || any;
        }
    }
    released_stamp_ = free_stamp();
    released_for_ = bytes;
    return any;
}

HEADROOM_COLD HEADROOM_MEMORY_INLINE bool multipool_resource::move_blocks_to_spans() noexcept {
    bool any = false;
    detail::chunk* of = nullptr;    // chunk of the last block
    for_each_active([&](detail::bin_index index, detail::bin& each) noexcept {
        detail::bin_queue& queue = slabs_ != nullptr ? slabs_->free_chunk_blocks(index) : static_cast<detail::bin_queue&>(each);
        for (detail::free_block* block = queue.pop_all(); block != nullptr; any = true) {
            auto* const place = reinterpret_cast<std::byte*>(std::exchange(block, detail::next_of(block)));
            if (of == nullptr || place < of->first || place >= of->last) of = chain_.find(place);
            --of->blocks;
            --each.chunk_blocks;
            --carved_;
            spans_.push(place, place + detail::bin_bytes(index));
        }
    });
    return any;
}

HEADROOM_COLD HEADROOM_MEMORY_INLINE bool multipool_resource::join_chunk_blocks() noexcept {
    // Finding a block's chunk is linear in the chunks. Only max_blocks_per_chunk makes more than some dozens.
    constexpr std::size_t most_chunks = 64;
    if (chain_.count() > most_chunks) return false;
    record_carved();
    const bool any = move_blocks_to_spans();
    if (std::exchange(uses_spans_, true) && !any) return false;
    retire_cursor();
    detail::span_lists free = spans_.pop_all();
    detail::chunk* of = nullptr;
    std::byte* first = nullptr;    // span that the next one is joined with, if adjacent
    std::byte* last = nullptr;
    const auto push = [&] {
        if (of != nullptr && !chunk_is_empty(*of)) spans_.push(first, last);
    };
    while (free.sized != nullptr || free.slivers != nullptr) {
        std::byte* place = nullptr;
        const std::size_t bytes = detail::free_spans::pop_lowest(free, place);
        if (of == nullptr || place != last || place == of->last) {
            push();
            first = place;
            if (of == nullptr || place < of->first || place >= of->last) of = chain_.find(place);
        }
        last = place + bytes;
    }
    push();
    chain_.reuse_empty(false, chunk_is_empty);
    return true;
}

HEADROOM_MEMORY_INLINE void* multipool_resource::allocate_own_piece(std::size_t bytes, std::size_t alignment) {
    return on_first_use(large_.allocate(bytes, alignment, upstream_resource(), chain_.uses_reservations()), bytes, alignment);
}

HEADROOM_COLD HEADROOM_MEMORY_INLINE void* multipool_resource::allocate_after_reclaim(std::size_t bytes, std::size_t alignment) {
    join_free_memory();
    void* block = nullptr;
    const bool is_pooled = bypasses_bins(bytes);
    if (is_pooled) block = try_allocate_run_block(bytes, alignment);
    if (block == nullptr && release_empty(bytes)) {
        block = detail::catch_bad_alloc([&] { return allocate_own_piece(bytes, alignment); }, []() -> void* { return nullptr; });
    }
    if (block == nullptr && !is_pooled && may_use_free_run(bytes, alignment)) block = try_allocate_run_block(bytes, alignment);
    if (block == nullptr) detail::rethrow();
    return block;
}

HEADROOM_COLD HEADROOM_MEMORY_INLINE void* multipool_resource::try_allocate_run_block(std::size_t bytes,
                                                                                      std::size_t alignment) noexcept {
    const std::size_t count = run_pages(bytes, alignment);
    const detail::page_run found = slabs_ != nullptr ? slabs_->runs().take_free_run(count) : detail::page_run{};
    if (!found) return nullptr;
    detail::page_runs::mark_used(found, count);
    return on_first_use(place_in_run(found, bytes, alignment), bytes, alignment);
}

HEADROOM_COLD HEADROOM_MEMORY_INLINE bool multipool_resource::refill_after_refusal(detail::bin_index index) {
    const std::size_t size = detail::bin_bytes(index);
    const bool joined = join_free_memory();
    bool found = false;
    const auto take_joined = [&] {
        found = slabs_ != nullptr && (slabs_->refill(bins_[index], index) || open_unused_slab(index));
        return joined && (found || make_room_in_chunks(size, detail::alignment_of(size)));
    };
    // Larger blocks leave much of a chunk over that is not made for them.
    const bool fits_anywhere = index < detail::first_medium_bin;
    if (fits_anywhere && take_joined()) return found;
    const auto add = [&] {
        found = add_memory(index);
        return true;
    };
    const bool added = release_empty(size) && detail::catch_bad_alloc(add, [] { return false; });
    if (!added && (fits_anywhere || !take_joined())) detail::rethrow();
    return found;
}

}    // HEADROOM_MEMORY_ABI

}}    // namespace headroom
