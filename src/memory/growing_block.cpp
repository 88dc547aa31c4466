#include <headroom/detail/memory/growing_block.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <headroom/detail/errors.hpp>
#include <headroom/growth.hpp>

#include "memory/heap_steps.hpp"
#include "memory/large_block_parts.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// Largest size in glibc's tcache, which malloc uses and realloc does not.
constexpr std::size_t cached_bytes = 1032;

bool is_large(const large_layout& layout, const void* begin, std::size_t capacity) noexcept {
    return begin != nullptr && capacity >= layout.from;
}

// Elements of `layout` in so many bytes. Most elements that are worth it are a power of two large, and a division takes as long
// as the rest of a call of malloc.
std::size_t elements_in(const large_layout& layout, std::size_t bytes) noexcept {
    return (layout.element & (layout.element - 1)) == 0 ? bytes >> std::countr_zero(layout.element) : bytes / layout.element;
}

HEADROOM_COLD std::size_t filled(const large_layout& layout, std::size_t count, std::size_t less = 0) noexcept {
    if (count >= layout.from) return count;
    const std::size_t capacity = elements_in(layout, filled_block(count * layout.element - less));
    return capacity < layout.from ? capacity : count;
}

constexpr std::size_t least_page = 4096;

// The same, but for blocks of whole pages, which get one step of the heap less: with its header such a block puts the next one,
// often a copy of the vector, 16 bytes further in its page. There glibc 2.36's copy (`rep movsb`) took 15 times as long on an AMD
// EPYC.
std::size_t filled_apart(const large_layout& layout, std::size_t count) noexcept {
    const bool pages = count != 0 && count * layout.element % least_page == 0;
    return filled(layout, count, pages ? heap_step : 0);
}

// The capacity after `capacity` of a vector that doubles plainly.
HEADROOM_COLD std::size_t doubled(const large_layout& layout, std::size_t capacity) noexcept {
    const std::size_t most = most_elements(layout.element);
    if (capacity > most / 2) return most;
    return capacity == 0 ? 1 : 2 * capacity;
}

bool may_fill(const large_layout& layout) noexcept {
    return layout.heap == nullptr && layout.element < heap_step && heap_is_known();
}

// --- Short blocks of a vector that doubles: a call of malloc takes a hundred instructions, so what is added to it counts.

// A capacity that doubling leads to from an empty vector on, filled, and the one after it. All in bytes.
struct capacity_step {
    std::uint16_t at = 0;
    std::uint16_t next = 0;
};
// One for each width in bits of `at`, from 3 on: an empty block counts as that wide, and nearly all others are wider. (Where two of
// an element have the same width, the first.)
using capacity_steps = std::array<capacity_step, 8>;
constexpr std::size_t place_of(std::size_t at) noexcept { return static_cast<std::size_t>(std::bit_width(at | 4)) - 3; }

// For elements of 1, 2, 3 ... bytes.
constexpr std::array<capacity_steps, heap_step - 1> all_filled_capacities() noexcept {
    std::array<capacity_steps, heap_step - 1> result{};
    for (std::size_t element = 1; element < heap_step; ++element) {
        std::size_t at = 0;
        for (std::size_t count = 1; at <= longest_short; count *= 2) {
            const std::size_t next = filled_block(count * element) / element * element;
            capacity_step& one = result[element - 1][place_of(at)];
            if (next != at && one.next == 0) one = {static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(next)};
            at = next;
        }
    }
    return result;
}
constexpr std::array<capacity_steps, heap_step - 1> known_capacities = all_filled_capacities();

// The bytes after `bytes`, which are a short block.
std::size_t next_short(const large_layout& layout, std::size_t bytes) noexcept {
    const std::size_t element = layout.element;
    if (element < heap_step && heap_is_known()) {
        const capacity_step& one = known_capacities[element - 1][place_of(bytes)];
        if (one.at == bytes) [[likely]]
            return one.next;
    }
    return bytes == 0 ? element : 2 * bytes;    // (also of a block that reserve() made, say)
}

}    // namespace

std::size_t filled_capacity(const large_layout& layout, std::size_t count) noexcept {
    return may_fill(layout) ? filled(layout, count) : count;
}

