// Blocks too large for a pool: each is a piece of its own from upstream or from a reservation, remembered in a list so that
// release can give all of them back. A block's link lies behind it, where its size tells.
//
// A reservation takes system calls to get and to give back, and many more to fill, so the last few are kept for blocks of
// like size: up to 8, and 8 MiB. (What comes from upstream goes back there at once: a user who names one wants that.)
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory_resource>
#include <new>
#include <utility>

#include <headroom/detail/memory/chunks.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

class large_blocks {
public:
    large_blocks() noexcept = default;
    large_blocks(const large_blocks&) = delete;
    large_blocks& operator=(const large_blocks&) = delete;

    // Throws what upstream throws; nothing has changed then.
    [[gnu::noinline]] void* allocate(std::size_t bytes, std::size_t alignment, std::pmr::memory_resource* upstream,
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

    // Precondition: allocate(bytes, ...) returned `block`, which is in use.
    [[gnu::noinline]] void deallocate(void* block, std::size_t bytes, std::pmr::memory_resource* upstream, bool keep) {
        link* const gone = std::launder(reinterpret_cast<link*>(static_cast<std::byte*>(block) + link_offset(bytes)));
        (gone->previous != nullptr ? gone->previous->next : in_use_) = gone->next;
        if (gone->next != nullptr) gone->next->previous = gone->previous;
        const memory_piece& memory = gone->memory;
        if (!keep || memory.control == nullptr || memory.bytes > max_kept_bytes) {
            const memory_piece leaving = memory;
            return leaving.release(upstream);
        }
        gone->next = freed_;
        freed_ = gone;
        detail::poison(block, bytes);
        // The oldest go, where they are too many or too large.
        link** at = &freed_;
        std::size_t count = 0;
        for (std::size_t kept = 0; *at != nullptr; at = &(*at)->next) {
            kept += (*at)->memory.bytes;
            if (++count > max_kept_blocks || kept > max_kept_bytes) break;
        }
        release_list(*at, upstream);
    }

    void release(std::pmr::memory_resource* upstream) noexcept {
        release_list(in_use_, upstream);
        release_kept(upstream);
    }

    // Returns cached blocks that are not in use to upstream. False if there were none.
    bool release_kept(std::pmr::memory_resource* upstream) noexcept {
        const bool any = freed_ != nullptr || spare_ != nullptr;
        release_list(freed_, upstream);
        release_list(spare_, upstream);
        return any;
    }

    // Keeps the blocks in use for the next round, and those given back in this one; those kept before and not used since go
    // upstream. O(blocks).
    void rewind(std::pmr::memory_resource* upstream) noexcept {
        release_list(spare_, upstream);
        spare_ = std::exchange(freed_, nullptr);
        for (link* each = std::exchange(in_use_, nullptr); each != nullptr;) {
            if constexpr (poisoning) {
                const auto* const end = reinterpret_cast<const std::byte*>(each);
                detail::poison(each->memory.data, static_cast<std::size_t>(end - each->memory.data));
            }
            // In order of allocation, so that a round like the last finds what it needs at once.
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

    static constexpr std::size_t max_kept_blocks = 8;                      // blocks that are kept
    static constexpr std::size_t max_kept_bytes = std::size_t{8} << 20;    // and bytes, of all of them

    static constexpr std::size_t link_offset(std::size_t bytes) noexcept {
        return detail::round_up_to(bytes, alignof(std::max_align_t));
    }

    static bool serves(const memory_piece& memory, std::size_t needed, std::size_t alignment) noexcept {
        return memory.bytes >= needed && memory.bytes / 2 <= needed && (detail::address_of(memory.data) & (alignment - 1)) == 0;
    }

    // A fresh piece. Throws what upstream throws.
    HEADROOM_COLD memory_piece allocate_piece(std::size_t needed, std::size_t alignment, std::pmr::memory_resource* upstream,
                                              bool reserve) {
        if (reserve && needed >= chunk_chain::min_reserved_chunk && alignment <= headroom::page_size()) {
            // Reservations of few sizes, so that the warm cache has the right one.
            const std::size_t wanted = std::bit_ceil((std::max)(needed, std::size_t{1} << 20));
            const auto reserved = [&] {
                return detail::reserve_piece(wanted, needed, populate::at_first_touch, chunk_policy, false);
            };
            if (const memory_piece memory = reserved(); memory.data != nullptr) return memory;
            // What is kept may be what stands in the way.
            if (freed_ != nullptr || spare_ != nullptr) {
                release_kept(upstream);
                if (const memory_piece memory = reserved(); memory.data != nullptr) return memory;
            }
        }
        if (reserve && detail::exceeds_memory(needed)) detail::throw_bad_alloc();    // (as chunk_chain::obtain)
        memory_piece memory{nullptr, needed, (std::max)(alignment, alignof(std::max_align_t))};
        memory.data = static_cast<std::byte*>(upstream->allocate(memory.bytes, memory.alignment));
        return memory;
    }

    // The smallest of the first few pieces that serves, and takes it from the list; an empty one when none does.
    static memory_piece pop_best_fit(link*& list, std::size_t needed, std::size_t alignment) noexcept {
        int looks = 16;
        link** found = nullptr;
        for (link** at = &list; *at != nullptr && looks > 0; at = &(*at)->next, --looks) {
            const memory_piece& memory = (*at)->memory;
            if (!serves(memory, needed, alignment)) continue;
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
    link* spare_ = nullptr;     // kept by rewind; singly linked
    link* freed_ = nullptr;     // kept since then; most recent first, singly linked
};

}}}    // namespace headroom::detail
