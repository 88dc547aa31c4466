// SPDX-License-Identifier: MIT
// Question: what do vectors of other sizes cost each other that are built and dropped in turn, again and again?
//
// Source: Headroom's own. A loop of one size is `one-growth`; programs have several: a buffer and what is parsed out of it, columns and an
//   index over them.
// Method: a round builds a vector of `bytes` bytes and one of `then` bytes, in turn or, if `nested`, the second while the first is alive.
//   "push" appends one element at a time, "resize" makes all at once, "pieces" appends twelfths. "time" is the processor time of the median
//   round after the first four, "page_faults" those of a round then.
// Disadvantages: Headroom's vectors that are built in pieces and nested, the larger one outside, change ranges with each other and stay
//   cold. Vectors whose memory is malloc's depend on where malloc trims its heap; the setting is the system's.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "peers/vectors.hpp"
#include "workloads/elements.hpp"

namespace headroom::lab { namespace {

template <class Vector>
void build(Vector& to, const std::string& way, std::size_t elements) {
    if (way == "resize") {
        to.resize(elements);
    } else if (way == "push") {
        append_all<int>(to, elements);
    } else {
        static const std::vector<int> source(std::size_t{4} << 20, 1);
        for (std::size_t done = 0; done < elements;) {
            const std::size_t piece = std::min(elements - done, elements / 12 + 1);
            to.insert(to.end(), source.begin(), source.begin() + static_cast<std::ptrdiff_t>(piece));
            done += piece;
        }
    }
}

template <class Peer, class Then>
[[gnu::noinline]] std::uint64_t with_vector(const std::string& way, std::size_t elements, Then then) {
    auto vector = make_vector<Peer, int>(elements);
    build(vector, way, elements);
    return static_cast<std::uint64_t>(vector[elements / 2]) + vector.size() + then();
}

struct run_turns {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        const std::size_t first = point.count("bytes") / sizeof(int);
        const std::size_t second = point.count("then") / sizeof(int);
        const std::string way = point.text("way");
        const bool nested = point.text("order") == "nested";
        const auto round = [&] {
            const auto last = [&] { return with_vector<Peer>(way, second, [] { return std::uint64_t{0}; }); };
            if (nested) return with_vector<Peer>(way, first, last);
            return with_vector<Peer>(way, first, [] { return std::uint64_t{0}; }) + last();
        };
        std::uint64_t sum = 0;
        for (int i = 0; i < 4; ++i) sum = round();
        constexpr std::size_t rounds = 15;
        std::vector<double> times;
        const std::uint64_t faults = disturbances_so_far().page_faults;
        for (std::size_t i = 0; i < rounds; ++i) {
            const double begin = processor_time();
            sum = round();
            times.push_back(processor_time() - begin);
        }
        const double faults_of_round = static_cast<double>(disturbances_so_far().page_faults - faults) / rounds;
        std::sort(times.begin(), times.end());
        return {{"time", {"s", {times[rounds / 2]}}},
                {"page_faults", {"", {faults_of_round}}},
                {"checksum", {"", {static_cast<double>(sum)}}}};
    }
};

std::vector<configuration> grid(grid_size size, const std::string& level) {
    std::vector<configuration> result;
    if (level != "O2") return result;
    constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB;
    for (const std::int64_t bytes : {64 * KiB, MiB, 4 * MiB, 16 * MiB}) {
        for (const std::int64_t then : {16 * KiB, 2 * MiB, 12 * MiB}) {
            for (const char* const way : {"push", "resize", "pieces"}) {
                for (const char* const order : {"in turn", "nested"}) {
                    if (size == grid_size::quick && (bytes != 4 * MiB || then != 2 * MiB)) continue;
                    configuration one;
                    one.parameters = {{"way", std::string(way)}, {"order", std::string(order)}, {"bytes", bytes}, {"then", then}};
                    one.seconds = 0.02 + 19 * 1.5e-9 * static_cast<double>(bytes + then);
                    one.memory = 40e6 + 3.0 * static_cast<double>(bytes + then);
                    one.rounds = size == grid_size::quick ? 1 : 3;
                    result.push_back(std::move(one));
                }
            }
        }
    }
    return result;
}

experiment turns() {
    return {.id = "turns",
            .question = "What do vectors of other sizes cost each other that are built and dropped in turn, again and again?",
            .source = "Headroom",
            .contenders = contenders_of(peer_list<std_vector, boost_vector, headroom_vector, settled>{}, run_turns{}),
            .grid = grid,
            .check = with_parameter("bytes", std::int64_t{65'536}),
            .preloaded = {"std::vector", "headroom::vector", "headroom::settled_vector"},
            .place = 42};
}

const registered_experiment registered(turns);

}    // namespace
}    // namespace headroom::lab
