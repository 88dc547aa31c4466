// SPDX-License-Identifier: MIT
// Question: what does an allocator cost a program that allocates much in all, but uses little of it at once?
//
// Source: P0089R0, Benchmark III (utilization).
// Method of the document: allocated blocks of S bytes until A bytes were in use; then gave one back and allocated another until
//   T bytes had been allocated in all; then gave all back. It added 1 to the first byte of each block. T = 2³⁰ ... 2³⁵,
//   A = 2¹⁵ ... 2²⁰, S = 2¹⁰ ... 2¹⁵, strategies without winking out.
// Method here, and why: the same; the block given back is the oldest. "time" is seconds for an allocation and its
//   deallocation. S is not known to the compiler. Multipools over a monotonic were given a warm buffer where they take one.
// Disadvantages: monotonic allocators, which never use a block again: they need T bytes. That is the document's point.
#include <cstdint>
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "workloads/strategies.hpp"

namespace headroom::lab { namespace {

template <class Resource>
[[gnu::noinline]] std::uint64_t allocate_in_all(Resource& resource, std::uint64_t total, std::vector<unsigned char*>& live,
                                                std::size_t bytes) {
    const auto fresh = [&] {
        auto* const block = static_cast<unsigned char*>(resource.allocate(bytes, alignof(std::max_align_t)));
        count_up(block);
        return block;
    };
    for (unsigned char*& each : live) each = fresh();
    std::uint64_t pairs = live.size();
    std::size_t oldest = 0;
    for (; pairs * bytes < total; ++pairs) {
        resource.deallocate(live[oldest], bytes, alignof(std::max_align_t));
        live[oldest] = fresh();
        if (++oldest == live.size()) oldest = 0;
    }
    for (unsigned char* const each : live) resource.deallocate(each, bytes, alignof(std::max_align_t));
    return pairs;
}

struct run_utilization {
    template <class Peer, class Tag>
    metrics operator()(const parameters& point, round_end) const {
        const std::uint64_t total = std::uint64_t{1} << point.number("T_exponent");
        const std::size_t at_once = std::size_t{1} << point.number("A_exponent");
        const std::size_t bytes = std::size_t{1} << point.number("S_exponent");
        std::vector<unsigned char*> live(at_once / bytes);
        Peer peer(2 * at_once + (1 << 20));
        auto& resource = *bound_type<Peer, Tag>::of(peer);
        const double cpu = processor_time();
        const stopwatch::time_point begin = stopwatch::now();
        const auto pairs = static_cast<double>(allocate_in_all(resource, total, live, bytes));
        const double seconds = seconds_between(begin, stopwatch::now());
        return {{"time", {"s", {seconds / pairs}}},
                {"loop_cpu", {"s", {(processor_time() - cpu) / pairs}}},
                {"checksum", {"", {pairs}}}};
    }
};

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    const auto add = [&](std::int64_t total, std::int64_t at_once, std::int64_t bytes) {
        configuration one;
        one.parameters = {{"T_exponent", total}, {"A_exponent", at_once}, {"S_exponent", bytes}};
        one.seconds = 0.02 + static_cast<double>(std::int64_t{1} << (total - bytes)) * 40e-9;
        one.memory = 2.2 * static_cast<double>(std::int64_t{1} << total);    // of those that never give back
        one.rounds = size == grid_size::quick ? 1 : 3;
        result.push_back(std::move(one));
    };
    const std::vector<std::int64_t> totals = size == grid_size::quick      ? std::vector<std::int64_t>{26}
                                             : size == grid_size::standard ? std::vector<std::int64_t>{28}
                                                                           : std::vector<std::int64_t>{30, 31, 32, 33, 34, 35};
    for (const std::int64_t total : totals) {
        // The document's rows: A grows while S is 2¹⁰, then S grows while A is 2²⁰.
        for (std::int64_t at_once = 15; at_once <= 20; at_once += size == grid_size::quick ? 5 : 1) add(total, at_once, 10);
        for (std::int64_t bytes = 11; bytes <= 15; ++bytes) add(total, 20, bytes);
    }
    return result;
}

experiment utilization() {
    return {.id = "utilization",
            .question = "What does an allocator cost that allocates much in all, but little at once?",
            .source = "P0089R0, Benchmark III",
            .contenders = contenders_by_strategy(global_memories + growing_monotonics + multipools + multipools_over_monotonics,
                                                 run_utilization{}, false),
            .grid = grid,
            .check = with_parameter("T_exponent", std::int64_t{21}),
            .place = 160};
}

const registered_experiment registered(utilization);

}    // namespace
}    // namespace headroom::lab
