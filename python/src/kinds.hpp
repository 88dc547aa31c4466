// SPDX-License-Identifier: MIT
// The kinds of element that an array may have: NumPy's names for them, and the C++ type of each.
#pragma once

#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>

#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headroom_python {

// A number of 16 bits, as IEEE 754 has it. C++20 has no such type.
struct half {
    std::uint16_t bits;
};
// Rounds to the nearest, of two equally near ones to the even; what is too large becomes infinite, as with float32.
[[nodiscard]] half half_of(double value) noexcept;
[[nodiscard]] double value_of(half number) noexcept;

}    // namespace headroom_python

template <>
struct headroom::detail::arrow_format_of<headroom_python::half> {
    static consteval const char* get() { return "e"; }
};
template <>
struct headroom::detail::dlpack_type_of<headroom_python::half> {
    static constexpr bool known = true;
    static constexpr std::uint8_t code = kDLFloat;
};

namespace headroom_python {

enum class kind : std::uint8_t {
    boolean,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    float32,
    float64,
    complex64,
    complex128,
    datetime_s,
    datetime_ms,
    datetime_us,
    datetime_ns,
    timedelta_s,
    timedelta_ms,
    timedelta_us,
    timedelta_ns,
    text,         // an element is an offset of 64 bits: where it ends among the bytes
    structure,    // of fields, as NumPy's dtype says
};

struct kind_facts {
    const char* name;       // as numpy.dtype(name) takes it
    const char* typestr;    // as __array_interface__ has it, without the byte order
    const char* format;     // as the buffer protocol has it; null: NumPy has no buffers of these
    std::size_t bytes;
    std::size_t alignment;
};

inline constexpr std::array<kind_facts, 24> facts_of{{
    {"bool", "b1", "?", 1, 1},
    {"int8", "i1", "b", 1, 1},
    {"int16", "i2", "h", 2, 2},
    {"int32", "i4", "i", 4, 4},
    {"int64", "i8", "q", 8, alignof(std::int64_t)},
    {"uint8", "u1", "B", 1, 1},
    {"uint16", "u2", "H", 2, 2},
    {"uint32", "u4", "I", 4, 4},
    {"uint64", "u8", "Q", 8, alignof(std::uint64_t)},
    {"float16", "f2", "e", 2, 2},
    {"float32", "f4", "f", 4, 4},
    {"float64", "f8", "d", 8, alignof(double)},
    {"complex64", "c8", "Zf", 8, 4},
    {"complex128", "c16", "Zd", 16, alignof(double)},
    {"datetime64[s]", "M8[s]", nullptr, 8, alignof(std::int64_t)},
    {"datetime64[ms]", "M8[ms]", nullptr, 8, alignof(std::int64_t)},
    {"datetime64[us]", "M8[us]", nullptr, 8, alignof(std::int64_t)},
    {"datetime64[ns]", "M8[ns]", nullptr, 8, alignof(std::int64_t)},
    {"timedelta64[s]", "m8[s]", nullptr, 8, alignof(std::int64_t)},
    {"timedelta64[ms]", "m8[ms]", nullptr, 8, alignof(std::int64_t)},
    {"timedelta64[us]", "m8[us]", nullptr, 8, alignof(std::int64_t)},
    {"timedelta64[ns]", "m8[ns]", nullptr, 8, alignof(std::int64_t)},
    {"str", nullptr, nullptr, 8, alignof(std::int64_t)},
    {"structure", nullptr, nullptr, 0, 1},
}};

[[nodiscard]] constexpr const kind_facts& facts(kind of) noexcept { return facts_of[static_cast<std::size_t>(of)]; }
[[nodiscard]] constexpr bool is_time(kind of) noexcept { return of >= kind::datetime_s && of <= kind::timedelta_ns; }
[[nodiscard]] constexpr bool is_complex(kind of) noexcept { return of == kind::complex64 || of == kind::complex128; }
[[nodiscard]] constexpr bool is_integer(kind of) noexcept { return of >= kind::int8 && of <= kind::uint64; }
[[nodiscard]] constexpr bool is_float(kind of) noexcept { return of >= kind::float16 && of <= kind::float64; }

// NumPy's mark of a time that there is none.
inline constexpr std::int64_t not_a_time = INT64_MIN;

template <class T>
struct type_tag {
    using type = T;
};

// Calls `work(type_tag<T>{})` with the C++ type. NumPy's datetime64 has no time zone: Arrow's timestamps then have none, too.
// Text and structures are bytes here.
template <class Work>
decltype(auto) with_type(kind of, Work work) {
    using namespace std::chrono;
    using us = std::micro;
    switch (of) {
        case kind::boolean: return work(type_tag<bool>{});
        case kind::int8: return work(type_tag<std::int8_t>{});
        case kind::int16: return work(type_tag<std::int16_t>{});
        case kind::int32: return work(type_tag<std::int32_t>{});
        case kind::int64: return work(type_tag<std::int64_t>{});
        case kind::uint8: return work(type_tag<std::uint8_t>{});
        case kind::uint16: return work(type_tag<std::uint16_t>{});
        case kind::uint32: return work(type_tag<std::uint32_t>{});
        case kind::uint64: return work(type_tag<std::uint64_t>{});
        case kind::float16: return work(type_tag<half>{});
        case kind::float32: return work(type_tag<float>{});
        case kind::float64: return work(type_tag<double>{});
        case kind::complex64: return work(type_tag<std::complex<float>>{});
        case kind::complex128: return work(type_tag<std::complex<double>>{});
        case kind::datetime_s: return work(type_tag<local_time<duration<std::int64_t>>>{});
        case kind::datetime_ms: return work(type_tag<local_time<duration<std::int64_t, std::milli>>>{});
        case kind::datetime_us: return work(type_tag<local_time<duration<std::int64_t, us>>>{});
        case kind::datetime_ns: return work(type_tag<local_time<duration<std::int64_t, std::nano>>>{});
        case kind::timedelta_s: return work(type_tag<duration<std::int64_t>>{});
        case kind::timedelta_ms: return work(type_tag<duration<std::int64_t, std::milli>>{});
        case kind::timedelta_us: return work(type_tag<duration<std::int64_t, us>>{});
        case kind::timedelta_ns: return work(type_tag<duration<std::int64_t, std::nano>>{});
        case kind::text:
        case kind::structure: break;
    }
    return work(type_tag<std::byte>{});
}

}    // namespace headroom_python
