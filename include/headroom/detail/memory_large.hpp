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

namespace headroom::detail {

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

    // Keeps the blocks in use for the next round; those kept before and not used since go upstream.
    void rewind(std::pmr::memory_resource* upstream) noexcept {
        give_back_all(spare_, upstream);
        spare_ = std::exchange(in_use_, nullptr);
        if constexpr (poisoning) {
            for (link* each = spare_; each != nullptr; each = each->next) {
                poison(each->memory.data, static_cast<std::size_t>(reinterpret_cast<std::byte*>(each) - each->memory.data));
            }
        }
    }

private:
    struct link {
        link* previous;
        link* next;
        piece memory;
    };

    static constexpr std::size_t link_at(std::size_t bytes) noexcept { return round_to(bytes, alignof(std::max_align_t)); }

    // The first spare piece that is large enough and not more than twice as large.
    piece take_spare(std::size_t needed, std::size_t alignment) noexcept {
        for (link** at = &spare_; *at != nullptr; at = &(*at)->next) {
            const piece memory = (*at)->memory;
            if (memory.bytes < needed || memory.bytes / 2 > needed) continue;
            if ((address_of(memory.data) & (alignment - 1)) != 0) continue;
            *at = (*at)->next;
            unpoison(memory.data, memory.bytes);
            return memory;
        }
        return {};
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
    link* spare_ = nullptr;     // singly linked
};

}  // namespace headroom::detail
