// SPDX-License-Identifier: MIT
// Question: how many instructions does an allocation take, with the deallocation of its block, in the common case?
//
// Source: Headroom's own. P0089R0's Benchmark III measures the same in time, where memory's own slowness is in the figure.
// Method here, and why: valgrind's callgrind counts this program twice, with 1,000 and with 9,000 turns of the loop of
//   `utilization`: sixteen blocks are in use, the oldest is given back and another allocated. The difference, divided by the
//   number of pairs, less the cost of the same loop with an allocator that does nothing, is "instructions". "known_size" is 1
//   if the size is a constant. Bound at compile time. Instructions in the kernel are not counted.
// Disadvantages: none. But instructions are not time: one that waits for memory costs a hundred others.
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/experiment.hpp"
#include "workloads/counting.hpp"
#include "workloads/strategies.hpp"

namespace headroom::lab { namespace {

constexpr std::size_t in_use = 16;

constexpr std::size_t alignment = alignof(std::max_align_t);

template <class Resource>
[[gnu::always_inline]] inline void replace(Resource& resource, void*& block, std::size_t bytes) {
    resource.deallocate(block, bytes, alignment);
    asm volatile("" : : : "memory");    // other work: the two calls may not be made one
    block = resource.allocate(bytes, alignment);
    asm volatile("" : : "r"(block) : "memory");
}

// The loop's own cost: it loads a block's address and stores another.
struct nothing {
    [[gnu::always_inline]] void* allocate(std::size_t, std::size_t) { return this; }
    [[gnu::always_inline]] void deallocate(void* block, std::size_t, std::size_t) { asm volatile("" : : "r"(block)); }
};

// Inlined with everything in it, so that a constant stays one.
template <class Resource>
[[gnu::always_inline]] inline void turn(Resource& resource, std::uint64_t turns, std::size_t bytes) {
    std::array<void*, in_use> blocks;
    for (void*& block : blocks) block = resource.allocate(bytes, alignment);
    for (std::uint64_t done = 0; done < turns; ++done) {
        [&]<std::size_t... i>(std::index_sequence<i...>)
            __attribute__((always_inline)) { (replace(resource, blocks[i], bytes), ...); }(std::make_index_sequence<in_use>());
    }
    for (void* const block : blocks) resource.deallocate(block, bytes, alignment);
}

template <std::size_t bytes, class Resource>
[[gnu::noinline]] void turn_known(Resource& resource, std::uint64_t turns) {
    turn(resource, turns, bytes);
}

template <class Resource>
[[gnu::noinline]] void turn_unknown(Resource& resource, std::uint64_t turns, std::size_t bytes) {
    asm volatile("" : "+r"(bytes));
    turn(resource, turns, bytes);
}

struct run_pair_instructions {
    template <class Peer, class Tag>
    metrics operator()(const parameters& point, round_end) const {
        const auto exponent = point.number("S_exponent");
        if (point.contains("turns")) {
            const std::uint64_t turns = point.count("turns");
            if (point.flag("nothing")) {
                nothing none;
                turn_unknown(none, turns, 0);
                return {};
            }
            Peer peer(std::size_t{1} << 20);
            auto& resource = *bound_type<Peer, Tag>::of(peer);
            if (!point.flag("known_size")) {
                turn_unknown(resource, turns, std::size_t{1} << exponent);
            } else if (exponent == 6) {
                turn_known<64>(resource, turns);
            } else {
                turn_known<1024>(resource, turns);
            }
            return {};
        }
        const auto counted = [&](std::uint64_t turns, bool nothing) {
            return count_instructions("pair-instructions", std::string(Peer::id) + " " + id_of<Peer>(),
                                      "{\"S_exponent\":" + std::to_string(exponent) +
                                          ",\"known_size\":" + (point.flag("known_size") ? "true" : "false") + ",\"nothing\":" +
                                          (nothing ? "true" : "false") + ",\"turns\":" + std::to_string(turns) + "}");
        };
        const auto a_pair = [&](bool nothing) {
            return (counted(9'000, nothing) - counted(1'000, nothing)) / (8'000.0 * in_use);
        };
        return {{"instructions", {"", {a_pair(false) - a_pair(true)}}}};
    }

private:
    template <class Peer>
    static const char* id_of() {
        return Peer::kind == allocator_kind::global ? "AS1" : "AS7";
    }
};

std::vector<contender> contenders() {
    std::vector<contender> result = contenders_by_strategy(global_memories + multipools, run_pair_instructions{}, false);
    std::erase_if(result, [](const contender& each) {
        if (!each.absent.empty() || each.id.ends_with(" AS1")) return false;
        return !each.id.ends_with(" AS7") || each.id.find("/fresh") != std::string::npos;
    });
    return result;
}

// Not in the quick run: a process under callgrind takes seconds to start.
std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    if (size == grid_size::quick) return result;
    for (const std::int64_t exponent : {6, 10}) {
        for (const bool known : {false, true}) {
            configuration one;
            one.parameters = {{"S_exponent", exponent}, {"known_size", known}};
            one.rounds = 1;
            one.counted = true;
            one.seconds = 2.2;
            result.push_back(std::move(one));
        }
    }
    return result;
}

experiment pair_instructions() {
    return {.id = "pair-instructions",
            .question = "How many instructions does an allocation take, with the deallocation of its block?",
            .source = "Headroom's own",
            .contenders = contenders(),
            .grid = grid,
            .headline = "instructions",
            .check = nullptr,
            .place = 180};
}

const registered_experiment registered(pair_instructions);

}    // namespace
}    // namespace headroom::lab
