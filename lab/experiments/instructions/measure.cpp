// SPDX-License-Identifier: MIT
// Question: how many instructions does one append take in the common case?
//
// Source: "4GB per Vector" asks for a zero-overhead push_back(); an instruction count shows what is left
//   of it where time drowns in noise.
// Method of the document: wished for it.
// Method here, and why: valgrind's callgrind runs this program twice on the loop of experiment `throughput`, to
//   10,000 and to 12,000 ints, between which neither a vector that doubles grows nor one that commits half of its size at a
//   time; the difference, divided by 2000, is what an append takes in the common case ("instructions"). The same from
//   1,200,000 to 2,000,000, where a vector that doubles does not grow, but others do ("instructions_growing"). What the
//   kernel does is not counted. Not run where valgrind is missing. This experiment starts processes of its own, as no
//   other does: the counting has to be done from outside.
// Disadvantages: containers that grow page by page have growing counted in both.
#include <memory>
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "peers/vectors.hpp"
#include "workloads/counting.hpp"
#include "workloads/elements.hpp"

namespace headroom::lab { namespace {

// To build `elements` ints.
double count(const char* contender, std::int64_t elements) {
    return count_instructions("instructions", contender, "{\"elements\":" + std::to_string(elements) + ",\"counted\":true}");
}

struct run_instructions {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        if (point.flag("counted")) {
            auto vector = make_vector<Peer, int>(point.count("elements"));
            append_all<int>(vector, point.count("elements"));
            asm volatile("" : : "r"(vector.data()) : "memory");    // used: it may not be optimised away
            return {};
        }
        const auto between = [](std::int64_t shorter, std::int64_t longer) {
            return (count(Peer::id, longer) - count(Peer::id, shorter)) / static_cast<double>(longer - shorter);
        };
        return {{"instructions", {"", {between(10'000, 12'000)}}},
                {"instructions_growing", {"", {between(1'200'000, 2'000'000)}}}};
    }
};

std::vector<configuration> grid(grid_size size, const std::string&) {
    configuration one;
    one.parameters = {{"element", "int"}};
    one.rounds = 1;
    one.counted = true;
    one.seconds = 2.5;
    if (size == grid_size::quick) {
        one.contenders = {"std::vector", "headroom::vector", "headroom::settled_vector",
                          "headroom::settled_vector/open unchecked"};
    }
    return {one};
}

experiment instructions() {
    return {.id = "instructions",
            .question = "How many instructions does one append take in the common case?",
            .source = "4GB per Vector",
            .contenders = contenders_of(vectors + unchecked_vectors, run_instructions{}),
            .grid = grid,
            .headline = "instructions",
            .check = nullptr,
            .place = 70};
}

const registered_experiment registered(instructions);

}    // namespace
}    // namespace headroom::lab
