// The kinds of element that an array may have: NumPy's names for them, and the C++ type of each.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

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
    float32,
    float64,
    datetime_s,
    datetime_ms,
    datetime_us,
    datetime_ns,
    timedelta_s,
    timedelta_ms,
    timedelta_us,
    timedelta_ns,
};

struct kind_facts {
    const char* name;       // as numpy.dtype(name) takes it
    const char* typestr;    // as __array_interface__ has it, without the byte order
    const char* format;     // as the buffer protocol has it; null: NumPy has no buffers of these
    std::size_t bytes;
};

inline constexpr std::array<kind_facts, 19> facts_of{{
    {"bool", "b1", "?", 1},
    {"int8", "i1", "b", 1},
    {"int16", "i2", "h", 2},
    {"int32", "i4", "i", 4},
    {"int64", "i8", "q", 8},
    {"uint8", "u1", "B", 1},
    {"uint16", "u2", "H", 2},
    {"uint32", "u4", "I", 4},
    {"uint64", "u8", "Q", 8},
    {"float32", "f4", "f", 4},
    {"float64", "f8", "d", 8},
    {"datetime64[s]", "M8[s]", nullptr, 8},
    {"datetime64[ms]", "M8[ms]", nullptr, 8},
    {"datetime64[us]", "M8[us]", nullptr, 8},
    {"datetime64[ns]", "M8[ns]", nullptr, 8},
    {"timedelta64[s]", "m8[s]", nullptr, 8},
    {"timedelta64[ms]", "m8[ms]", nullptr, 8},
    {"timedelta64[us]", "m8[us]", nullptr, 8},
    {"timedelta64[ns]", "m8[ns]", nullptr, 8},
}};

[[nodiscard]] constexpr const kind_facts& facts(kind of) noexcept { return facts_of[static_cast<std::size_t>(of)]; }
[[nodiscard]] constexpr bool is_time(kind of) noexcept { return of >= kind::datetime_s; }

template <class T>
struct type_tag {
    using type = T;
};

// Calls `work(type_tag<T>{})` with the C++ type. NumPy's datetime64 has no time zone: Arrow's timestamps then have none, too.
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
        case kind::float32: return work(type_tag<float>{});
        case kind::float64: return work(type_tag<double>{});
        case kind::datetime_s: return work(type_tag<local_time<duration<std::int64_t>>>{});
        case kind::datetime_ms: return work(type_tag<local_time<duration<std::int64_t, std::milli>>>{});
        case kind::datetime_us: return work(type_tag<local_time<duration<std::int64_t, us>>>{});
        case kind::datetime_ns: return work(type_tag<local_time<duration<std::int64_t, std::nano>>>{});
        case kind::timedelta_s: return work(type_tag<duration<std::int64_t>>{});
        case kind::timedelta_ms: return work(type_tag<duration<std::int64_t, std::milli>>{});
        case kind::timedelta_us: return work(type_tag<duration<std::int64_t, us>>{});
        case kind::timedelta_ns: break;
    }
    return work(type_tag<duration<std::int64_t, std::nano>>{});
}

}    // namespace headroom_python
