// SPDX-License-Identifier: MIT
// Implements fill_elements.hpp.
#include <headroom/detail/vector/fill_elements.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

#if defined(__GNUC__)
using wide_word = unsigned char HEADROOM_VECTOR_TYPE(16);
#else
struct wide_word {
    std::uint64_t halves[2];
};
#endif

// Fills `count` places of `unit` bytes with the value, by `Words` overlapping stores each. Requires that they cover a unit:
// sizeof(Word) <= unit <= Words * sizeof(Word).
template <class Word, std::size_t Words>
void fill_by_words(std::byte* to, const std::byte* value, std::size_t unit, std::size_t count) noexcept {
    Word words[Words];
    std::size_t places[Words];
    for (std::size_t i = 0; i != Words; ++i) {
        places[i] = std::min(i * sizeof(Word), unit - sizeof(Word));
        std::memcpy(&words[i], value + places[i], sizeof(Word));
    }
    const std::size_t last = places[Words - 1];
    for (; count != 0; --count, to += unit) {
        for (std::size_t i = 0; i + 1 < Words; ++i) std::memcpy(to + i * sizeof(Word), &words[i], sizeof(Word));
        std::memcpy(to + last, &words[Words - 1], sizeof(Word));
    }
}

// Returns a word of copies of a value of 1, 2, 4 or 8 bytes.
std::uint64_t repeat_in_word(const std::byte* value, std::size_t unit) noexcept {
    if (unit == 8) {
        std::uint64_t whole;
        std::memcpy(&whole, value, sizeof whole);
        return whole;
    }
    if (unit == 4) {
        std::uint32_t half;
        std::memcpy(&half, value, sizeof half);
        return half * std::uint64_t{0x100000001};
    }
    if (unit == 2) {
        std::uint16_t quarter;
        std::memcpy(&quarter, value, sizeof quarter);
        return quarter * std::uint64_t{0x0001000100010001};
    }
    return std::to_integer<std::uint64_t>(*value) * std::uint64_t{0x0101010101010101};
}

// Fills `total` >= 16 bytes with a pattern of 16. The sizes of the value divide 16.
void fill_by_blocks(std::byte* to, std::uint64_t low, std::uint64_t high, std::size_t total) noexcept {
    // In one register, because storing two words and loading both at once would wait for the stores.
#if defined(__GNUC__)
    using two_words = std::uint64_t HEADROOM_VECTOR_TYPE(16);
    const two_words block = {low, high};
#else
    const wide_word block{{low, high}};
#endif
    std::byte* const last = to + (total - sizeof block);
    for (; last - to >= 64; to += 64) {
        for (std::size_t i = 0; i != 64; i += sizeof block) std::memcpy(to + i, &block, sizeof block);
    }
    for (; to < last; to += sizeof block) std::memcpy(to, &block, sizeof block);
    std::memcpy(last, &block, sizeof block);
}

bool is_zero(const std::byte* value, std::size_t bytes) noexcept {
    std::size_t at = 0;
    while (at != bytes && value[at] == std::byte{}) ++at;
    return at == bytes;
}

// Fills [done, total) of `data` by repeating [0, done). Copies at most 2 KiB at a time, or one unit: 4 KiB take a fifth longer on AMD.
void repeat_bytes(std::byte* data, std::size_t done, std::size_t total, std::size_t unit) noexcept {
    const std::size_t longest = unit < 2048 ? 2048 / unit * unit : unit;
    while (done < total) {
        const std::size_t bytes_now = std::min({done, longest, total - done});
        std::memcpy(data + done, data, bytes_now);
        done += bytes_now;
    }
}

// Fills `count` places; one if the unit is longer than 64 bytes. Reads the value before it writes, since it may lie there.
void fill_head(std::byte* to, const std::byte* value, std::size_t unit, std::size_t count) noexcept {
    if (unit == 1) {
        std::memset(to, std::to_integer<int>(*value), count);
    } else if (unit < 4) {
        fill_by_words<std::uint16_t, 2>(to, value, unit, count);
    } else if (unit < 8) {
        fill_by_words<std::uint32_t, 2>(to, value, unit, count);
    } else if (unit <= 16) {
        fill_by_words<std::uint64_t, 2>(to, value, unit, count);
    } else if (unit <= 32) {
        fill_by_words<wide_word, 2>(to, value, unit, count);
    } else if (unit <= 48) {
        fill_by_words<wide_word, 3>(to, value, unit, count);
    } else if (unit <= 64) {
        fill_by_words<wide_word, 4>(to, value, unit, count);
    } else {
        std::memmove(to, value, unit);
    }
}

}    // namespace

void fill_elements(void* to, const void* value, std::size_t element_bytes, std::size_t count) noexcept {
    if (count == 0) return;
    auto* const first = static_cast<std::byte*>(to);
    const auto* const from = static_cast<const std::byte*>(value);
    const std::size_t total = element_bytes * count;
    // memset() writes more at once.
    if (total >= 256 && element_bytes <= 64 && is_zero(from, element_bytes)) {
        std::memset(to, 0, total);
        return;
    }
    if (total >= 16 && element_bytes <= 16 && (element_bytes & (element_bytes - 1)) == 0) {
        const std::uint64_t low = repeat_in_word(from, std::min<std::size_t>(element_bytes, 8));
        return fill_by_blocks(first, low, element_bytes == 16 ? repeat_in_word(from + 8, 8) : low, total);
    }
    // Writes 1 KiB element by element, and copies the rest from there.
    constexpr std::size_t most = 1024;
    const std::size_t head = element_bytes > 64 ? 1 : total <= most ? count : most / element_bytes;
    fill_head(first, from, element_bytes, head);
    if (head != count) repeat_bytes(first, head * element_bytes, total, element_bytes);
}

}}}    // namespace headroom::detail
