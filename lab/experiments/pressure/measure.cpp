// SPDX-License-Identifier: MIT
// Question: how do vectors fare in a program whose memory does not fit, with swap behind it?
//
// Source: "A fast vector with mremap", 4.5 and 4.7.
// Method of the document: its simulation needed up to 11 GB on a machine with 8 GB, and was nearly twice as fast as the next
//   best once memory was short: a vector that grows by page tables needs no second copy of what it holds while it grows, and
//   reads nothing back from the disk in order to copy it.
// Method here, and why: the simulation with three element types (workloads/simulation.cpp), its code unchanged, in a control
//   group that may have 8/11 of the memory that std::vector needs for it, with a swap file for the rest. The size is the
//   machine's: few iterations in the short grids, as many as need 11 GB in the documents' own. The control group and the swap
//   file are made for this and taken away again (see engine/short_memory.hpp); where the system does not allow that, the
//   experiment is not run, and the record says why.
// Disadvantages: none by design; all contenders have the same limit, so a container that needs less is short of less. The
//   speed of the disk decides by how much: a fast one hides much of what the document saw.
// Sources: workloads/simulation.cpp
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/resources.hpp"
#include "workloads/simulation.hpp"

namespace headroom::lab { namespace {

std::vector<contender> contenders() {
    std::vector<contender> result = simulation_contenders();
    for (contender& one : result) {
        if (!one.run) continue;
        one.run = [simulate = std::move(one.run)](const parameters& point) {
            const disturbances before = disturbances_so_far();
            metrics measured = simulate(point);
            measured["disk_faults"] = {"", {static_cast<double>(disturbances_so_far().disk_faults - before.disk_faults)}};
            return measured;
        };
    }
    return result;
}

std::vector<configuration> grid(grid_size size, const std::string&) {
    struct setting {
        std::int64_t iterations;
        double needed;     // bytes resident at the peak of std::vector, with nothing short
        double seconds;    // of one child, short of memory
        int rounds;
    };
    const setting one = size == grid_size::quick  ? setting{200, 0.21e9, 0.5, 3}
                        : size == grid_size::full ? setting{1040, 11e9, 300, 1}
                                                  : setting{300, 0.50e9, 1.5, 3};
    configuration point;
    point.limited = std::floor(one.needed * 8 / 11);
    point.parameters = {{"element", std::string("string+int+array<int,10>")},
                        {"iterations", one.iterations},
                        {"tests", std::int64_t{1}},
                        {"limit", static_cast<std::int64_t>(point.limited)}};
    point.memory = 1.2 * one.needed;    // some vectors need more than std::vector
    point.seconds = one.seconds;
    point.rounds = one.rounds;
    return {std::move(point)};
}

experiment pressure() {
    return {.id = "pressure",
            .question = "How do vectors fare in a program whose memory does not fit?",
            .source = "A fast vector with mremap",
            .contenders = contenders(),
            .grid = grid,
            .check = few_iterations,
            .place = 110};
}

const registered_experiment registered(pressure);

}    // namespace
}    // namespace headroom::lab
