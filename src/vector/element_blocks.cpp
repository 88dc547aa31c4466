// SPDX-License-Identifier: MIT
// Implements element_blocks.hpp.
#include <headroom/detail/vector/element_blocks.hpp>

#include <algorithm>
#include <cstdlib>

#include <headroom/detail/errors.hpp>
#include <headroom/detail/vector/growing_block.hpp>
#include <headroom/detail/vector/mapped_block.hpp>
#include <headroom/detail/vector/mapped_block_calls.hpp>
#include <headroom/growth.hpp>

#include "vector/block_parts.hpp"
#include "vector/heap_blocks.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Allocates a block as allocate_mapped() does, or on the heap. Throws std::bad_alloc.
HEADROOM_NOINLINE block<void*> allocate_any(const block_layout& layout, std::size_t required, std::size_t wanted, bool exactly) {
    block<void*> made;
    if (wanted >= layout.min_mapped_elements) {
        made = allocate_mapped(layout, required, wanted, exactly);
    } else if (void* const begin = allocate_heap_block(layout, wanted * layout.element_bytes)) {
        made = {begin, end_of(layout, begin, wanted)};
    }
    if (made.begin == nullptr) detail::throw_bad_alloc();
    return made;
}

[[noreturn]] HEADROOM_COLD void throw_too_many() { detail::throw_length_error("headroom::vector: past max_size()"); }

// Allocates any block for `required` elements, with geometric growth from `used` bytes unless `exactly`.
HEADROOM_NOINLINE block<void*> allocate_slow(const block_layout& layout, std::size_t used, std::size_t required, bool exactly) {
    const std::size_t most = max_array_size(layout.element_bytes);
    if (required > most) throw_too_many();
    std::size_t wanted = required;
    if (!exactly) {
        const std::size_t size = elements_in(layout, used);
        if (layout.next_capacity != nullptr) {
            wanted = layout.next_capacity(size, required);
        } else if (layout.element_bytes < heap_step && required == size + 1) {
            wanted = next_doubled_capacity(layout, size);
        } else {
            wanted = std::max(required, std::min(2 * size, most));
        }
    }
    return allocate_any(layout, required, wanted, exactly);
}

// Like allocate_slow(), but few instructions for a block of malloc whose size is plain.
HEADROOM_ALWAYS_INLINE block<void*> allocate(const block_layout& layout, std::size_t used, std::size_t required, bool exactly) {
    constexpr std::size_t many = std::size_t{1} << (sizeof(std::size_t) * 4 - 2);
    const std::size_t element = layout.element_bytes;
    std::size_t bytes = required * element;
    if (!exactly) bytes = std::max(bytes, 2 * used);
    const bool is_plain = (required | element) < many && is_plain_block(layout, bytes) &&
                          (exactly || (layout.next_capacity == nullptr && element >= heap_step));
    if (HEADROOM_UNLIKELY(!is_plain)) return allocate_slow(layout, used, required, exactly);
    void* const begin = std::malloc(bytes);
    if (HEADROOM_UNLIKELY(begin == nullptr)) detail::throw_bad_alloc();
    return {begin, static_cast<std::byte*>(begin) + bytes};
}

// Slow path of expand_or_allocate(): a mapped block.
HEADROOM_NOINLINE block<void*> expand_or_allocate_mapped(const block_layout& layout, void* begin, void* end, void* cap,
                                                         std::size_t required, bool exactly) {
    void* const wider = try_expand_block(layout, begin, cap, required, exactly);
    if (wider != nullptr) return {begin, wider};
    return allocate_slow(layout, bytes_between(begin, end), required, exactly);
}

}    // namespace

block<void*> allocate_block(const block_layout& layout, std::size_t size, std::size_t required, bool exactly) {
    return allocate(layout, size * layout.element_bytes, required, exactly);
}

void* try_expand_block(const block_layout& layout, void* begin, void* cap, std::size_t required, bool exactly) noexcept {
    return is_mapped(layout, begin, cap) ? expand_mapped_in_place(layout, begin, required, exactly) : nullptr;
}

block<void*> expand_or_allocate(const block_layout& layout, void* begin, void* end, void* cap, std::size_t required,
                                bool exactly) {
    const std::size_t capacity = bytes_between(begin, cap);
    if (HEADROOM_UNLIKELY(capacity >= layout.min_mapped_bytes))
        return expand_or_allocate_mapped(layout, begin, end, cap, required, exactly);
    return allocate(layout, bytes_between(begin, end), required, exactly);
}

void release_any_block(const block_layout& layout, void* begin, void* cap) noexcept {
    if (is_no_block(layout, begin, cap)) return;
    if (is_mapped(layout, begin, cap)) {
        release_mapped(layout, begin);
    } else if (layout.heap == nullptr) {
        std::free(begin);
    } else {
        free_heap_block(layout, begin);
    }
}

bool charge_block(const block_layout& layout, void* begin, void* cap, std::size_t required) noexcept {
    return is_mapped(layout, begin, cap) && charge_mapped(layout, begin, required);
}

void* trim_to_capacity(const block_layout& layout, void* begin, void* cap, std::size_t count) noexcept {
    if (!is_mapped(layout, begin, cap)) return cap;
    const std::size_t kept = std::max(count, layout.min_mapped_elements);
    trim_mapped(layout, begin, kept);
    return end_of(layout, begin, kept);
}

block_in_steps allocate_for_steps(const block_layout& layout, std::size_t count, std::size_t step) {
    if (count > max_array_size(layout.element_bytes)) throw_too_many();
    if (count <= step) return {allocate_any(layout, count, count, true), count};
    const block<void*> made = allocate_any(layout, step, count, false);
    if (charge_block(layout, made.begin, made.cap, count)) return {made, step};
    const std::size_t capacity = elements_in(layout, bytes_between(made.begin, made.cap));
    if (capacity >= count) return {made, count};
    // A block that the heap gave in place of a reservation, or memory that was not admitted: fails here for all at once.
    release_any_block(layout, made.begin, made.cap);
    return {allocate_any(layout, count, count, true), count};
}

block_in_steps expand_for_steps(const block_layout& layout, void* begin, void* end, void* cap, std::size_t count,
                                std::size_t step) {
    if (begin == nullptr && count > step) return allocate_for_steps(layout, count, step);
    const std::size_t size = elements_in(layout, bytes_between(begin, end));
    if (count > max_array_size(layout.element_bytes) - size) throw_too_many();
    if (count > step && charge_block(layout, begin, cap, size + count)) return {{begin, cap}, step};
    return {expand_or_allocate(layout, begin, end, cap, size + count, false), count};
}

element_step next_step(const block_layout& layout, void* begin, void* end, void* cap, std::size_t left,
                       std::size_t step) noexcept {
    const std::size_t unused = elements_in(layout, bytes_between(end, cap));
    if (left <= unused) return {cap, std::min(left, step)};
    if (step < left && unused != 0) return {cap, std::min(step, unused)};
    const std::size_t now = std::min(left, step);
    void* const wider = expand_mapped_in_place(layout, begin, elements_in(layout, bytes_between(begin, end)) + now, false);
    return wider != nullptr ? element_step{wider, now} : element_step{cap, 0};
}

}}}    // namespace headroom::detail
