// SPDX-License-Identifier: MIT
// Question: how do vectors fare in a program that does everything with them, with many of them alive at once?
//
// Source: "A fast vector with mremap", 3.3-3.5 and 4.3-4.7.
// Method of the document: kept a vector of vectors for each element type, and in each of 1500 iterations did one of six
//   actions, drawn at random, whose size grows with the iteration; ten seeds from 12345512 up; timed each action.
// Method here, and why: the same, the vector of vectors being of the vector under test too. Elements are emplaced
//   without arguments (the long string with its text), as in the listings. Where the document gives an action in words only:
//     pop_back  from up to a third of the vectors (with replacement), up to as many elements as the vector has;
//     copy      up to three vectors, each copied and then moved to the end of the environment;
//     insert    into up to a third of the vectors, at a random place, up to as many as the iteration, in one call;
//     erase     from up to a third of the vectors, between two random places, in one call.
//   An action that finds no vectors constructs some, as push_back does in the listing. Random numbers are drawn inside the
//   timed scope, as there: a handful for each vector touched. The copy is made outside the environment, because copying from
//   the vector that grows is what some peers get wrong. With three element types each iteration does one action for each.
// Disadvantages: vectors that ask the system for memory when copied or made; reservations take a page at least, and
//   most vectors here are small when they begin. It is kinder to memory than real programs: nothing else is allocated.
// Sources: workloads/simulation.cpp
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/experiment.hpp"
#include "workloads/simulation.hpp"

namespace headroom::lab { namespace {

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    const std::int64_t iterations = size == grid_size::quick ? 200 : size == grid_size::full ? 1500 : 400;
    const std::int64_t tests = size == grid_size::full ? 10 : 1;
    struct setting {
        const char* name;
        double memory;     // bytes that std::vector was seen to need at 600 iterations: the power of 2.4 of these
        double seconds;    // of processor time for one test of 600 iterations: the third power
    };
    for (const setting& one : {setting{"int", 0.16e9, 0.2}, setting{"array<int,10>", 1.55e9, 1.5}, setting{"string", 1.25e9, 1.6},
                               setting{"long string", 2.3e9, 4.5}, setting{"TestType", 1.15e9, 2.9},
                               setting{"string+int+array<int,10>", 3.1e9, 3.2}}) {
        configuration point;
        point.parameters = {{"element", std::string(one.name)}, {"iterations", iterations}, {"tests", tests}};
        const double scale = static_cast<double>(iterations) / 600;
        point.seconds = 0.02 + one.seconds * static_cast<double>(tests) * std::pow(scale, 3);
        point.memory = 32e6 + 1.1 * one.memory * std::pow(scale, 2.4);
        point.rounds = size == grid_size::full ? 1 : 3;
        result.push_back(std::move(point));
    }
    return result;
}

experiment simulation() {
    return {.id = "simulation",
            .question = "How do vectors fare in a program that does everything with them?",
            .source = "A fast vector with mremap",
            .contenders = simulation_contenders(),
            .grid = grid,
            .check = few_iterations,
            .place = 100};
}

const registered_experiment registered(simulation);

}    // namespace
}    // namespace headroom::lab
