// SPDX-License-Identifier: MIT
// Question: what do threads cost each other that share an allocator, but not their blocks?
//
// Source: Headroom's own. P0089R0's Benchmark IV gives each block back at once.
//   drawn at random, is given back and another allocated in its place. "time" is what a clock on the wall shows, for a turn.
//   The peak of resident memory counts as well.
// Disadvantages: allocators for one thread take no part.
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "workloads/strategies.hpp"

namespace headroom::lab { namespace {

constexpr std::array<std::size_t, 8> sizes = {24, 48, 64, 100, 32, 200, 16, 512};

template <class Resource>
[[gnu::noinline]] void take_turns(Resource& resource, std::uint64_t turns, std::uint32_t seed) {
    struct place {
        void* block = nullptr;
        std::size_t bytes = 0;
    };
    std::vector<place> places(5'000);
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
        seed = seed * 1'664'525 + 1'013'904'223;
        place& now = places[(seed >> 8) % places.size()];
        if (now.block != nullptr) resource.deallocate(now.block, now.bytes, alignof(std::max_align_t));
        now.bytes = sizes[(seed >> 4) % sizes.size()];
        now.block = resource.allocate(now.bytes, alignof(std::max_align_t));
        count_up(now.block);
    }
    for (const place& each : places) {
        if (each.block != nullptr) resource.deallocate(each.block, each.bytes, alignof(std::max_align_t));
    }
}

struct run_own_blocks {
    template <class Peer, class Tag>
    metrics operator()(const parameters& point, round_end) const {
        const auto turns = static_cast<std::uint64_t>(point.number("turns"));
        Peer peer(std::size_t{1} << 20);
        auto& resource = *bound_type<Peer, Tag>::of(peer);
        std::vector<std::thread> threads;
        const stopwatch::time_point begin = stopwatch::now();
        for (std::uint32_t number = 0; number < point.count("W"); ++number) {
            threads.emplace_back([&resource, turns, number] { take_turns(resource, turns, number + 1); });
        }
        for (std::thread& each : threads) each.join();
        const double seconds = seconds_between(begin, stopwatch::now());
        return {{"time", {"s", {seconds / static_cast<double>(turns)}}}, {"checksum", {"", {static_cast<double>(turns)}}}};
    }
};

std::vector<configuration> grid(grid_size size, const std::string& level) {
    std::vector<configuration> result;
    if (level != "O2") return result;
    const std::int64_t turns = size == grid_size::quick ? 1'000'000 : 4'000'000;
    for (const std::int64_t threads : {1, 2, 4}) {
        if (size == grid_size::quick && threads != 2) continue;
        configuration one;
        one.parameters = {{"W", threads}, {"turns", turns}};
        one.seconds = 0.02 + static_cast<double>(turns * threads) * 6e-9;
        one.memory = 40e6;
        one.rounds = size == grid_size::quick ? 1 : 3;
        result.push_back(std::move(one));
    }
    return result;
}

experiment own_blocks() {
    return {.id = "own-blocks",
            .question = "What do threads cost each other that share an allocator, but not their blocks?",
            .source = "Headroom",
            .contenders = contenders_by_strategy(global_memories + synchronized_multipools, run_own_blocks{}, false),
            .grid = grid,
            .check = with_parameter("turns", std::int64_t{10'000}),
            .preloaded = {"std::allocator AS1"},
            .place = 192};
}

const registered_experiment registered(own_blocks);

}    // namespace
}    // namespace headroom::lab
