// Question: what does a vector cost that grows once, is read once, and is dropped, again and again in one process?
//
// Source: "4GB per Vector".
// What the document did: compared std::vector with a vector over a 4 GiB reservation in the author's program, where
//   vectors do not reserve, grow once, are iterated over once, and are discarded; sizes are not stated but for their limits:
//   std::vector faster under 64 KiB, the other up to 35% faster at many megabytes.
// What is done here and why: just that, with ints, at every power of two from 4 KiB to 1 GiB (quick: of four, to 16 MiB), in a loop,
//   because such a program does it many times: what a process can reuse from one vector to the next is part of the question,
//   and both the heap and the cache of reservations take part under their defaults. "time" is the median pass;
//   "time_first" is the first of the process.
// Whom it disadvantages: at small sizes whoever asks the system at each vector; at large ones whoever gives all memory
//   back to the system at once. Containers under "/warm" were allowed to keep more warm than their default allows.
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/all.hpp"
#include "experiments/elements.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "measure/statistics.hpp"
#include "peers/vectors.hpp"

namespace headroom::lab {
namespace {

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
        stopwatch::time_point begin = stopwatch::now();
        std::uint64_t sum = grow_read_drop<Peer>(elements);
        const double first = seconds_between(begin, stopwatch::now());
        // Batches of at least a millisecond, so that the clock does not matter; 15 of them, or what fits into 0.3 s.
        std::vector<double> batches;
        std::size_t passes = 1;
        double spent = 0;
        std::size_t done = 0;
        const double cpu = processor_time();
        while (batches.size() < 3 || (batches.size() < 15 && spent < 0.3)) {
            begin = stopwatch::now();
            for (std::size_t i = 0; i < passes; ++i) sum ^= grow_read_drop<Peer>(elements);
            const double seconds = seconds_between(begin, stopwatch::now());
            spent += seconds;
            done += passes;
            if (seconds < 1e-3 && passes < 100'000) {
                passes *= 2;
            } else {
                batches.push_back(seconds / static_cast<double>(passes));
            }
        }
        const double loop_cpu = (processor_time() - cpu) / static_cast<double>(done);
        asm volatile("" : : "r"(sum) : "memory");
        return {{"time", {"s", {median(batches)}}},
                {"time_first", {"s", {first}}},
                {"loop_cpu", {"s", {loop_cpu}}},
                {"checksum", {"", {static_cast<double>(grow_read_drop<Peer>(elements))}}}};
    }
};

std::vector<configuration> grid(grid_size size, const std::string& level) {
    std::vector<configuration> result;
    if (level != "O2") return result;
    const std::int64_t most = std::int64_t{1} << (size == grid_size::quick ? 24 : 30);
    for (std::int64_t bytes = 4096; bytes <= most; bytes *= size == grid_size::quick ? 4 : 2) {
        configuration one;
        one.parameters = {{"element", "int"}, {"bytes", bytes}};
        one.seconds = 0.05 + 4e-9 * static_cast<double>(bytes);
        one.memory = 16e6 + 2.0 * static_cast<double>(bytes);
        one.rounds = size != grid_size::full && bytes > (16 << 20) ? 2 : 3;
        result.push_back(std::move(one));
    }
    return result;
}

}  // namespace

experiment one_growth() {
    return {.id = "one-growth",
            .question = "What does a vector cost that grows once, is read once, and is dropped, again and again?",
            .source = "4GB per Vector",
            .contenders = contenders_of(vectors + warm_vectors, run_one_growth{}),
            .grid = grid,
            .check = [](const parameters& from) {
                parameters result = from;
                result.set("bytes", std::int64_t{4096});
                return result;
            }};
}

}  // namespace headroom::lab
