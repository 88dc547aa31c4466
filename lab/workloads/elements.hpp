// SPDX-License-Identifier: MIT
// The two kinds of element that "Reserve and commit" appends, and how to fill a vector with them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace headroom::lab {

using pointer = std::unique_ptr<int>;

// Bytes that one element takes, its own and what it points to: malloc's smallest block is 32 bytes.
[[nodiscard]] inline double element_bytes(const std::string& name) { return name == "int" ? 4 : 8 + 32; }

// How many of n elements a child can be expected to reach before memory runs out: for estimates of time.
[[nodiscard]] inline double reachable(std::int64_t elements, const std::string& name) {
    return std::min(static_cast<double>(elements), 32e9 / element_bytes(name));
}

// Bytes that a std::vector touches while it grows to n elements: its last two arrays, and the memory that its elements point to.
// The lab touches that many before each contender runs (configuration::warmed).
[[nodiscard]] inline double touched(std::int64_t elements, const std::string& name) {
    const double array = name == "int" ? 4 : 8;
    return static_cast<double>(elements) * (1.7 * array + element_bytes(name) - array);
}

// The loop under test, as a user would write it: nothing but the append and the making of its element.
template <class T, class Vector>
[[gnu::always_inline]] inline void append_all(Vector& vector, std::size_t elements) {
    if constexpr (std::is_same_v<T, int>) {
        for (std::size_t i = 0; i < elements; ++i) vector.push_back(static_cast<int>(i));
    } else {
        for (std::size_t i = 0; i < elements; ++i) vector.push_back(std::make_unique<int>(static_cast<int>(i)));
    }
}

// A figure that is wrong when an element is lost, repeated or out of place. Below 2^53, so that any reader keeps it.
// Inlined, because a call would take the vector's address, and then no loop in its function may keep its members in
// registers: the figure would measure this check.
template <class Vector>
[[nodiscard, gnu::always_inline]] inline double checksum(const Vector& vector) {
    std::uint64_t sum = vector.size();
    for (const auto& element : vector) {
        std::uint64_t value = 0;
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(element)>, int>) {
            value = static_cast<std::uint32_t>(element);
        } else {
            value = static_cast<std::uint32_t>(*element);
        }
        sum = sum * 31 + value;
    }
    return static_cast<double>(sum & ((std::uint64_t{1} << 53) - 1));
}

// Calls run.template operator()<T>() for the element named.
template <class Run>
auto with_element(const std::string& name, Run run) {
    if (name == "int") return run.template operator()<int>();
    if (name == "unique_ptr<int>") return run.template operator()<pointer>();
    throw std::invalid_argument("unknown element \"" + name + "\"");
}

}    // namespace headroom::lab
