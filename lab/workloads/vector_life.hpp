// SPDX-License-Identifier: MIT
// One vector's life, as programs live it: filled, copied, assigned to, resized, inserted into.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/experiment.hpp"
#include "measure/batches.hpp"
#include "measure/clock.hpp"
#include "peers/vectors.hpp"

namespace headroom::lab {

struct six_words {
    std::array<std::uint64_t, 6> word{};
};
using pair_with_string = std::pair<int, std::string>;

template <class T>
[[gnu::always_inline]] inline T element(std::size_t i) {
    if constexpr (std::is_same_v<T, int>) {
        return static_cast<int>(i);
    } else if constexpr (std::is_same_v<T, six_words>) {
        return {{i, i + 1, i + 2, i + 3, i + 4, i + 5}};
    } else if constexpr (std::is_same_v<T, pair_with_string>) {
        return {static_cast<int>(i), std::string("short")};
    } else if constexpr (std::is_same_v<T, std::unique_ptr<int>>) {
        return std::make_unique<int>(static_cast<int>(i));
    } else {
        return T();
    }
}
// Inside the string itself, and in a block of its own.
struct string15 {};
struct string40 {};

[[gnu::always_inline]] inline std::uint64_t worth(int value) { return static_cast<std::uint32_t>(value); }
[[gnu::always_inline]] inline std::uint64_t worth(const six_words& value) { return value.word[5]; }
[[gnu::always_inline]] inline std::uint64_t worth(const std::string& value) { return value.size(); }
[[gnu::always_inline]] inline std::uint64_t worth(const pair_with_string& value) {
    return worth(value.first) + value.second.size();
}
[[gnu::always_inline]] inline std::uint64_t worth(const std::unique_ptr<int>& value) { return worth(*value); }

// The element type that `Kind` names, and how one is made.
template <class Kind>
struct kind_of {
    using type = Kind;
    [[gnu::always_inline]] static type make(std::size_t i) { return element<Kind>(i); }
};
template <>
struct kind_of<string15> {
    using type = std::string;
    [[gnu::always_inline]] static type make(std::size_t) { return std::string(15, 'a'); }
};
template <>
struct kind_of<string40> {
    using type = std::string;
    [[gnu::always_inline]] static type make(std::size_t) { return std::string(40, 'a'); }
};

template <class Vector>
[[nodiscard, gnu::always_inline]] inline std::uint64_t look(const Vector& vector) {
    return vector.size() + (vector.empty() ? 0 : worth(vector.front()) + worth(vector[vector.size() / 2]) + worth(vector.back()));
}

// The workloads that are one vector's life. Each returns what looking at the result gave.
template <class Peer, class Kind>
struct lives {
    using value = typename kind_of<Kind>::type;
    using vector = typename Peer::template container<value>;
    static constexpr bool copies = std::is_copy_constructible_v<value>;

    explicit lives(std::size_t n) : count(n), source(make_vector<Peer, value>(n)), target(make_vector<Peer, value>(n)) {}

    [[gnu::noinline]] std::uint64_t push() {
        auto made = make_vector<Peer, value>(count);
        for (std::size_t i = 0; i < count; ++i) made.push_back(kind_of<Kind>::make(i));
        return look(made);
    }
    [[gnu::noinline]] std::uint64_t reserve_push() {
        auto made = make_vector<Peer, value>(count);
        made.reserve(count);
        for (std::size_t i = 0; i < count; ++i) made.push_back(kind_of<Kind>::make(i));
        return look(made);
    }
    [[gnu::noinline]] std::uint64_t copy() {
        if constexpr (copies) {
            const vector made(source);
            return look(made);
        }
        return 0;
    }
    [[gnu::noinline]] std::uint64_t assign() {
        if constexpr (copies) target = source;
        return look(target);
    }
    [[gnu::noinline]] std::uint64_t resize_fill() {
        if constexpr (std::is_default_constructible_v<value>) {
            auto made = make_vector<Peer, value>(count);
            made.resize(count);
            for (std::size_t i = 0; i < count; ++i) made[i] = kind_of<Kind>::make(i);
            return look(made);
        }
        return 0;
    }
    // One element into the middle, and out again, so that the size stays.
    [[gnu::noinline]] std::uint64_t insert() {
        const auto middle = static_cast<std::ptrdiff_t>(source.size() / 2);
        source.insert(source.begin() + middle, kind_of<Kind>::make(1));
        source.erase(source.begin() + middle);
        return source.size();
    }
    void fill() {
        for (std::size_t i = 0; i < count; ++i) source.push_back(kind_of<Kind>::make(i));
    }

    std::size_t count;
    vector source;
    vector target;
};

template <class Once>
metrics repeated(Once once) {
    const stopwatch::time_point begin = stopwatch::now();
    std::uint64_t sum = once();
    const double first = seconds_between(begin, stopwatch::now());
    const batched many = median_of_batches({.most = 15, .fewest = 3, .seconds = 0.1}, [&] { sum ^= once(); });
    asm volatile("" : : "r"(sum) : "memory");
    return {{"time", {"s", {many.seconds}}},
            {"time_first", {"s", {first}}},
            {"checksum", {"", {static_cast<double>(once() & 0xffff'ffff'ffff)}}}};
}

// Bytes that are others in each process, so that rounds differ in where blocks and the stack lie in their pages: a copy by
// `rep movsb` to a few bytes further in the page than its source takes 15 times as long on some processors. No contender's
// placement is judged.
inline std::size_t some_bytes() { return 16 + 16 * (std::random_device{}() % 256); }

template <class Peer, class Kind>
[[gnu::noinline]] metrics live(const std::string& workload, std::size_t count) {
    const auto* const stack = static_cast<const char*>(__builtin_alloca(some_bytes()));
    asm volatile("" : : "r"(stack) : "memory");
    lives<Peer, Kind> one(count);
    if (workload == "push") return repeated([&] { return one.push(); });
    if (workload == "reserve-push") return repeated([&] { return one.reserve_push(); });
    if (workload == "resize-fill") return repeated([&] { return one.resize_fill(); });
    one.fill();
    const auto between = std::make_unique<char[]>(some_bytes());
    asm volatile("" : : "r"(between.get()) : "memory");
    if (workload == "copy") return repeated([&] { return one.copy(); });
    if (workload == "assign") return repeated([&] { return one.assign(); });
    if (workload == "insert") return repeated([&] { return one.insert(); });
    throw std::invalid_argument("unknown workload \"" + workload + "\"");
}

}    // namespace headroom::lab
