// SPDX-License-Identifier: MIT
// Question: what do threads cost each other that allocate and give back at the same time?
//
// Source: P0089R0, Benchmark IV (contention).
// Method of the document: started W threads, each of which allocated and gave back a block of S bytes N times, adding 1 to its
//   first byte, from the global allocator that all share or from a resource of its own; N = 2¹⁵ ... 2¹⁹, S = 2⁶ ... 2⁸,
//   W = 1 ... 8; strategies without winking out. On 12 cores.
// Method here, and why: the same with "sharing": "private". With "shared" all threads use one synchronized resource: the
//   document has that only in its text. "time" is the processor time of a pair (all threads together, divided by their
//   pairs), so that more threads than processors do not look like contention; "time_elapsed" is what a clock on the wall
//   shows, divided by N. Threads wait for each other before they start.
// Disadvantages: monotonic allocators, which never use a block again.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "workloads/strategies.hpp"

namespace headroom::lab { namespace {

template <class Resource>
[[gnu::noinline]] void pairs(Resource& resource, std::uint64_t count, std::size_t bytes) {
    for (std::uint64_t i = 0; i < count; ++i) {
        auto* const block = static_cast<unsigned char*>(resource.allocate(bytes, alignof(std::max_align_t)));
        count_up(block);
        resource.deallocate(block, bytes, alignof(std::max_align_t));
    }
}

// Runs work(number) on `count` threads; returns the elapsed time and the processor time.
template <class Prepare, class Work>
std::pair<double, double> on_threads(std::size_t count, Prepare prepare, Work work) {
    std::atomic<std::size_t> ready = 0;
    std::atomic<std::size_t> done = 0;
    std::atomic<bool> go = false;
    std::atomic<bool> leave = false;
    std::vector<std::thread> threads;
    for (std::size_t number = 0; number < count; ++number) {
        threads.emplace_back([&] {
            auto own = prepare();
            ++ready;
            go.wait(false);
            work(*own);
            ++done;
            done.notify_one();
            leave.wait(false);    // what ends with the thread is not measured
        });
    }
    while (ready < count) std::this_thread::yield();
    const double cpu = processor_time();
    const stopwatch::time_point begin = stopwatch::now();
    go = true;
    go.notify_all();
    for (std::size_t seen = done; seen < count; seen = done) done.wait(seen);
    const double seconds = seconds_between(begin, stopwatch::now());
    const double used = processor_time() - cpu;
    leave = true;
    leave.notify_all();
    for (std::thread& each : threads) each.join();
    return {seconds, used};
}

metrics result_of(std::pair<double, double> times, std::uint64_t count, std::size_t threads) {
    const auto each = static_cast<double>(count);
    return {{"time", {"s", {times.second / each / static_cast<double>(threads)}}},
            {"time_elapsed", {"s", {times.first / each}}},
            {"checksum", {"", {each * static_cast<double>(threads)}}}};
}

struct run_private {
    template <class Peer, class Tag>
    metrics operator()(const parameters& point, round_end) const {
        const std::uint64_t count = std::uint64_t{1} << point.number("N_exponent");
        const std::size_t bytes = std::size_t{1} << point.number("S_exponent");
        const std::size_t threads = point.count("W");
        const auto times = on_threads(
            threads, [&] { return std::make_unique<Peer>(std::size_t{1} << 20); },
            [&](Peer& own) { pairs(*bound_type<Peer, Tag>::of(own), count, bytes); });
        return result_of(times, count, threads);
    }
};

struct run_shared {
    template <class Peer, class Tag>
    metrics operator()(const parameters& point, round_end) const {
        const std::uint64_t count = std::uint64_t{1} << point.number("N_exponent");
        const std::size_t bytes = std::size_t{1} << point.number("S_exponent");
        const std::size_t threads = point.count("W");
        Peer shared(std::size_t{1} << 20);
        const auto times = on_threads(
            threads, [&] { return &shared; }, [&](Peer& all) { pairs(*bound_type<Peer, Tag>::of(all), count, bytes); });
        return result_of(times, count, threads);
    }
};

// Each contender takes part in its own kind of sharing only; the global allocator in both.
std::vector<contender> contenders() {
    return joined({contenders_by_strategy(global_memories + growing_monotonics + multipools + multipools_over_monotonics,
                                          run_private{}, false),
                   contenders_by_strategy(synchronized_multipools, run_shared{}, false)});
}

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    const bool quick = size == grid_size::quick;
    const bool full = size == grid_size::full;
    std::vector<std::string> private_ones, shared_ones;
    for (const contender& each : contenders_by_strategy(
             global_memories + growing_monotonics + multipools + multipools_over_monotonics, run_private{}, false)) {
        private_ones.push_back(each.id);
    }
    for (const contender& each : contenders_by_strategy(global_memories, run_private{}, false)) shared_ones.push_back(each.id);
    for (const contender& each : contenders_by_strategy(synchronized_multipools, run_shared{}, false)) {
        shared_ones.push_back(each.id);
    }
    for (const std::string sharing : {"private", "shared"}) {
        for (std::int64_t count = full ? 15 : 18; count <= (full ? 19 : 18); ++count) {
            for (std::int64_t bytes = quick ? 7 : 6; bytes <= (quick ? 7 : 8); ++bytes) {
                for (std::int64_t threads = 1; threads <= (quick ? 2 : 8); threads = full ? threads + 1 : threads * 2) {
                    configuration one;
                    one.parameters = {{"sharing", sharing}, {"N_exponent", count}, {"S_exponent", bytes}, {"W", threads}};
                    one.contenders = sharing == "private" ? private_ones : shared_ones;
                    const double pairs_in_all = static_cast<double>(threads << count);
                    one.seconds = 0.005 + pairs_in_all * (20e-9 + static_cast<double>(std::int64_t{1} << bytes) * 0.15e-9);
                    one.memory = 30e6 + 1.3 * pairs_in_all * static_cast<double>(std::int64_t{1} << bytes);
                    one.rounds = quick ? 1 : 3;
                    result.push_back(std::move(one));
                }
            }
        }
    }
    return result;
}

experiment contention() {
    return {.id = "contention",
            .question = "What do threads cost each other that allocate at the same time?",
            .source = "P0089R0, Benchmark IV",
            .contenders = contenders(),
            .grid = grid,
            .check = with_parameter("N_exponent", std::int64_t{8}),
            .place = 170};
}

const registered_experiment registered(contention);

}    // namespace
}    // namespace headroom::lab
