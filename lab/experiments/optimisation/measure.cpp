// SPDX-License-Identifier: MIT
// Question: does what everyday says hold at -O1 and -O3, too?
//
// Source: none of the documents. A library of templates is compiled as its user compiles.
// Method here, and why: the workloads of everyday that are one vector's life, of ints and of short strings, in programs
//   built at three levels. Other compilers are columns, too: build the lab with them; results name the compiler.
// Disadvantages: at -O1, containers that need functions inlined that are not marked so.
// Levels: O2 O3 O1
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/experiment.hpp"
#include "peers/headroom_vector.hpp"
#include "peers/settled_vector.hpp"
#include "peers/std_vector.hpp"
#include "workloads/vector_life.hpp"

namespace headroom::lab { namespace {

struct run_at_level {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        const std::size_t count = point.count("elements");
        prepare_peer<Peer>(count * 8);
        if (point.text("element") == "int") return live<Peer, int>(point.text("workload"), count);
        return live<Peer, string15>(point.text("workload"), count);
    }
};

std::vector<configuration> grid(grid_size size, const std::string& level) {
    std::vector<configuration> result;
    const auto add = [&](const char* workload, const char* element, std::int64_t elements) {
        configuration one;
        one.parameters = {{"workload", std::string(workload)},
                          {"element", std::string(element)},
                          {"elements", elements},
                          {"optimisation", level}};
        one.seconds = 0.15;
        result.push_back(std::move(one));
    };
    if (size == grid_size::quick) {
        add("push", "int", 1000);
        return result;
    }
    for (const std::int64_t n : {1, 16, 1'000, 100'000}) add("push", "int", n);
    for (const char* workload : {"copy", "assign", "resize-fill", "reserve-push"}) {
        for (const std::int64_t n : {16, 10'000}) add(workload, "int", n);
    }
    for (const char* workload : {"push", "copy", "reserve-push"}) {
        for (const std::int64_t n : {16, 1'000}) add(workload, "string15", n);
    }
    add("insert", "string15", 1'000);
    return result;
}

experiment optimisation() {
    return {.id = "optimisation",
            .question = "Does what everyday says hold at -O1 and -O3, too?",
            .source = "Headroom's own",
            .contenders = contenders_of(peer_list<std_vector, headroom_vector, settled>{}, run_at_level{}),
            .grid = grid,
            .check = few_elements,
            .place = 46};
}

const registered_experiment registered(optimisation);

}    // namespace
}    // namespace headroom::lab
