// SPDX-License-Identifier: MIT
// Text from outside, made fit to be printed: names, paths, labels and messages that somebody else chose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace headroom::tools {

// One character of UTF-8, or one byte that is not part of any.
struct text_part {
    std::uint32_t letter = 0;
    std::size_t bytes = 1;
    bool valid = false;    // false for a byte that is no UTF-8
};

// Returns the first part of a text that is not empty.
inline text_part first_part(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const unsigned first = byte(0);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xc2 && first < 0xe0 ? 2
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    std::uint32_t letter = length < 2 ? first : first & (0x7fU >> length);
    bool valid = length != 0;
    for (std::size_t i = 1; i < length; ++i) {
        valid = valid && (byte(i) & 0xc0) == 0x80;
        letter = letter << 6 | (byte(i) & 0x3f);
    }
    const bool surrogate = letter >= 0xd800 && letter < 0xe000;
    const bool too_long = (length == 3 && letter < 0x800) || (length == 4 && letter < 0x10000);
    if (!valid || surrogate || too_long || letter > 0x10ffff) return {first, 1, false};
    return {letter, length, true};
}

// True if the character gives a terminal an order, or changes the direction of text, or cannot be seen.
inline bool gives_orders(std::uint32_t letter) {
    const auto within = [&](std::uint32_t first, std::uint32_t last) { return letter >= first && letter <= last; };
    return letter < ' ' || within(0x7f, 0x9f) || letter == 0xad || letter == 0x61c || letter == 0x180e ||
           within(0x200b, 0x200f) || within(0x2028, 0x202e) || within(0x2060, 0x206f) || letter == 0xfeff ||
           within(0xfff9, 0xfffb) || within(0xe0000, 0xe0fff);
}

// Returns the text as a terminal may be shown it: valid UTF-8 as it is, but bytes that are none, control characters, and characters that
// change the direction of text or cannot be seen as "\x1b", byte by byte.
inline std::string printable(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const text_part part = first_part(text);
        if (part.valid && !gives_orders(part.letter)) {
            result += text.substr(0, part.bytes);
        } else {
            for (const char each : text.substr(0, part.bytes)) {
                char escaped[8];
                std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(each));
                result += escaped;
            }
        }
        text.remove_prefix(part.bytes);
    }
    return result;
}

// Returns what printable() makes of each line, with the ends of lines as they are.
inline std::string printable_lines(std::string_view text) {
    std::string result;
    for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
        result += printable(text.substr(0, end)) + "\n";
    return result + printable(text);
}

// Returns a JSON text of the same meaning that a terminal may be shown: characters that give it orders become "\u009b". The text is valid
// UTF-8 and has its own control characters escaped, but for the ends of its lines.
inline std::string printable_json(std::string_view json) {
    std::string result;
    while (!json.empty()) {
        const text_part part = first_part(json);
        if (part.letter >= 0x7f && part.letter < 0x10000 && gives_orders(part.letter)) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(part.letter));
            result += escaped;
        } else if (part.letter >= 0x10000 && gives_orders(part.letter)) {
            char pair[16];
            std::snprintf(pair, sizeof pair, "\\u%04x\\u%04x", static_cast<unsigned>(0xd800 + ((part.letter - 0x10000) >> 10)),
                          static_cast<unsigned>(0xdc00 + ((part.letter - 0x10000) & 0x3ff)));
            result += pair;
        } else {
            result += json.substr(0, part.bytes);
        }
        json.remove_prefix(part.bytes);
    }
    return result;
}

// Returns how many columns of a terminal the character takes: two in the scripts of East Asia and of pictures, none on top of another.
inline std::size_t columns_of(std::uint32_t letter) {
    const auto within = [&](std::uint32_t first, std::uint32_t last) { return letter >= first && letter <= last; };
    if (within(0x300, 0x36f) || within(0x1ab0, 0x1aff) || within(0x1dc0, 0x1dff) || within(0x20d0, 0x20ff) ||
        within(0xfe00, 0xfe0f) || within(0xfe20, 0xfe2f))
        return 0;
    return within(0x1100, 0x115f) || within(0x2e80, 0xa4cf) || within(0xac00, 0xd7a3) || within(0xf900, 0xfaff) ||
                   within(0xfe30, 0xfe6f) || within(0xff00, 0xff60) || within(0xffe0, 0xffe6) || within(0x1f000, 0x1faff) ||
                   within(0x20000, 0x3fffd)
               ? 2
               : 1;
}

// Returns how many columns of a terminal a printable text takes.
inline std::size_t width_of(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) {
        const text_part part = first_part(text);
        columns += columns_of(part.letter);
        text.remove_prefix(part.bytes);
    }
    return columns;
}

// Returns the printable text if it fits into so many columns; otherwise as many whole characters as fit before `tail`, and that.
inline std::string shortened_to(std::string_view text, std::size_t columns, std::string_view tail) {
    if (width_of(text) <= columns) return std::string(text);
    const std::size_t room = columns > tail.size() ? columns - tail.size() : 0;
    std::size_t taken = 0;
    for (std::size_t width = 0; taken < text.size();) {
        const text_part part = first_part(text.substr(taken));
        width += columns_of(part.letter);
        if (width > room) break;
        taken += part.bytes;
    }
    return std::string(text.substr(0, taken)) + std::string(tail);
}

// Returns the printable text with blanks behind it, if it takes less than so many columns.
inline std::string padded_to(std::string text, std::size_t columns) {
    const std::size_t width = width_of(text);
    if (width < columns) text.append(columns - width, ' ');
    return text;
}

}    // namespace headroom::tools
