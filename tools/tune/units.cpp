#include "units.hpp"

#include <cstdio>

namespace headroom::tools::tune {

std::string time_text(double seconds) {
    const char* unit = "ns";
    double value = seconds * 1e9;
    if (value >= 999.5e6) {
        value /= 1e9;
        unit = "s";
    } else if (value >= 999.5e3) {
        value /= 1e6;
        unit = "ms";
    } else if (value >= 999.5) {
        value /= 1e3;
        unit = "us";
    }
    char text[64];
    std::snprintf(text, sizeof text, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
    return text;
}

std::string size_text(std::size_t bytes) {
    const char* unit = "B";
    for (const char* const larger : {"KiB", "MiB", "GiB"}) {
        if (bytes < 1024 || bytes % 1024 != 0) break;
        bytes /= 1024;
        unit = larger;
    }
    return std::to_string(bytes) + " " + unit;
}

}    // namespace headroom::tools::tune
