// SPDX-License-Identifier: MIT
// Question: how long does it take to build a vector of n elements by push_back, at every size?
//
// Source: "A fast vector with mremap", 4.1.
// Method of the document: pushed up to 10^8 ints or empty std::strings back and drew the time over n (figures 4.1, 4.2).
// Method here, and why: powers of four from 1 to 256, powers of ten from 10^3 to 10^9. "time" is a vector's whole life:
//   made, filled, destroyed, because what growing in place saves must not be paid for when giving back. Up to 10^5 elements
//   a program makes many such vectors, and "time" is the median of many in a row; above, it is the first vector of a fresh
//   process. "append" leaves the destruction out. Strings are made by emplace_back(), as the thesis made them.
// Disadvantages: at small n, containers that call the system for each vector; at large n, those that copy. The vectors of the
//   thesis all doubled; boost takes part with its own growth and doubling.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "peers/vectors.hpp"
#include "workloads/elements.hpp"
#include "workloads/lives.hpp"

namespace headroom::lab { namespace {

template <class T, class Vector>
[[gnu::always_inline]] inline void fill(Vector& vector, std::size_t elements) {
    if constexpr (std::is_same_v<T, int>) {
        for (std::size_t i = 0; i < elements; ++i) vector.push_back(static_cast<int>(i));
    } else {
        for (std::size_t i = 0; i < elements; ++i) vector.emplace_back();
    }
}

// Inlined, like checksum and for its reason.
template <class Vector>
[[gnu::always_inline]] inline double sum_of(const Vector& vector) {
    if constexpr (std::is_same_v<typename Vector::value_type, int>) {
        return checksum(vector);
    } else {
        std::uint64_t sum = vector.size();
        for (const auto& element : vector) sum = sum * 31 + element.size();
        return static_cast<double>(sum & ((std::uint64_t{1} << 53) - 1));
    }
}

template <class Peer, class T>
[[gnu::noinline]] life live(std::size_t elements) {
    return live_once<Peer, T>(
        elements, [elements](auto& vector) __attribute__((always_inline)) { fill<T>(vector, elements); },
        [](const auto& vector) __attribute__((always_inline)) { return sum_of(vector); });
}

template <class Peer, class T>
[[gnu::noinline]] double many(std::size_t elements) {
    return live_again<Peer, T>(elements, 21,
                               [elements](auto& vector) __attribute__((always_inline)) { fill<T>(vector, elements); });
}

struct run_push_back {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        const auto run = [&]<class T>() -> metrics {
            const std::size_t elements = point.count("elements");
            const life first = live<Peer, T>(elements);
            const double whole = first.append + first.destroy;
            const double time = elements <= 100'000 ? many<Peer, T>(elements) : whole;
            return {{"time", {"s", {time}}},
                    {"time_first", {"s", {whole}}},
                    {"append", {"s", {first.append}}},
                    {"checksum", {"", {first.checksum}}}};
        };
        return point.text("element") == "int" ? run.template operator()<int>() : run.template operator()<std::string>();
    }
};

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    const auto add = [&](const std::string& element, std::int64_t elements) {
        configuration one;
        one.parameters = {{"element", element}, {"elements", elements}};
        const double n = static_cast<double>(elements);
        one.seconds = (elements <= 100'000 ? 0.038 : 0.005) + n * (element == "int" ? 4.7e-9 : 38e-9);
        one.memory = 16e6 + n * (element == "int" ? 6 : 80);
        if (elements >= 10'000'000) one.warmed = 1.15 * one.memory;    // as in experiment throughput
        one.rounds = size == grid_size::quick ? 2 : elements >= 100'000'000 ? 3 : 5;
        result.push_back(std::move(one));
    };
    const std::int64_t most_ints = size == grid_size::quick ? 10'000'000 : size == grid_size::full ? 1'000'000'000 : 100'000'000;
    const std::int64_t most_strings = most_ints / 10;
    for (std::int64_t n = 1; n <= 256; n *= 4) {
        add("int", n);
        add("string", n);
    }
    for (std::int64_t n = 1000; n <= most_ints; n *= 10) add("int", n);
    for (std::int64_t n = 1000; n <= most_strings; n *= 10) add("string", n);
    return result;
}

experiment push_back() {
    return {.id = "push-back",
            .question = "How long does it take to build a vector of n elements by push_back, at every size?",
            .source = "A fast vector with mremap",
            .contenders = contenders_of(general_vectors, run_push_back{}),
            .grid = grid,
            .check = few_elements,
            .preloaded = {"std::vector", "headroom::vector"},
            .place = 90};
}

const registered_experiment registered(push_back);

}    // namespace
}    // namespace headroom::lab
