// SPDX-License-Identifier: MIT
// Implements growing_block.hpp.
#include <headroom/detail/vector/growing_block.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include <headroom/detail/errors.hpp>
#include <headroom/detail/range/admitting.hpp>
#include <headroom/detail/vector/mapped_block.hpp>
#include <headroom/growth.hpp>

#include "vector/heap_blocks.hpp"
#include "vector/block_parts.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Largest size in glibc's tcache, which malloc uses and realloc does not.
constexpr std::size_t cached_bytes = 1032;

// Returns how many elements fit into malloc's block for `count` elements less `fewer_bytes`; `count` if that
// many, or those that fit, would be a mapped block.
HEADROOM_COLD std::size_t elements_in_heap_block(const block_layout& layout, std::size_t count,
                                                 std::size_t fewer_bytes = 0) noexcept {
    if (count >= layout.min_mapped_elements) return count;
    const std::size_t capacity = elements_in(layout, heap_block_bytes(count * layout.element_bytes - fewer_bytes));
    return capacity < layout.min_mapped_elements ? capacity : count;
}

constexpr std::size_t min_page_bytes = 4096;

// Like elements_in_heap_block(), but requests a heap step less for whole pages. With its header such a block would move the next, often a
// copy of the vector, 16 bytes further in its page, where glibc 2.36's copy (`rep movsb`) took 15 times as long on an AMD EPYC.
std::size_t elements_avoiding_pages(const block_layout& layout, std::size_t count) noexcept {
    const bool pages = count != 0 && count * layout.element_bytes % min_page_bytes == 0;
    return elements_in_heap_block(layout, count, pages ? heap_step : 0);
}

// Returns twice the capacity; at least 1, at most the number of elements that can exist.
HEADROOM_COLD std::size_t doubled_capacity(const block_layout& layout, std::size_t capacity) noexcept {
    const std::size_t most = max_array_size(layout.element_bytes);
    if (capacity > most / 2) return most;
    return capacity == 0 ? 1 : 2 * capacity;
}

// True if malloc's blocks for these elements may hold more of them than requested.
bool can_fill_heap_block(const block_layout& layout) noexcept {
    return layout.heap == nullptr && layout.element_bytes < heap_step && heap_is_known();
}

std::size_t first_bytes_from_unknown_heap(std::size_t element_bytes) noexcept {
    return is_power_of_two_or_zero(element_bytes) ? std::max(min_unknown_block, element_bytes) : element_bytes;
}

}    // namespace

std::size_t capacity_of_heap_block(const block_layout& layout, std::size_t count) noexcept {
    if (can_fill_heap_block(layout)) return elements_in_heap_block(layout, count);
    if (layout.heap != nullptr || count >= layout.min_mapped_elements) return count;
    const std::size_t first = first_bytes_from_unknown_heap(layout.element_bytes) / layout.element_bytes;
    return first < layout.min_mapped_elements ? std::max(count, first) : count;
}

HEADROOM_COLD std::size_t next_doubled_capacity(const block_layout& layout, std::size_t capacity) noexcept {
    if (capacity == 0) return capacity_of_heap_block(layout, 1);
    if (can_fill_heap_block(layout) && capacity < layout.min_mapped_elements) {
        // Doubles the power of two that the capacity was filled from (below whole pages the next), so that capacities double.
        const bool below_pages = (capacity * layout.element_bytes + heap_step) % min_page_bytes < heap_step;
        const std::size_t plain = below_pages ? std::bit_ceil(capacity) : std::bit_floor(capacity);
        const std::size_t from = elements_avoiding_pages(layout, plain) == capacity ? plain : capacity;
        return elements_avoiding_pages(layout, 2 * from);
    }
    return doubled_capacity(layout, capacity);
}

