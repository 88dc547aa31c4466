// SPDX-License-Identifier: MIT
// Large blocks: those that a pool does not serve. Each is a piece of its own from upstream or from a reservation, and in a list, so that
// release() can free all of them. A block's link is behind it, at an offset given by its size. A reservation takes system calls, and many
// more to fill, so the last few that were deallocated are kept for blocks of similar size: up to 8, and 8 MiB. Deallocated memory of
// upstream goes back at once. rewind() keeps both for one round.
#pragma once

#include <bit>
#include <cstddef>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>    // max

#include <headroom/detail/memory/chunks.hpp>
#include <headroom/detail/memory/memory_abi.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {
inline namespace HEADROOM_MEMORY_ABI {

class large_blocks {
public:
    large_blocks() noexcept = default;
    large_blocks(const large_blocks&) = delete;
    large_blocks& operator=(const large_blocks&) = delete;

    // Returns a block of `bytes`; with `reserve`, from 64 KiB on in a reservation if granted. Throws as upstream; blocks in use stay.
    HEADROOM_NOINLINE void* allocate(std::size_t bytes, std::size_t alignment, std::pmr::memory_resource* upstream,
                                     bool reserve) {
        if (bytes > max_request_bytes || alignment > max_alignment) detail::throw_upstream_bad_alloc(upstream);
        const std::size_t needed = link_offset(bytes) + sizeof(link);
        memory_piece memory = pop_best_fit(freed_, needed, alignment);
        if (memory.data == nullptr) memory = pop_best_fit(spare_, needed, alignment);
        if (memory.data == nullptr) memory = allocate_piece(needed, alignment, upstream, reserve);
        link* const added = new (memory.data + link_offset(bytes)) link{nullptr, in_use_, memory};
        if (in_use_ != nullptr) in_use_->previous = added;
        in_use_ = added;
        detail::poison(memory.data + bytes, link_offset(bytes) - bytes);
        return memory.data;
    }

    // Frees a block. With `may_keep`, one in a reservation of at most 8 MiB is kept for reuse, and the oldest kept ones above the limits
    // are released. Precondition: allocate(bytes, ...) returned `block`, which is in use.
    HEADROOM_NOINLINE void deallocate(void* block, std::size_t bytes, std::pmr::memory_resource* upstream, bool may_keep) {
        link* const gone = std::launder(reinterpret_cast<link*>(static_cast<std::byte*>(block) + link_offset(bytes)));
        (gone->previous != nullptr ? gone->previous->next : in_use_) = gone->next;
        if (gone->next != nullptr) gone->next->previous = gone->previous;
        const memory_piece& memory = gone->memory;
        if (!may_keep || memory.control == nullptr || memory.bytes > max_kept_bytes) {
            const memory_piece leaving = memory;
            return leaving.release(upstream);
        }
        gone->next = freed_;
        freed_ = gone;
        detail::poison(block, bytes);
        link** at = &freed_;
        std::size_t count = 0;
        for (std::size_t kept = 0; *at != nullptr; at = &(*at)->next) {
            kept += (*at)->memory.bytes;
            if (++count > max_kept_blocks || kept > max_kept_bytes) break;
        }
        release_list(*at, upstream);
    }

    // Releases all blocks, in use or kept, to upstream or the cache of kept ranges.
    void release(std::pmr::memory_resource* upstream) noexcept {
        release_list(in_use_, upstream);
        release_kept(upstream);
    }

    // Releases the kept blocks. False if there were none.
    bool release_kept(std::pmr::memory_resource* upstream) noexcept {
        const bool any = freed_ != nullptr || spare_ != nullptr;
        release_list(freed_, upstream);
        release_list(spare_, upstream);
        return any;
    }

    // Frees the blocks in use and keeps them, and those freed in this round, for the next one. Releases those kept before and unused since.
    void rewind(std::pmr::memory_resource* upstream) noexcept {
        release_list(spare_, upstream);
        spare_ = std::exchange(freed_, nullptr);
        for (link* each = std::exchange(in_use_, nullptr); each != nullptr;) {
            if constexpr (poisoning) {
                const auto* const end = reinterpret_cast<const std::byte*>(each);
                detail::poison(each->memory.data, static_cast<std::size_t>(end - each->memory.data));
            }
            // In order of allocation, so that a round like the last finds its blocks at once.
            link* const next = each->next;
            each->next = std::exchange(spare_, each);
            each = next;
        }
    }

private:
    struct link {
        link* previous;
        link* next;
        memory_piece memory;
    };

    static constexpr std::size_t max_kept_blocks = 8;                      // limit of kept blocks
    static constexpr std::size_t max_kept_bytes = std::size_t{8} << 20;    // limit of their bytes

    static constexpr std::size_t link_offset(std::size_t bytes) noexcept {
        return detail::round_up_to(bytes, alignof(std::max_align_t));
    }

    // True if the piece is aligned and has from `needed` to about twice `needed` bytes.
    static bool fits_request(const memory_piece& memory, std::size_t needed, std::size_t alignment) noexcept {
        return memory.bytes >= needed && memory.bytes / 2 <= needed && (detail::address_of(memory.data) & (alignment - 1)) == 0;
    }

    // Returns a new piece, from a reservation if `reserve` and it is granted, otherwise from upstream. Throws what upstream throws.
    HEADROOM_COLD memory_piece allocate_piece(std::size_t needed, std::size_t alignment, std::pmr::memory_resource* upstream,
                                              bool reserve) {
        if (reserve && needed >= chunk_chain::min_reserved_chunk && alignment <= headroom::page_size()) {
            // Rounds up to a power of two, so that kept ranges fit often.
            const std::size_t wanted = std::bit_ceil((std::max)(needed, std::size_t{1} << 20));
            const auto reserved = [&] {
                return detail::reserve_piece(wanted, needed, populate::at_first_touch, chunk_policy, false);
            };
            if (const memory_piece memory = reserved(); memory.data != nullptr) return memory;
            // Releases kept blocks: they may take what was refused.
            if (freed_ != nullptr || spare_ != nullptr) {
                release_kept(upstream);
                if (const memory_piece memory = reserved(); memory.data != nullptr) return memory;
            }
        }
        if (reserve && !detail::try_admit(needed)) detail::throw_bad_alloc();    // like chunk_chain::from_upstream()
        memory_piece memory{nullptr, needed, (std::max)(alignment, alignof(std::max_align_t))};
        memory.data = static_cast<std::byte*>(detail::allocate_upstream(upstream, memory.bytes, memory.alignment));
        return memory;
    }

    // Removes and returns the smallest of the first 16 pieces for which fits_request() is true; empty if there is none.
    static memory_piece pop_best_fit(link*& list, std::size_t needed, std::size_t alignment) noexcept {
        int looks = 16;
        link** found = nullptr;
        for (link** at = &list; *at != nullptr && looks > 0; at = &(*at)->next, --looks) {
            const memory_piece& memory = (*at)->memory;
            if (!fits_request(memory, needed, alignment)) continue;
            if (found == nullptr || memory.bytes < (*found)->memory.bytes) found = at;
            if (memory.bytes == needed) break;
        }
        if (found == nullptr) return {};
        const memory_piece memory = (*found)->memory;
        *found = (*found)->next;
        detail::unpoison(memory.data, memory.bytes);
        return memory;
    }

    static void release_list(link*& first, std::pmr::memory_resource* upstream) noexcept {
        for (link* each = std::exchange(first, nullptr); each != nullptr;) {
            link* const next = each->next;
            const memory_piece memory = each->memory;
            memory.release(upstream);
            each = next;
        }
    }

    link* in_use_ = nullptr;    // most recent first
    link* spare_ = nullptr;     // kept by rewind(); singly linked
    link* freed_ = nullptr;     // kept by deallocate(); most recent first, singly linked
};

}}}}    // namespace headroom::detail
