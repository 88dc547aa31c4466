// SPDX-License-Identifier: MIT
// Free spans of a multipool's chunks: freed blocks that adjoin, joined, for blocks of any size.
//
// A chunk does not know where its blocks are; only free blocks are known, with their sizes. So joining starts from all of them, in order of
// addresses. What blocks leave over, padding and the ends of chunks, is a span, so that a chunk whose blocks are all free is one span.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>    // max, min

#include <headroom/detail/memory/bins.hpp>
#include <headroom/detail/memory/pieces.hpp>
#include <headroom/detail/memory/poison.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Smallest span that blocks are carved from. Smaller ones, slivers, have block_step bytes, and are only kept to be joined.
inline constexpr std::size_t min_span_bytes = 2 * block_step;

// A free span, in its own memory.
struct free_span {
    free_span* next;
    std::size_t bytes;    // not of a sliver, which has room for the link only
};
static_assert(sizeof(free_span) <= min_span_bytes);

// Spans in two lists.
struct span_lists {
    free_span* sized = nullptr;
    free_span* slivers = nullptr;
};

HEADROOM_SEES_POISONED free_span* next_span(const free_span* span) noexcept { return span->next; }
HEADROOM_SEES_POISONED std::size_t span_bytes(const free_span* span) noexcept { return span->bytes; }
HEADROOM_SEES_POISONED void link_span(free_span* span, free_span* next) noexcept { span->next = next; }
// Makes `bytes` at `place` a span before `next`, and returns it.
HEADROOM_SEES_POISONED free_span* write_span(std::byte* place, std::size_t bytes, free_span* next) noexcept {
    auto* const made = reinterpret_cast<free_span*>(place);
    made->next = next;
    made->bytes = bytes;
    return made;
}

// Merges two lists in order of addresses.
inline free_span* merge_by_address(free_span* one, free_span* other) noexcept {
    free_span* first = nullptr;
    free_span* last = nullptr;
    while (one != nullptr && other != nullptr) {
        free_span*& lower = detail::address_of(one) < detail::address_of(other) ? one : other;
        free_span* const taken = std::exchange(lower, detail::next_span(lower));
        if (last == nullptr) {
            first = taken;
        } else {
            detail::link_span(last, taken);
        }
        last = taken;
    }
    free_span* const rest = one != nullptr ? one : other;
    if (last == nullptr) return rest;
    detail::link_span(last, rest);
    return first;
}

// Returns the list in order of addresses. O(n log n).
inline free_span* sort_by_address(free_span* list) noexcept {
    std::array<free_span*, sizeof(std::size_t) * 8> merged{};    // lists of 2^i spans
    while (list != nullptr) {
        free_span* carried = std::exchange(list, detail::next_span(list));
        detail::link_span(carried, nullptr);
        std::size_t i = 0;
        for (; merged[i] != nullptr; ++i) carried = detail::merge_by_address(std::exchange(merged[i], nullptr), carried);
        merged[i] = carried;
    }
    free_span* result = nullptr;
    for (free_span* const each : merged) result = detail::merge_by_address(each, result);
    return result;
}

class free_spans {
public:
    // Forgets all spans.
    void clear() noexcept {
        lists_ = {};
        slivers_ = nullptr;
        refused_ = SIZE_MAX;
    }
    // Adds [first, last); it may be empty. Precondition: it is a multiple of block_step.
    void push(std::byte* first, const std::byte* last) noexcept {
        const auto bytes = static_cast<std::size_t>(last - first);
        if (bytes >= refused_) refused_ = SIZE_MAX;
        if (bytes >= min_span_bytes) {
            free_span*& list = lists_[list_index_of(bytes)];
            list = detail::write_span(first, bytes, list);
        } else if (bytes != 0) {
            detail::link_span(reinterpret_cast<free_span*>(first), slivers_);
            slivers_ = reinterpret_cast<free_span*>(first);
        }
    }
    // Removes the shortest span that has room for `bytes` at a multiple of `alignment`. Returns its address, and its length in `found`;
    // null if there is none. O(spans of about this length); O(1) if as few bytes were refused before, and no span as long was added since.
    std::byte* pop(std::size_t bytes, std::size_t alignment, std::size_t& found) noexcept {
        if (bytes >= refused_) return nullptr;
        for (std::size_t index = list_index_of(bytes); index < list_count; ++index) {
            free_span* best = nullptr;
            free_span* before_best = nullptr;
            free_span* before = nullptr;
            for (free_span* each = lists_[index]; each != nullptr; before = each, each = detail::next_span(each)) {
                if (detail::span_bytes(each) < bytes + (-detail::address_of(each) & (alignment - 1))) continue;
                if (best != nullptr && detail::span_bytes(each) >= detail::span_bytes(best)) continue;
                best = each;
                before_best = before;
            }
            if (best == nullptr) continue;
            free_span* const next = detail::next_span(best);
            if (before_best == nullptr) {
                lists_[index] = next;
            } else {
                detail::link_span(before_best, next);
            }
            found = detail::span_bytes(best);
            return reinterpret_cast<std::byte*>(best);
        }
        refused_ = bytes;
        return nullptr;
    }
    // Removes all spans, and returns them in order of addresses. O(n log n).
    span_lists pop_all() noexcept {
        free_span* list = nullptr;
        for (free_span*& each : lists_) {
            while (each != nullptr) {
                free_span* const moved = std::exchange(each, detail::next_span(each));
                detail::link_span(moved, list);
                list = moved;
            }
        }
        return {detail::sort_by_address(list), detail::sort_by_address(std::exchange(slivers_, nullptr))};
    }
    // Removes the first span of sorted lists. Returns its bytes, and its address in `place`.
    static std::size_t pop_lowest(span_lists& lists, std::byte*& place) noexcept {
        const bool is_sliver = lists.sized == nullptr ||
                               (lists.slivers != nullptr && detail::address_of(lists.slivers) < detail::address_of(lists.sized));
        free_span*& from = is_sliver ? lists.slivers : lists.sized;
        free_span* const found = std::exchange(from, detail::next_span(from));
        place = reinterpret_cast<std::byte*>(found);
        return is_sliver ? block_step : detail::span_bytes(found);
    }

private:
    static constexpr std::size_t list_count = 10;    // for each doubling from 16 bytes on

    static std::size_t list_index_of(std::size_t bytes) noexcept {
        const std::size_t index = static_cast<unsigned>(std::bit_width((std::max)(bytes, min_span_bytes) / min_span_bytes)) - 1U;
        return (std::min)(index, list_count - 1);
    }

    std::array<free_span*, list_count> lists_{};
    free_span* slivers_ = nullptr;
    std::size_t refused_ = SIZE_MAX;    // fewest bytes that pop() has not found
};

}}}    // namespace headroom::detail
