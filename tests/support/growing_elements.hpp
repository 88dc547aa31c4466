// SPDX-License-Identifier: MIT
// Element types for the tests of growth.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace headroom_test::growing {

struct alignas(64) wide {
    wide() = default;
    explicit wide(int v) : value(v) {}
    int value = 0;
    friend bool operator==(const wide&, const wide&) = default;
};

// Counts live objects; construction number `fail_in` throws.
struct counted {
    static inline int alive = 0;
    static inline int fail_in = -1;
    static void tick() {
        if (fail_in >= 0 && fail_in-- == 0) throw std::runtime_error("told to");
    }
    counted() : counted(0) {}
    explicit counted(int v) : value(v) {
        tick();
        ++alive;
    }
    counted(const counted& other) : value(other.value) {
        tick();
        ++alive;
    }
    counted(counted&& other) : value(std::exchange(other.value, -1)) {
        tick();
        ++alive;
    }
    counted& operator=(const counted& other) {
        tick();
        value = other.value;
        return *this;
    }
    counted& operator=(counted&& other) {
        tick();
        value = std::exchange(other.value, -1);
        return *this;
    }
    ~counted() { --alive; }
    friend bool operator==(const counted&, const counted&) = default;
    int value;
};

template <class T>
T make(int i);
template <>
inline int make<int>(int i) {
    return i;
}
template <>
inline std::string make<std::string>(int i) {
    return i % 2 == 0 ? std::to_string(i) : std::string(40, static_cast<char>('a' + i % 26));
}
template <>
inline std::unique_ptr<int> make<std::unique_ptr<int>>(int i) {
    return std::make_unique<int>(i);
}
template <>
inline wide make<wide>(int i) {
    return wide(i);
}
template <>
inline counted make<counted>(int i) {
    return counted(i);
}

template <class T>
bool same(const T& element, int i) {
    if constexpr (std::is_same_v<T, std::unique_ptr<int>>) {
        return element != nullptr && *element == i;
    } else {
        return element == make<T>(i);
    }
}

}    // namespace headroom_test::growing
