// SPDX-License-Identifier: MIT
// Implements mapped_block.hpp.
#include <headroom/detail/vector/mapped_block.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <headroom/detail/range/admitting.hpp>
#include <headroom/detail/range/committing.hpp>
#include <headroom/detail/range/moving.hpp>
#include <headroom/growth.hpp>

#include "vector/block_parts.hpp"
#include "range/range.hpp"
#include "vector/heap_blocks.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Returns the address space for a vector of `bytes`. One of few sizes, except near the largest, so that a released range serves the next
// vector, each large enough to be seldom outgrown: with 4 GiB, 2^47 bytes of addresses hold about as many vectors as Linux allows mappings.
std::size_t reservation_for(std::size_t bytes) noexcept {
    std::size_t size = sizeof(std::size_t) >= 8 ? std::size_t{1} << 31 << 1 : std::size_t{64} << 20;
    while (size < bytes) {
        if (size > static_cast<std::size_t>(PTRDIFF_MAX) / 16) return bytes;
        size *= 16;
    }
    return size;
}

// Commits the first `bytes` of the range; unless `exactly`, more by its policy. Returns the committed bytes. If refused, sets `why`.
std::size_t commit_for_block(range* control, std::size_t bytes, bool exactly, failure& why) noexcept {
    return exactly ? commit_exactly(control, bytes, why) : commit_to(control, bytes, why);
}

// Returns the end of the elements that fit into the committed bytes.
HEADROOM_NOINLINE std::byte* end_of_committed(const block_layout& layout, void* begin, std::size_t committed) noexcept {
    return end_of(layout, begin,
                  std::min((committed - header_bytes_of(layout)) / layout.element_bytes, max_array_size(layout.element_bytes)));
}

// Reserves a range for at least `wanted` elements and commits `required`, at least those of the smallest mapped block. Empty if refused.
block<void*> reserve_block(const block_layout& layout, std::size_t required, std::size_t wanted, bool exactly) noexcept {
    // A range begins at a page, which may be as small as 4096 bytes.
    if (layout.alignment > 4096) return {};
    const std::size_t usable = required < layout.min_mapped_elements ? layout.min_mapped_elements : required;
    const std::size_t least = block_bytes(layout, wanted < usable ? usable : wanted);
    failure why;
    // A block that grows by a factor wants up to four times what it needs now, and may grow again: its final use is not known. One built in
    // steps wants its final size.
    const bool grows = !exactly && required < wanted && wanted / 4 < required;
    const held_range held =
        acquire_slow(reservation_for(least), false, least, layout.commit, why, grows ? 0 : block_bytes(layout, wanted));
    if (why) return {};
    std::size_t committed = held.committed;
    // Built in steps: charged at once, so that huge pages begin at the first element.
    if (!exactly && !grows && required < wanted) {
        failure ignored;    // the steps say why they are refused
        charge(held.control, block_bytes(layout, wanted), ignored);
        committed = std::max(committed, held.control->extent.committed());
    }
    // Populates only what is required; the rest of the smallest mapped block is made accessible.
    if (committed < block_bytes(layout, required)) {
        committed = commit_for_block(held.control, block_bytes(layout, required), exactly, why);
    }
    if (!why && committed < block_bytes(layout, usable)) {
        committed = commit_exactly(held.control, block_bytes(layout, usable), why);
    }
    if (why) {
        release_range_slow(held.control, 0);
        return {};
    }
    void* const begin = place_header(layout, held.base, {held.control, held.reserved});
    return {begin, end_of_committed(layout, begin, committed)};
}

// True if a mapped block of `count` elements would have more than PTRDIFF_MAX bytes.
bool exceeds_addresses(const block_layout& layout, std::size_t count) noexcept {
    return count > (static_cast<std::size_t>(PTRDIFF_MAX) - header_bytes_of(layout)) / layout.element_bytes;
}

// Allocates a heap block laid out like a mapped one, for `wanted` elements or, if refused, `required`. Reallocates `old` unless null.
block<void*> allocate_instead_of_range(const block_layout& layout, void* old, std::size_t required, std::size_t wanted) noexcept {
    for (std::size_t count = wanted;; count = required) {
        const std::size_t usable = std::max(count, layout.min_mapped_elements);
        // If the range was refused for lack of memory, the heap must not provide it either.
        if (!exceeds_addresses(layout, usable) && try_admit(block_bytes(layout, usable))) {
            const std::size_t bytes = block_bytes(layout, usable);
            void* const start =
                old != nullptr ? std::realloc(block_start(layout, old), bytes) : allocate_admitted_heap_block(layout, bytes);
            if (start != nullptr) {
                void* const begin = place_header(layout, start, {nullptr, 0});
                return {begin, end_of(layout, begin, usable)};
            }
        }
        if (count == required) return {};
    }
}

// Releases a mapped block, whose header has `control`: its range, or to the heap.
void release_block(const block_layout& layout, void* begin, range* control) noexcept {
    if (control != nullptr) {
        release_range_slow(control, 0);
    } else {
        free_heap_block(layout, block_start(layout, begin));
    }
}

}    // namespace

block<void*> allocate_mapped(const block_layout& layout, std::size_t required, std::size_t wanted, bool exactly) noexcept {
    const block<void*> mapped = reserve_block(layout, required, wanted, exactly);
    return mapped.begin != nullptr ? mapped : allocate_instead_of_range(layout, nullptr, required, wanted);
}

void release_mapped(const block_layout& layout, void* begin) noexcept {
    release_block(layout, begin, header_of(layout, begin).control);
}

void* expand_mapped_in_place(const block_layout& layout, void* begin, std::size_t required, bool exactly) noexcept {
    const block_header& header = header_of(layout, begin);
    if (!can_grow_in_place(layout, header, required)) return nullptr;
    failure why;
    const std::size_t committed = commit_for_block(header.control, block_bytes(layout, required), exactly, why);
    return why ? nullptr : end_of_committed(layout, begin, committed);
}

block<void*> reallocate_mapped(const block_layout& layout, void* begin, void* end, std::size_t required, std::size_t wanted,
                               bool exactly) noexcept {
    if (void* const wider = expand_mapped_in_place(layout, begin, required, exactly)) return {begin, wider};
    range* const control = header_of(layout, begin).control;
    block<void*> to = reserve_block(layout, required, wanted, exactly);
    if (to.begin == nullptr) {
        const bool stretched = control == nullptr && layout.heap == nullptr;
        to = allocate_instead_of_range(layout, stretched ? begin : nullptr, required, wanted);
        if (stretched || to.begin == nullptr) return to;
    }
    const std::size_t used = bytes_between(begin, end);
    const block_header header = header_of(layout, to.begin);
    if (control != nullptr && header.control != nullptr) {
        // Moves the pages, with the header, between two reservations.
        move_contents(control, header.control, header_bytes_of(layout) + used);
        to.begin = place_header(layout, block_start(layout, to.begin), header);
    } else {
        std::memcpy(to.begin, begin, used);
    }
    release_block(layout, begin, control);
    return to;
}

}}}    // namespace headroom::detail
