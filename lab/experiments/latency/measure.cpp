// SPDX-License-Identifier: MIT
// Question: how long does one append take: usually, at worst, and how are the times between spread?
//
// Source: "Reserve and commit", Benchmarks, Latency.
// Method of the document: took the processor time before and after every append, on clocks of 1 us to 16 ms, and kept the
//   least, the greatest, and counts in decades from 1 us to 100 ms. On Windows and FreeBSD its figures are those of the
//   clock.
// Method here, and why: the same arrays, each in a process of its own; the processor's cycle counter around every
//   append, fenced, about 10 ns, its own cost measured and subtracted (and stated as "clock_cost"); every sample kept to
//   three digits, and also shown in the document's decades. The making of a unique_ptr is not part of the append. It is
//   time on the clock, not processor time: interruptions count, as they do for a program that waits for the append;
//   "involuntary_switches" says how often another process took the processor. Both libraries have grown a small
//   vector before (measure/first_use.hpp).
// Disadvantages: hardly any; the fences hide what overlaps in the processor, the same for all. A longest append
//   of some 50 us or less may be the timer interrupt's, not the container's.
// Levels: O0 O1 O2
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/first_use.hpp"
#include "measure/resources.hpp"
#include "peers/vectors.hpp"
#include "workloads/distribution.hpp"
#include "workloads/elements.hpp"

namespace headroom::lab { namespace {

template <class T, class Vector>
[[gnu::noinline]] void append_timed(Vector& vector, std::size_t elements, histogram& ticks) {
    for (std::size_t i = 0; i < elements; ++i) {
        if constexpr (std::is_same_v<T, int>) {
            const int value = static_cast<int>(i);
            const std::uint64_t begin = ticks_begin();
            vector.push_back(value);
            const std::uint64_t end = ticks_end();
            ticks.add(end - begin);
        } else {
            T value = std::make_unique<int>(static_cast<int>(i));
            const std::uint64_t begin = ticks_begin();
            vector.push_back(std::move(value));
            const std::uint64_t end = ticks_end();
            ticks.add(end - begin);
        }
    }
}

struct run_latency {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        return with_element(point.text("element"), [&]<class T>() -> metrics {
            const std::size_t elements = point.count("elements");
            prepare_peer<Peer>(elements * sizeof(T));
            use_library_once();
            metrics result;
            const tick_scale scale;
            histogram ticks;
            const disturbances before = disturbances_so_far();
            const stopwatch::time_point begin = stopwatch::now();
            auto vector = make_vector<Peer, T>(elements);
            append_timed<T>(vector, elements, ticks);
            result["time"] = {"s", {seconds_between(begin, stopwatch::now())}};
            const disturbances after = disturbances_so_far();
            result["involuntary_switches"] = {"",
                                              {static_cast<double>(after.involuntary_switches - before.involuntary_switches)}};
            describe(result, "append", ticks, scale);
            result["checksum"] = {"", {checksum(vector)}};
            return result;
        });
    }
};

std::vector<configuration> grid(grid_size size, const std::string& level) {
    std::vector<configuration> result;
    const auto add = [&](const std::string& element, std::int64_t elements) {
        configuration one;
        one.parameters = {{"element", element}, {"elements", elements}, {"optimisation", level}};
        const double n = reachable(elements, element);
        one.seconds = 0.013 + n * (element == "int" ? 38e-9 : 86e-9) * (level == "O0" ? 2 : 1);
        one.memory = 16e6 + 1.5 * static_cast<double>(elements) * element_bytes(element);
        if (elements >= 10'000'000 && elements <= 1'000'000'000) one.warmed = touched(elements, element);    // as there
        one.rounds = size == grid_size::quick ? 2 : elements >= 100'000'000 ? 1 : 3;
        result.push_back(std::move(one));
    };
    if (level == "O1" && size == grid_size::quick) return result;
    const bool optimised = level == "O2";
    const std::int64_t most_ints = size == grid_size::full    ? 10'000'000'000
                                   : size == grid_size::quick ? (optimised ? 10'000'000 : 1'000'000)
                                                              : (optimised ? 100'000'000 : 1'000'000);
    const std::int64_t most_pointers = size == grid_size::full    ? 10'000'000'000
                                       : size == grid_size::quick ? (optimised ? 1'000'000 : 1'000)
                                                                  : (optimised ? 10'000'000 : 1'000'000);
    for (std::int64_t n = 1000; n <= most_ints; n *= size == grid_size::quick ? 100 : 10) add("int", n);
    for (std::int64_t n = 1000; n <= most_pointers; n *= size == grid_size::quick ? 1000 : 10) add("unique_ptr<int>", n);
    return result;
}

experiment latency() {
    return {.id = "latency",
            .question = "How long does one append take: usually, at worst, and how are the times spread?",
            .source = "Reserve and commit",
            .contenders = contenders_of(vectors + steady_vectors, run_latency{}),
            .grid = grid,
            .headline = "append_max",
            .check = few_elements,
            .place = 20};
}

const registered_experiment registered(latency);

}    // namespace
}    // namespace headroom::lab
