// Free extents of a multipool's chunks: freed blocks that adjoin, joined, for blocks of any size.
//
// A chunk does not know where its blocks are; only free blocks are known, with their sizes. So joining starts from all of them, in order of
// addresses. What blocks leave over, padding and the ends of chunks, is an extent, so that a chunk whose blocks are all free is one extent.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/chunks.hpp>
#include <headroom/detail/memory/poison.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Smallest extent that blocks are carved from. Smaller ones, slivers, have block_step bytes, and are only kept to be joined.
inline constexpr std::size_t min_extent_bytes = 2 * block_step;

// A free extent, in its own memory.
struct free_extent {
    free_extent* next;
    std::size_t bytes;    // not of a sliver, which has room for the link only
};
static_assert(sizeof(free_extent) <= min_extent_bytes);

// Extents in two lists.
struct extent_lists {
    free_extent* sized = nullptr;
    free_extent* slivers = nullptr;
};

HEADROOM_SEES_POISONED free_extent* next_extent(const free_extent* extent) noexcept { return extent->next; }
HEADROOM_SEES_POISONED std::size_t extent_bytes(const free_extent* extent) noexcept { return extent->bytes; }
HEADROOM_SEES_POISONED void link_extent(free_extent* extent, free_extent* next) noexcept { extent->next = next; }
// Makes `bytes` at `place` an extent before `next`, and returns it.
HEADROOM_SEES_POISONED free_extent* write_extent(std::byte* place, std::size_t bytes, free_extent* next) noexcept {
    auto* const made = reinterpret_cast<free_extent*>(place);
    made->next = next;
    made->bytes = bytes;
    return made;
}

// Merges two lists in order of addresses.
inline free_extent* merge_by_address(free_extent* one, free_extent* other) noexcept {
    free_extent* first = nullptr;
    free_extent* last = nullptr;
    while (one != nullptr && other != nullptr) {
        free_extent*& lower = detail::address_of(one) < detail::address_of(other) ? one : other;
        free_extent* const taken = std::exchange(lower, detail::next_extent(lower));
        if (last == nullptr) {
            first = taken;
        } else {
            detail::link_extent(last, taken);
        }
        last = taken;
    }
    free_extent* const rest = one != nullptr ? one : other;
    if (last == nullptr) return rest;
    detail::link_extent(last, rest);
    return first;
}

// Returns the list in order of addresses. O(n log n).
inline free_extent* sort_by_address(free_extent* list) noexcept {
    std::array<free_extent*, sizeof(std::size_t) * 8> merged{};    // lists of 2^i extents
    while (list != nullptr) {
        free_extent* carried = std::exchange(list, detail::next_extent(list));
        detail::link_extent(carried, nullptr);
        std::size_t i = 0;
        for (; merged[i] != nullptr; ++i) carried = detail::merge_by_address(std::exchange(merged[i], nullptr), carried);
        merged[i] = carried;
    }
    free_extent* result = nullptr;
    for (free_extent* const each : merged) result = detail::merge_by_address(each, result);
    return result;
}

class free_extents {
public:
    // Forgets all extents.
    void clear() noexcept {
        lists_ = {};
        slivers_ = nullptr;
        refused_ = SIZE_MAX;
    }
    // Adds [first, last); it may be empty. Precondition: it is a multiple of block_step.
    void push(std::byte* first, const std::byte* last) noexcept {
        const auto bytes = static_cast<std::size_t>(last - first);
        if (bytes >= refused_) refused_ = SIZE_MAX;
        if (bytes >= min_extent_bytes) {
            free_extent*& list = lists_[list_index_of(bytes)];
            list = detail::write_extent(first, bytes, list);
        } else if (bytes != 0) {
            detail::link_extent(reinterpret_cast<free_extent*>(first), slivers_);
            slivers_ = reinterpret_cast<free_extent*>(first);
        }
    }
    // Removes the shortest extent that has room for `bytes` at a multiple of `alignment`. Returns its address, and its length in `found`;
    // null if there is none. O(extents of about this length); O(1) if as few bytes were refused, and no longer extent was added since.
    std::byte* pop(std::size_t bytes, std::size_t alignment, std::size_t& found) noexcept {
        if (bytes >= refused_) return nullptr;
        for (std::size_t index = list_index_of(bytes); index < list_count; ++index) {
            free_extent* best = nullptr;
            free_extent* before_best = nullptr;
            free_extent* before = nullptr;
            for (free_extent* each = lists_[index]; each != nullptr; before = each, each = detail::next_extent(each)) {
                if (detail::extent_bytes(each) < bytes + (-detail::address_of(each) & (alignment - 1))) continue;
                if (best != nullptr && detail::extent_bytes(each) >= detail::extent_bytes(best)) continue;
                best = each;
                before_best = before;
            }
            if (best == nullptr) continue;
            free_extent* const next = detail::next_extent(best);
            if (before_best == nullptr) {
                lists_[index] = next;
            } else {
                detail::link_extent(before_best, next);
            }
            found = detail::extent_bytes(best);
            return reinterpret_cast<std::byte*>(best);
        }
        refused_ = bytes;
        return nullptr;
    }
    // Removes all extents, and returns them in order of addresses. O(n log n).
    extent_lists pop_all() noexcept {
        free_extent* list = nullptr;
        for (free_extent*& each : lists_) {
            while (each != nullptr) {
                free_extent* const moved = std::exchange(each, detail::next_extent(each));
                detail::link_extent(moved, list);
                list = moved;
            }
        }
        return {detail::sort_by_address(list), detail::sort_by_address(std::exchange(slivers_, nullptr))};
    }
    // Removes the first extent of sorted lists. Returns its bytes, and its address in `place`.
    static std::size_t pop_lowest(extent_lists& lists, std::byte*& place) noexcept {
        const bool is_sliver = lists.sized == nullptr ||
                               (lists.slivers != nullptr && detail::address_of(lists.slivers) < detail::address_of(lists.sized));
        free_extent*& from = is_sliver ? lists.slivers : lists.sized;
        free_extent* const found = std::exchange(from, detail::next_extent(from));
        place = reinterpret_cast<std::byte*>(found);
        return is_sliver ? block_step : detail::extent_bytes(found);
    }

private:
    static constexpr std::size_t list_count = 10;    // for each doubling from 16 bytes on

    static std::size_t list_index_of(std::size_t bytes) noexcept {
        const auto index = static_cast<std::size_t>(std::bit_width((std::max)(bytes, min_extent_bytes) / min_extent_bytes)) - 1;
        return (std::min)(index, list_count - 1);
    }

    std::array<free_extent*, list_count> lists_{};
    free_extent* slivers_ = nullptr;
    std::size_t refused_ = SIZE_MAX;    // fewest bytes that pop() has not found
};

}}}    // namespace headroom::detail
