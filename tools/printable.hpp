// Names and tags that anybody chose.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace headroom::tools {

// The text as a terminal may be shown it: nothing of it may give orders to one.
inline std::string printable(std::string_view text) {
    std::string result;
    for (const char each : text) {
        const auto letter = static_cast<unsigned char>(each);
        if (letter >= ' ' && letter < 0x7f) {
            result += each;
        } else {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\x%02x", letter);
            result += escaped;
        }
    }
    return result;
}

// Like printable(), but keeps letters of other languages: valid UTF-8 except control characters and those that change the direction
// of text.
inline std::string printable_utf8(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
        const unsigned first = byte(0);
        const std::size_t length = first < 0x80                    ? 1
                                   : first >= 0xc2 && first < 0xe0 ? 2
                                   : first >= 0xe0 && first < 0xf0 ? 3
                                   : first >= 0xf0 && first < 0xf5 ? 4
                                                                   : 0;
        unsigned letter = length < 2 ? first : first & (0x7fU >> length);
        bool whole = length != 0;
        for (std::size_t i = 1; i < length; ++i) {
            whole = whole && (byte(i) & 0xc0) == 0x80;
            letter = letter << 6 | (byte(i) & 0x3f);
        }
        const bool orders = letter < ' ' || (letter >= 0x7f && letter < 0xa0) || (letter >= 0x200b && letter <= 0x200f) ||
                            (letter >= 0x2028 && letter <= 0x202e) || (letter >= 0x2060 && letter <= 0x206f) ||
                            letter == 0xfeff || (letter >= 0xd800 && letter < 0xe000) || (length == 3 && letter < 0x800) ||
                            (length == 4 && letter < 0x10000) || letter > 0x10ffff;
        const std::size_t taken = whole ? length : 1;
        result += whole && !orders ? std::string(text.substr(at, taken)) : printable(text.substr(at, taken));
        at += taken;
    }
    return result;
}

}    // namespace headroom::tools
