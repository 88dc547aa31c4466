// SPDX-License-Identifier: MIT
// Implements bulk_elements.hpp.
#include <headroom/detail/vector/bulk_elements.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <headroom/detail/errors.hpp>
#include <headroom/detail/vector/element_blocks.hpp>
#include <headroom/detail/vector/fill_elements.hpp>
#include <headroom/detail/vector/growing_block.hpp>
#include <headroom/detail/vector/mapped_block.hpp>
#include <headroom/detail/vector/mapped_block_calls.hpp>
#include <headroom/growth.hpp>

#include "vector/block_parts.hpp"
#include "vector/heap_blocks.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Bytes to write between two commits. The system zeroes fresh pages, and 128 KiB of them are still in the second-level cache then.
constexpr std::size_t step_bytes = std::size_t{128} << 10;

// New elements: an array, or one to repeat; null leaves them unset.
struct new_elements {
    const void* from;
    bool repeats;

    // Writes those from element `skip` on to `count` places.
    void write(const block_layout& layout, void* to, std::size_t skip, std::size_t count) const noexcept {
        if (from == nullptr || count == 0) return;
        if (repeats) {
            fill_elements(to, from, layout.element_bytes, count);
        } else {
            std::memmove(to, static_cast<const std::byte*>(from) + skip * layout.element_bytes, count * layout.element_bytes);
        }
    }
    // Returns the bytes from `begin` to the source if that lies in [begin, end), which is about to move; otherwise `outside`.
    [[nodiscard]] std::size_t offset_in(const void* begin, const void* end) const noexcept {
        const auto at = reinterpret_cast<std::uintptr_t>(from);
        const auto first = reinterpret_cast<std::uintptr_t>(begin);
        return at >= first && at < reinterpret_cast<std::uintptr_t>(end) ? at - first : outside;
    }
    // Returns the same elements after those of a vector moved to `begin`.
    [[nodiscard]] new_elements moved(std::size_t offset, const void* begin) const noexcept {
        return {offset == outside ? from : static_cast<const std::byte*>(begin) + offset, repeats};
    }
    static constexpr std::size_t outside = SIZE_MAX;
};

// Returns the bytes of `count` elements behind `used` bytes. Throws std::length_error if no array is that long.
std::size_t checked_bytes(const block_layout& layout, std::size_t used, std::size_t count) {
    constexpr std::size_t short_count = std::size_t{1} << (sizeof(std::size_t) * 4 - 1);
    const bool is_short = (count | layout.element_bytes) < short_count;    // saves a division
    const std::size_t bytes = count * layout.element_bytes;
    if ((!is_short && count > max_array_size(layout.element_bytes)) || bytes > static_cast<std::size_t>(PTRDIFF_MAX) - used) {
        detail::throw_length_error("headroom: past max_size()");
    }
    return bytes;
}

// Returns a block for `required` elements, with geometric growth, that holds those of [begin, end).
block<void*> grow(const block_layout& layout, void* begin, void* end, void* cap, std::size_t required) {
    if (begin == nullptr || !is_no_block(layout, begin, cap)) {
        if (layout.next_capacity == nullptr) return reallocate(layout, begin, end, cap, required, false);
        const std::size_t size = elements_in(layout, bytes_between(begin, end));
        return reallocate_block(layout, begin, end, cap, required, layout.next_capacity(size, required), false);
    }
    const std::size_t used = bytes_between(begin, end);
    const block<void*> to = allocate_block(layout, elements_in(layout, used), required, false);
    if (used != 0) std::memcpy(to.begin, begin, used);
    return to;
}

// Writes `count` elements behind the first `size` of a mapped block, whose memory is charged, and commits it in steps. Returns the new end
// of the capacity; null if refused.
void* write_in_steps(const block_layout& layout, block<void*> to, std::size_t size, new_elements source,
                     std::size_t count) noexcept {
    const std::size_t step = source.from == nullptr ? count : std::max<std::size_t>(step_bytes / layout.element_bytes, 1);
    for (std::size_t done = 0; done != count;) {
        std::byte* const at = end_of(layout, to.begin, size + done);
        const std::size_t unused = elements_in(layout, bytes_between(at, to.cap));
        // Fills the capacity before it grows: in one go, so that a long copy goes past the processor's cache.
        const std::size_t now = std::min(count - done, unused != 0 ? unused : step);
        if (now > unused) {
            to.cap = expand_mapped_in_place(layout, to.begin, size + done + now, source.from == nullptr);
            if (to.cap == nullptr) return nullptr;
        }
        source.write(layout, at, done, now);
        done += now;
    }
    return to.cap;
}

// Returns a new block with `count` elements, written in steps where it is mapped. Precondition: more bytes than a step.
HEADROOM_COLD block<void*> construct_many(const block_layout& layout, new_elements source, std::size_t count) {
    const std::size_t step = std::max(step_bytes / layout.element_bytes, layout.inline_bytes / layout.element_bytes + 1);
    const block_in_steps made = allocate_for_steps(layout, count, step);
    if (made.step == count) {
        source.write(layout, made.to.begin, 0, count);
        return made.to;
    }
    if (void* const cap = write_in_steps(layout, made.to, 0, source, count)) return {made.to.begin, cap};
    release_mapped(layout, made.to.begin);
    const block<void*> to = allocate_block(layout, 0, count, true);
    source.write(layout, to.begin, 0, count);
    return to;
}

