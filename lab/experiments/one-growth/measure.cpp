// SPDX-License-Identifier: MIT
// Question: what does a vector cost that grows once, is read once, and is dropped, again and again in one process?
//
// Source: "4GB per Vector".
// Method of the document: compared std::vector with a vector over a 4 GiB reservation in the author's program, where
//   vectors do not reserve, grow once, are iterated over once, and are discarded; sizes are not stated but for their limits:
//   std::vector faster under 64 KiB, the other up to 35% faster at many megabytes.
// Method here, and why: just that, with ints, at every power of two from 4 KiB to 64 MiB, at 256 MiB and 1 GiB (full: at every
//   one; quick: of four, to 16 MiB), in a loop,
//   because such a program does it many times: what a process can reuse from one vector to the next is part of the question,
//   and both the heap and the cache of reservations take part under their defaults. "time" is the median pass;
//   "time_first" is the first of the process.
// Disadvantages: at small sizes, containers that call the system for each vector; at large ones, containers that give all
//   memory back to the system at once. Containers under "/warm" were allowed to keep more warm than their default allows.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/batches.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "peers/vectors.hpp"
#include "workloads/elements.hpp"

namespace headroom::lab { namespace {

// One vector's life; returns what reading it gave, so that the reading cannot be left out.
template <class Peer>
[[gnu::noinline]] std::uint64_t grow_read_drop(std::size_t elements) {
    auto vector = make_vector<Peer, int>(elements);
    append_all<int>(vector, elements);
    std::uint64_t sum = 0;
    for (const int value : vector) sum += static_cast<std::uint32_t>(value);
    return sum;
}

struct run_one_growth {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        const std::size_t bytes = point.count("bytes");
        const std::size_t elements = bytes / sizeof(int);
        prepare_peer<Peer>(bytes);
        const stopwatch::time_point begin = stopwatch::now();
        std::uint64_t sum = grow_read_drop<Peer>(elements);
        const double first = seconds_between(begin, stopwatch::now());
        const auto checksum = static_cast<double>(sum);
        const double cpu = processor_time();
        const batched lives =
            median_of_batches({.most = 15, .fewest = 3, .seconds = 0.3}, [&] { sum ^= grow_read_drop<Peer>(elements); });
        const double loop_cpu = (processor_time() - cpu) / static_cast<double>(lives.calls);
        asm volatile("" : : "r"(sum) : "memory");
        return {{"time", {"s", {lives.seconds}}},
                {"time_first", {"s", {first}}},
                {"loop_cpu", {"s", {loop_cpu}}},
                {"checksum", {"", {checksum}}}};
    }
};

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    const std::int64_t most = std::int64_t{1} << (size == grid_size::quick ? 24 : 30);
    const auto step = [size](std::int64_t bytes) {
        return size == grid_size::quick || (size == grid_size::standard && bytes >= (64 << 20)) ? 4 : 2;
    };
    for (std::int64_t bytes = 4096; bytes <= most; bytes *= step(bytes)) {
        configuration one;
        one.parameters = {{"element", "int"}, {"bytes", bytes}};
        one.seconds = 0.028 + (std::min)(6e-9 * static_cast<double>(bytes), 0.3 + 2.3e-9 * static_cast<double>(bytes));
        one.memory = 16e6 + 2.0 * static_cast<double>(bytes);
        one.rounds = size != grid_size::full && bytes > (16 << 20) ? 2 : 3;
        result.push_back(std::move(one));
    }
    return result;
}

experiment one_growth() {
    return {.id = "one-growth",
            .question = "What does a vector cost that grows once, is read once, and is dropped, again and again?",
            .source = "4GB per Vector",
            .contenders = contenders_of(vectors + warm_vectors, run_one_growth{}),
            .grid = grid,
            .check = with_parameter("bytes", std::int64_t{4096}),
            .preloaded = {"std::vector", "headroom::settled_vector"},
            .place = 40};
}

const registered_experiment registered(one_growth);

}    // namespace
}    // namespace headroom::lab
