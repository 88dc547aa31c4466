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

}    // namespace headroom::tools
