// SPDX-License-Identifier: MIT
// Question: how much memory does a process need at its peak to build an array of n ints whose size is not known?
//
// Source: "Reserve and commit", Benchmarks, Memory.
// Method of the document: printed the peak resident memory of a process that built one array of 10^3, 10^6, 10^9 or 10^10
//   ints, in kilobytes taken for 1000 bytes (on Linux they are 1024).
// Method here, and why: the same, read in bytes from the process's own address space ("peak_resident"); beside it the
//   peak before the array was begun ("baseline"), so that small arrays can be told from the process around them. Nothing
//   else is allocated. "unused" is what the container keeps beyond its elements when it is complete.
// Disadvantages: reservations at 10^3 elements (whole pages); containers that grow by a factor just after they grew,
//   which is where 10^9 ints put a factor of two (2^30 elements), nearly full: the document's sizes flatter it there.
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/resources.hpp"
#include "peers/vectors.hpp"
#include "workloads/elements.hpp"

namespace headroom::lab { namespace {

struct run_memory {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        const std::size_t elements = point.count("elements");
        prepare_peer<Peer>(elements * sizeof(int));
        const double baseline = static_cast<double>(peak_resident());
        auto vector = make_vector<Peer, int>(elements);
        append_all<int>(vector, elements);
        const double peak = static_cast<double>(peak_resident());
        metrics result = {{"peak_resident", {"B", {peak}}},
                          {"baseline", {"B", {baseline}}},
                          {"payload", {"B", {static_cast<double>(elements * sizeof(int))}}},
                          {"checksum", {"", {checksum(vector)}}}};
        if constexpr (requires { vector.capacity(); })    // a deque does not say
            result["unused"] = {"B", {static_cast<double>((vector.capacity() - vector.size()) * sizeof(int))}};
        return result;
    }
};

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    const std::int64_t most = size == grid_size::full ? 10'000'000'000 : size == grid_size::quick ? 10'000'000 : 1'000'000'000;
    for (std::int64_t n = 1000; n <= most; n *= 10) {
        configuration one;
        one.parameters = {{"element", "int"}, {"elements", n}};
        one.seconds = 0.005 + (n <= 100'000'000 ? 13e-9 : 5.3e-9) * reachable(n, "int");    // some give up at the largest
        one.memory = 16e6 + 6.0 * static_cast<double>(n);
        one.counted = n >= 100'000'000;    // next to 400 MB, accidental allocations do not show
        one.rounds = one.counted ? 1 : 3;
        result.push_back(std::move(one));
    }
    return result;
}

experiment memory() {
    return {.id = "memory",
            .question = "How much memory does building an array of n ints take at its peak?",
            .source = "Reserve and commit",
            .contenders = contenders_of(vectors + steady_vectors, run_memory{}),
            .grid = grid,
            .headline = "peak_resident",
            .check = few_elements,
            .place = 30};
}

const registered_experiment registered(memory);

}    // namespace
}    // namespace headroom::lab
