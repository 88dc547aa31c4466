// SPDX-License-Identifier: MIT
// Question: what does a block cost that one thread allocates and another gives back?
//
// Source: Headroom's own.
// Method here, and why: one thread allocates blocks of eight sizes from 16 to 512 bytes in turn and writes to them; another
//   reads and gives them back. They go through a ring of "ring" slots, in steps of up to 64. "time" is what a clock on the
//   wall shows, for a block. The peak of resident memory counts as well: a block that stays with the wrong thread is lost to
//   the other.
// Disadvantages: allocators for one thread take no part. On a machine of one processor it shows nothing.
#include <algorithm>
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
[[gnu::noinline]] double cross(Resource& resource, std::uint64_t blocks, std::size_t places) {
    std::vector<void*> ring(places);
    std::atomic<std::uint64_t> made = 0;
    std::atomic<std::uint64_t> gone = 0;
    std::atomic<std::uint64_t> sum = 0;
    std::thread consumer([&] {
        std::uint64_t seen = 0;
        for (std::uint64_t done = 0; done < blocks; gone.store(done, std::memory_order_release)) {
            const std::uint64_t end = made.load(std::memory_order_acquire);
            if (end == done) std::this_thread::yield();
            for (; done < end; ++done) {
                void* const block = ring[done % places];
                seen += *static_cast<volatile unsigned char*>(block);
                resource.deallocate(block, sizes[done % sizes.size()], alignof(std::max_align_t));
            }
        }
        sum = seen;
    });
    for (std::uint64_t next = 0; next < blocks;) {
        const std::uint64_t room = places - (next - gone.load(std::memory_order_acquire));
        if (room == 0) std::this_thread::yield();
        const std::uint64_t end = std::min(blocks, next + std::min<std::uint64_t>(room, 64));
        for (; next < end; ++next) {
            auto* const block =
                static_cast<unsigned char*>(resource.allocate(sizes[next % sizes.size()], alignof(std::max_align_t)));
            *block = static_cast<unsigned char>(next);
            ring[next % places] = block;
        }
        made.store(next, std::memory_order_release);
    }
    consumer.join();
    return static_cast<double>(sum);
}

struct run_crossing {
    template <class Peer, class Tag>
    metrics operator()(const parameters& point, round_end) const {
        const auto blocks = static_cast<std::uint64_t>(point.number("blocks"));
        Peer peer(std::size_t{1} << 20);
        auto& resource = *bound_type<Peer, Tag>::of(peer);
        const stopwatch::time_point begin = stopwatch::now();
        const double sum = cross(resource, blocks, point.count("ring"));
        return {{"time", {"s", {seconds_between(begin, stopwatch::now()) / static_cast<double>(blocks)}}},
                {"checksum", {"", {sum}}}};
    }
};

std::vector<configuration> grid(grid_size size, const std::string& level) {
    std::vector<configuration> result;
    if (level != "O2") return result;
    for (const std::int64_t ring : {256, 4'096, 65'536}) {
        if (size == grid_size::quick && ring != 4'096) continue;
        configuration one;
        one.parameters = {{"ring", ring}, {"blocks", std::int64_t{size == grid_size::quick ? 1'000'000 : 4'000'000}}};
        one.seconds = 0.01 + static_cast<double>(size == grid_size::quick ? 1'000'000 : 4'000'000) * 95e-9;
        one.memory = 30e6 + static_cast<double>(ring) * 300;
        one.rounds = size == grid_size::quick ? 1 : 3;
        result.push_back(std::move(one));
    }
    return result;
}

experiment crossing() {
    return {.id = "crossing",
            .question = "What does a block cost that one thread allocates and another gives back?",
            .source = "Headroom",
            .contenders = contenders_by_strategy(global_memories + synchronized_multipools, run_crossing{}, false),
            .grid = grid,
            .check = with_parameter("blocks", std::int64_t{10'000}),
            .preloaded = {"std::allocator AS1"},
            .place = 191};
}

const registered_experiment registered(crossing);

}    // namespace
}    // namespace headroom::lab