// (The three below are apart from each other: beside a call of malloc of more than longest_short bytes a call of our own is nothing.)
HEADROOM_COLD std::size_t doubled_capacity(const large_layout& layout, std::size_t capacity) noexcept {
    if (may_fill(layout) && capacity < layout.from) {
        // What was filled doubles from the power of two that it was filled from (below whole pages the one above), so that the
        // numbers stay those that doubling began with.
        const bool below_pages = (capacity * layout.element + heap_step) % least_page < heap_step;
        const std::size_t plain = below_pages ? std::bit_ceil(capacity) : std::bit_floor(capacity);
        const std::size_t from = filled_apart(layout, plain) == capacity ? plain : capacity;
        return filled_apart(layout, from == 0 ? 1 : 2 * from);
    }
    return doubled(layout, capacity);
}

HEADROOM_NOINLINE large_block regrow_block(const large_layout& layout, void* begin, std::size_t size, std::size_t capacity,
                                           std::size_t required, std::size_t wanted, bool exactly) noexcept {
    // (The first block of a vector, which is often its only one, in few instructions.)
    if (begin == nullptr && wanted < layout.from) {
        void* const first = take_block(layout, wanted * layout.element);
        return {first, first == nullptr ? 0 : wanted};
    }
    if (is_large(layout, begin, capacity)) return regrow_large(layout, begin, size, required, wanted, exactly);
    large_block to;
    if (wanted >= layout.from) {
        to = allocate_large(layout, required, wanted, exactly);
    } else {
        const std::size_t bytes = wanted * layout.element;
        if (layout.heap == nullptr && bytes > cached_bytes) {
            void* const moved = std::realloc(begin, bytes);
            return {moved, moved == nullptr ? 0 : wanted};
        }
        to = {take_block(layout, bytes), wanted};
    }
    if (to.begin == nullptr) return {};
    if (size != 0) std::memcpy(to.begin, begin, size * layout.element);
    if (begin != nullptr) give_block(layout, begin);
    return to;
}

namespace {

// The first `bytes` of a short block, which was all that counts in it, in one of `next` bytes.
HEADROOM_ALWAYS_INLINE byte_block short_block(void* begin, std::size_t bytes, std::size_t next) {
    void* const to = std::malloc(next);
    if (to == nullptr) detail::throw_bad_alloc();
    if (begin != nullptr) {
        std::memcpy(to, begin, bytes);
        std::free(begin);
    }
    return {to, static_cast<std::byte*>(to) + next};
}

HEADROOM_COLD byte_block long_block(const large_layout& layout, void* begin, std::size_t size, std::size_t capacity,
                                    std::size_t required, std::size_t wanted, bool exactly) {
    large_block to;
    // (No more may exist than `wanted`.)
    if (wanted >= required) to = regrow_block(layout, begin, size, capacity, required, wanted, exactly);
    if (to.begin == nullptr) detail::throw_bad_alloc();
    return {to.begin, static_cast<std::byte*>(to.begin) + to.count * layout.element};
}

std::size_t bytes_between(void* from, void* to) noexcept {
    return static_cast<std::size_t>(static_cast<std::byte*>(to) - static_cast<std::byte*>(from));
}

}    // namespace

byte_block grown_by_one(const large_layout& layout, void* begin, void* end) {
    const std::size_t bytes = bytes_between(begin, end);
    if (!layout.short_by_malloc || bytes > longest_short) {
        const std::size_t size = elements_in(layout, bytes);
        return long_block(layout, begin, size, size, size + 1, doubled_capacity(layout, size), false);
    }
    return short_block(begin, bytes, next_short(layout, bytes));
}

byte_block grown(const large_layout& layout, void* begin, void* end, void* cap, std::size_t required, bool exactly) {
    // What grows by more than one element is as std::vector would have it: it seldom grows again.
    const std::size_t bytes = bytes_between(begin, end);
    const std::size_t needed = required * layout.element;
    const bool by_one = needed == bytes + layout.element;
    if (layout.short_by_malloc && needed <= longest_short && !by_one)
        return short_block(begin, bytes, exactly ? needed : (std::max)(2 * bytes, needed));
    const std::size_t size = elements_in(layout, bytes);
    std::size_t wanted = required;
    if (!exactly) wanted = by_one ? doubled_capacity(layout, size) : (std::max)(required, doubled(layout, size));
    return long_block(layout, begin, size, elements_in(layout, bytes_between(begin, cap)), required, wanted, exactly);
}

}}}    // namespace headroom::detail