// Returns a new block for exactly `count` elements, with them. Few instructions for a short one.
HEADROOM_ALWAYS_INLINE block<void*> construct(const block_layout& layout, new_elements source, std::size_t count) {
    const std::size_t bytes = checked_bytes(layout, 0, count);
    if (bytes > step_bytes) return construct_many(layout, source, count);
    if (count == 0) return {};
    block<void*> to;
    if (is_plain_block(layout, bytes)) {
        to.begin = std::malloc(bytes);
        if (to.begin == nullptr) detail::throw_bad_alloc();
        to.cap = static_cast<std::byte*>(to.begin) + bytes;
    } else {
        to = allocate_block(layout, 0, count, true);
    }
    if (source.repeats) {
        if (source.from != nullptr) fill_elements(to.begin, source.from, layout.element_bytes, count);
    } else {
        std::memcpy(to.begin, source.from, bytes);
    }
    return to;
}

// Slow path of append(): more elements than the capacity holds.
HEADROOM_NOINLINE block<void*> append_with_growth(const block_layout& layout, void* begin, void* end, void* cap,
                                                  new_elements source, std::size_t count, std::size_t bytes) {
    const std::size_t size = elements_in(layout, bytes_between(begin, end));
    if (bytes > step_bytes) {
        if (begin == end && is_no_block(layout, begin, cap)) return construct_many(layout, source, count);
        if (charge_block(layout, begin, cap, size + count)) {
            if (void* const wider = write_in_steps(layout, {begin, cap}, size, source, count)) return {begin, wider};
            trim_mapped(layout, begin, elements_in(layout, bytes_between(begin, cap)));
        }
    }
    const std::size_t offset = source.offset_in(begin, end);
    const block<void*> to = grow(layout, begin, end, cap, size + count);
    source.moved(offset, to.begin).write(layout, end_of(layout, to.begin, size), 0, count);
    return to;
}

HEADROOM_ALWAYS_INLINE block<void*> append(const block_layout& layout, void* begin, void* end, void* cap, new_elements source,
                                           std::size_t count) {
    // The first block of a doubling vector. One element gets all of its heap block.
    if (begin == nullptr && layout.next_capacity == nullptr) {
        if (count != 1) return construct(layout, source, count);
        const block<void*> to = reallocate_by_one(layout, begin, end);
        source.write(layout, to.begin, 0, 1);
        return to;
    }
    const std::size_t bytes = checked_bytes(layout, bytes_between(begin, end), count);
    if (bytes > bytes_between(end, cap)) return append_with_growth(layout, begin, end, cap, source, count, bytes);
    source.write(layout, end, 0, count);
    return {begin, cap};
}

block<void*> assign(const block_layout& layout, void* begin, void* cap, new_elements source, std::size_t count) {
    block<void*> to{begin, cap};
    if (checked_bytes(layout, 0, count) > bytes_between(begin, cap)) {
        void* const wider = is_mapped(layout, begin, cap) ? expand_mapped_in_place(layout, begin, count, false) : nullptr;
        to = wider != nullptr ? block<void*>{begin, wider} : allocate_block(layout, 0, count, true);
    }
    source.write(layout, to.begin, 0, count);
    if (to.begin != begin) release_any_block(layout, begin, cap);
    return to;
}

block<void*> insert(const block_layout& layout, void* begin, void* at, void* end, void* cap, new_elements source,
                    std::size_t count) {
    const std::size_t bytes = checked_bytes(layout, bytes_between(begin, end), count);
    const std::size_t before = bytes_between(begin, at);
    const std::size_t behind = bytes_between(at, end);
    block<void*> to{begin, cap};
    if (bytes > bytes_between(end, cap)) {
        to = grow(layout, begin, end, cap, elements_in(layout, bytes_between(begin, end)) + count);
    }
    if (count == 0) return to;
    std::byte* const gap = static_cast<std::byte*>(to.begin) + before;
    std::memmove(gap + bytes, gap, behind);
    source.write(layout, gap, 0, count);
    return to;
}

}    // namespace

block<void*> construct_copies(const block_layout& layout, const void* from, std::size_t count) {
    return construct(layout, {from, false}, count);
}
block<void*> construct_filled(const block_layout& layout, const void* value, std::size_t count) {
    return construct(layout, {value, true}, count);
}
block<void*> append_copies(const block_layout& layout, void* begin, void* end, void* cap, const void* from, std::size_t count) {
    return append(layout, begin, end, cap, {from, false}, count);
}
block<void*> append_filled(const block_layout& layout, void* begin, void* end, void* cap, const void* value, std::size_t count) {
    return append(layout, begin, end, cap, {value, true}, count);
}
block<void*> assign_copies(const block_layout& layout, void* begin, void* cap, const void* from, std::size_t count) {
    return assign(layout, begin, cap, {from, false}, count);
}
block<void*> assign_filled(const block_layout& layout, void* begin, void* cap, const void* value, std::size_t count) {
    return assign(layout, begin, cap, {value, true}, count);
}
block<void*> insert_copies(const block_layout& layout, void* begin, void* at, void* end, void* cap, const void* from,
                           std::size_t count) {
    return insert(layout, begin, at, end, cap, {from, false}, count);
}
block<void*> insert_filled(const block_layout& layout, void* begin, void* at, void* end, void* cap, const void* value,
                           std::size_t count) {
    return insert(layout, begin, at, end, cap, {value, true}, count);
}

}}}    // namespace headroom::detail
