// SPDX-License-Identifier: MIT
// Numbers of 16 bits.
#include <cmath>

#include "kinds.hpp"

namespace headroom_python {

half half_of(double value) noexcept {
    const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
    const double size = std::fabs(value);
    unsigned bits = 0;
    if (std::isnan(value)) {
        bits = 0x7E00U;
    } else if (size >= 65520.0) {    // halfway from the largest to what would follow it
        bits = 0x7C00U;
    } else if (size < 0x1p-14) {
        bits = static_cast<unsigned>(std::nearbyint(size * 0x1p24));    // 1024 of them are the smallest normal number
    } else {
        const int exponent = std::ilogb(size);
        const auto digits =
            static_cast<unsigned>(std::nearbyint(std::ldexp(size, 10 - exponent)));    // 2048 go to the next exponent
        bits = (static_cast<unsigned>(exponent + 15) << 10) + (digits - 1024U);
    }
    return {static_cast<std::uint16_t>(sign | bits)};
}

double value_of(half number) noexcept {
    const int exponent = number.bits >> 10 & 31;
    const double digits = number.bits & 1023;
    double size = 0;
    if (exponent == 31) {
        size = digits == 0 ? HUGE_VAL : std::nan("");
    } else if (exponent == 0) {
        size = std::ldexp(digits, -24);
    } else {
        size = std::ldexp(digits + 1024, exponent - 25);
    }
    return (number.bits & 0x8000U) != 0 ? -size : size;
}

}    // namespace headroom_python
