// SPDX-License-Identifier: MIT
// Maps C++ types to the format strings of Arrow's C Data Interface.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

namespace headroom { inline namespace v0_1 { namespace detail {

template <class T>
concept character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> || std::same_as<T, char16_t> ||
                    std::same_as<T, char32_t>;

// Returns the string for the unit of a duration; null for other units.
template <class Period>
consteval const char* by_unit(const char* s, const char* ms, const char* us, const char* ns) {
    if (std::ratio_equal_v<Period, std::ratio<1>>) return s;
    if (std::ratio_equal_v<Period, std::milli>) return ms;
    if (std::ratio_equal_v<Period, std::micro>) return us;
    return std::ratio_equal_v<Period, std::nano> ? ns : nullptr;
}

template <class Rep, std::size_t bytes>
inline constexpr bool signed_integer_of =
    std::is_integral_v<Rep> && std::is_signed_v<Rep> && !character<Rep> && sizeof(Rep) == bytes;

// get() returns Arrow's format string for T; null if it has no such type.
template <class T>
struct arrow_format_of {
    static consteval const char* get() {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && !character<T>) {
            constexpr bool is_signed = std::is_signed_v<T>;
            if constexpr (sizeof(T) == 1) return is_signed ? "c" : "C";
            if constexpr (sizeof(T) == 2) return is_signed ? "s" : "S";
            if constexpr (sizeof(T) == 4) return is_signed ? "i" : "I";
            return sizeof(T) == 8 ? (is_signed ? "l" : "L") : nullptr;
        } else if constexpr (std::is_floating_point_v<T>) {
            if constexpr (!std::numeric_limits<T>::is_iec559) return nullptr;
            if constexpr (sizeof(T) == 2 && std::numeric_limits<T>::digits == 11) return "e";
            if constexpr (sizeof(T) == 4) return "f";
            return sizeof(T) == 8 ? "g" : nullptr;
        } else {
            return nullptr;
        }
    }
};

template <class Rep, class Period>
struct arrow_format_of<std::chrono::duration<Rep, Period>> {
    static consteval const char* get() {
        return signed_integer_of<Rep, 8> ? detail::by_unit<Period>("tDs", "tDm", "tDu", "tDn") : nullptr;
    }
};

// Instants are UTC; local_time is what Arrow calls a timestamp without a time zone.
template <class Rep, class Period>
struct arrow_format_of<std::chrono::time_point<std::chrono::system_clock, std::chrono::duration<Rep, Period>>> {
    static consteval const char* get() {
        if constexpr (signed_integer_of<Rep, 4> && std::ratio_equal_v<Period, std::chrono::days::period>) return "tdD";
        return signed_integer_of<Rep, 8> ? detail::by_unit<Period>("tss:UTC", "tsm:UTC", "tsu:UTC", "tsn:UTC") : nullptr;
    }
};
template <class Rep, class Period>
struct arrow_format_of<std::chrono::time_point<std::chrono::local_t, std::chrono::duration<Rep, Period>>> {
    static consteval const char* get() {
        return signed_integer_of<Rep, 8> ? detail::by_unit<Period>("tss:", "tsm:", "tsu:", "tsn:") : nullptr;
    }
};

template <class T>
    requires std::is_enum_v<T>
struct arrow_format_of<T> {
    static consteval const char* get() {
        return arrow_format_of<std::underlying_type_t<T>>::get();    // std::byte, too
    }
};

}}}    // namespace headroom::detail