HEADROOM_NOINLINE block<void*> reallocate_block(const block_layout& layout, void* begin, void* end, void* cap,
                                                std::size_t required, std::size_t wanted, bool exactly) {
    if (wanted < required) detail::throw_bad_alloc();    // no more elements can exist
    block<void*> to;
    bool moved = false;
    if (begin != nullptr && elements_in(layout, bytes_between(begin, cap)) >= layout.min_mapped_elements) {
        to = reallocate_mapped(layout, begin, end, required, wanted, exactly);
        moved = true;
    } else if (wanted >= layout.min_mapped_elements) {
        to = allocate_mapped(layout, required, wanted, exactly);
    } else {
        const std::size_t bytes = wanted * layout.element_bytes;
        moved = layout.heap == nullptr && bytes > cached_bytes && (bytes < min_checked_heap_block || try_admit(bytes));
        void* const start = moved ? std::realloc(begin, bytes) : allocate_heap_block(layout, bytes);
        if (start != nullptr) to = {start, end_of(layout, start, wanted)};
    }
    if (to.begin == nullptr) detail::throw_bad_alloc();
    if (begin != nullptr && !moved) {
        std::memcpy(to.begin, begin, bytes_between(begin, end));
        free_heap_block(layout, begin);
    }
    return to;
}

// --- Growing by one element. A call of malloc takes a hundred instructions, so instructions for a short block count.

namespace {

// Returns the bytes of the block after a short one of `bytes` (0: of the first); 0 if the slow path must compute it.
std::size_t next_short_bytes_or_zero(const block_layout& layout, std::size_t bytes) noexcept {
    const std::size_t element = layout.element_bytes;
    std::size_t first = first_bytes_from_unknown_heap(element);
    if (element < heap_step && heap_is_known()) {
        // A block of a power of two of bytes has `more` bytes than that, which must not fit another 12-byte element.
        constexpr std::size_t more = heap_block_bytes(2 * heap_step) - 2 * heap_step;
        first = heap_block_bytes(1);
        if (is_power_of_two_or_zero(element) && first == heap_step + more) {
            if (bytes >= first && is_power_of_two_or_zero(bytes - more)) return 2 * bytes - more;
        } else if (element != 12 || more >= 12) {
            return 0;
        }
    }
    return bytes == 0 ? first : 2 * bytes;    // also for a block of any other size, made by reserve()
}

// Moves the `bytes` bytes of a short block into one of `next` bytes, and frees the old one. Throws bad_alloc; nothing has changed then.
HEADROOM_ALWAYS_INLINE block<void*> reallocate_short(void* begin, std::size_t bytes, std::size_t next) {
    void* const to = std::malloc(next);
    if (to == nullptr) detail::throw_bad_alloc();
    if (begin != nullptr) {
        std::memcpy(to, begin, bytes);
        std::free(begin);
    }
    return {to, static_cast<std::byte*>(to) + next};
}

// Slow path of reallocate_by_one(), for a block of any kind.
HEADROOM_COLD block<void*> reallocate_long(const block_layout& layout, void* begin, void* end) {
    const std::size_t size = elements_in(layout, bytes_between(begin, end));
    return reallocate_block(layout, begin, end, end, size + 1, next_doubled_capacity(layout, size), false);
}

}    // namespace

block<void*> reallocate_by_one(const block_layout& layout, void* begin, void* end) {
    const std::size_t bytes = bytes_between(begin, end);
    const std::size_t next = layout.short_uses_malloc && bytes <= max_short_block ? next_short_bytes_or_zero(layout, bytes) : 0;
    return next == 0 ? reallocate_long(layout, begin, end) : reallocate_short(begin, bytes, next);
}

block<void*> reallocate(const block_layout& layout, void* begin, void* end, void* cap, std::size_t required, bool exactly) {
    const std::size_t bytes = bytes_between(begin, end);
    const std::size_t needed = required * layout.element_bytes;
    if (needed == bytes + layout.element_bytes && !exactly) return reallocate_by_one(layout, begin, end);
    // A block that grows by several elements at once seldom grows again, so it gets std::vector's capacity.
    if (layout.short_uses_malloc && needed <= max_short_block) {
        return reallocate_short(begin, bytes, exactly ? needed : (std::max)(2 * bytes, needed));
    }
    const std::size_t twice = exactly ? 0 : doubled_capacity(layout, elements_in(layout, bytes));
    return reallocate_block(layout, begin, end, cap, required, (std::max)(required, twice), exactly);
}

}}}    // namespace headroom::detail
