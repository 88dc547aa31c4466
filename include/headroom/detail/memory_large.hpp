// Blocks too large for a pool: each is a piece of its own from upstream or from a reservation, remembered in a list so that
// release can give all of them back. A block's link lies behind it, where its size tells.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory_resource>
#include <new>
#include <utility>

#include <headroom/detail/memory_chunks.hpp>

namespace headroom::inline v0_1::detail {

class large_blocks {
public:
    large_blocks() noexcept = default;
    large_blocks(const large_blocks&) = delete;
    large_blocks& operator=(const large_blocks&) = delete;

    // Throws what upstream throws; nothing has changed then.
    HEADROOM_COLD void* allocate(std::size_t bytes, std::size_t alignment, std::pmr::memory_resource* upstream,
                                 bool reserve) {
        if (bytes > largest_request || alignment > most_alignment) refuse(upstream);
        const std::size_t needed = link_at(bytes) + sizeof(link);
        piece memory = take_spare(needed, alignment);
        if (memory.data == nullptr && reserve && needed >= chunk_chain::reserve_from && alignment <= page_size()) {
            // Reservations of few sizes, so that the warm cache has the right one.
            memory = reserved_piece(std::bit_ceil(std::max(needed, std::size_t{1} << 20)), needed);
        }
        if (memory.data == nullptr) {
            memory = {nullptr, needed, std::max(alignment, alignof(std::max_align_t))};
            memory.data = static_cast<std::byte*>(upstream->allocate(memory.bytes, memory.alignment));
        }
        link* const added = new (memory.data + link_at(bytes)) link{nullptr, in_use_, memory};
        if (in_use_ != nullptr) in_use_->previous = added;
        in_use_ = added;
        poison(memory.data + bytes, link_at(bytes) - bytes);
        return memory.data;
    }

    // Precondition: allocate(bytes, ...) returned `block`, which is in use.
    HEADROOM_COLD void deallocate(void* block, std::size_t bytes, std::pmr::memory_resource* upstream) {
        link* const gone = std::launder(reinterpret_cast<link*>(static_cast<std::byte*>(block) + link_at(bytes)));
        (gone->previous != nullptr ? gone->previous->next : in_use_) = gone->next;
        if (gone->next != nullptr) gone->next->previous = gone->previous;
        const piece memory = gone->memory;
        memory.give_back(upstream);
    }

    void release(std::pmr::memory_resource* upstream) noexcept {
        give_back_all(in_use_, upstream);
        give_back_all(spare_, upstream);
    }

    // Keeps the blocks in use for the next round; those kept before and not used since go upstream. O(blocks).
    void rewind(std::pmr::memory_resource* upstream) noexcept {
        give_back_all(spare_, upstream);
        for (link* each = std::exchange(in_use_, nullptr); each != nullptr;) {
            if constexpr (poisoning) {
                const auto* const end = reinterpret_cast<const std::byte*>(each);
                poison(each->memory.data, static_cast<std::size_t>(end - each->memory.data));
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
        piece memory;
    };

    static constexpr std::size_t link_at(std::size_t bytes) noexcept { return round_to(bytes, alignof(std::max_align_t)); }

    // A spare piece: the first of just that size among the next few, or the first that is not more than twice as large.
    piece take_spare(std::size_t needed, std::size_t alignment) noexcept {
        constexpr int looked_at = 16;
        link** found = nullptr;
        link** at = &spare_;
        for (int count = 0; *at != nullptr && count < looked_at; at = &(*at)->next, ++count) {
            const piece& memory = (*at)->memory;
            if (memory.bytes < needed || memory.bytes / 2 > needed) continue;
            if ((address_of(memory.data) & (alignment - 1)) != 0) continue;
            if (found == nullptr) found = at;
            if (memory.bytes != needed) continue;
            found = at;
            break;
        }
        if (found == nullptr) return {};
        const piece memory = (*found)->memory;
        *found = (*found)->next;
        unpoison(memory.data, memory.bytes);
        return memory;
    }

    static void give_back_all(link*& first, std::pmr::memory_resource* upstream) noexcept {
        for (link* each = std::exchange(first, nullptr); each != nullptr;) {
            link* const next = each->next;
            const piece memory = each->memory;
            memory.give_back(upstream);
            each = next;
        }
    }

    link* in_use_ = nullptr;    // most recent first
    link* spare_ = nullptr;     // oldest first, singly linked
};

}  // namespace headroom::inline v0_1::detail
