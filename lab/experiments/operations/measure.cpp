// SPDX-License-Identifier: MIT
// Question: which operations take longer than std::vector's, for which elements and sizes?
//
// Source: Headroom's own. A program that switches its vectors gets every operation of theirs, not only the appending.
// Method here, and why: the compiler that built the lab compiles program/operations.cpp for one container and one kind of
//   element, four times, with the code at four places: the address of a loop alone moves a short row by up to 1.9. Each
//   program times every operation, with the container by reference, with 1 to 100,000 elements; a figure is the least
//   of nine rounds, its four values are those of the places. "time" is the geometric mean of all. Not run where that compiler, the
//   headers or the library are no longer where they were when the lab was built.
// Disadvantages: for settled_vector, one or four elements, whose first page costs more than a block of the heap.
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/experiment.hpp"
#include "peers/vectors.hpp"
#include "workloads/commands.hpp"

namespace headroom::lab { namespace {

// By their numbers in program/operations.cpp.
constexpr const char* elements[] = {"byte",     "int",      "struct12", "struct16",       "struct24",
                                    "struct48", "struct64", "string",   "unique_ptr<int>"};

metrics time_operations(int container, const parameters& point) {
    int element = 0;
    while (elements[element] != point.text("element")) ++element;
    const scratch_folder folder;
    metrics result;
    for (const int place : {1, 17, 33, 49}) {
        const std::string program = folder.file("operations");
        const std::string command = quoted(HEADROOM_LAB_CXX) + " -std=c++20 -DNDEBUG -" + point.text("optimisation") +
                                    HEADROOM_LAB_PLACED " -DCONTAINER=" + std::to_string(container) +
                                    " -DELEMENT=" + std::to_string(element) + " -DPLACE=" + std::to_string(place) + " -I " +
                                    quoted(HEADROOM_LAB_HEADERS) + " " + quoted(HEADROOM_LAB_OPERATIONS) + " " +
                                    quoted(HEADROOM_LAB_LIBRARY) + " -pthread -o " + quoted(program) + " >/dev/null 2>&1";
        if (std::system(command.c_str()) != 0)
            throw cannot_run("the compiler that built the lab, a header, or the library is not there");
        std::istringstream lines(output_of(quoted(program)));
        std::string operation;
        std::size_t count = 0;
        double nanoseconds = 0;
        while (lines >> operation >> count >> nanoseconds) {
            metric& one = result[operation + " " + std::to_string(count)];
            one.unit = "s";
            one.values.push_back(nanoseconds * 1e-9);
        }
    }
    if (result.empty()) throw cannot_run("the compiled program printed nothing");
    double logarithms = 0;
    std::size_t values = 0;
    for (const auto& [operation, times] : result) {
        for (const double each : times.values) logarithms += std::log(each);
        values += times.values.size();
    }
    result["time"] = {"s", {std::exp(logarithms / static_cast<double>(values))}};
    return result;
}

std::vector<contender> contenders() {
    std::vector<contender> result;
    const auto add = [&]<class Peer>(int container, const std::string& id) {
        if constexpr (absent_peer<Peer>) {
            result.push_back({id, "", Peer::absent, nullptr});
        } else {
            result.push_back(
                {id, Peer::version(), "", [=](const parameters& point) { return time_operations(container, point); }});
        }
    };
    add.operator()<std_vector>(0, std_vector::id);
    add.operator()<boost_vector>(4, boost_vector::id);
    add.operator()<boost_vector>(5, "boost::container::small_vector<8>");
    add.operator()<headroom_vector>(1, headroom_vector::id);
    add.operator()<settled>(2, settled::id);
    add.operator()<headroom_vector>(3, "headroom::small_vector<8>");
    return result;
}

// Not in the quick run, and in the standard one for three kinds of element: four compilations take half a minute.
std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    if (size == grid_size::quick) return result;
    for (const std::string element : elements) {
        for (const std::string optimisation : {"O2", "O3", "O0", "O1", "Os"}) {
            const bool usual = optimisation == "O2" && (element == "int" || element == "struct24" || element == "string");
            if (size != grid_size::full && !usual) continue;
            configuration one;
            one.parameters = {{"element", element}, {"optimisation", optimisation}};
            one.rounds = 1;
            one.counted = true;
            one.seconds = 40;
            one.memory = 600e6;
            result.push_back(std::move(one));
        }
    }
    return result;
}

experiment operations() {
    return {.id = "operations",
            .question = "Which operations take longer than std::vector's, for which elements and sizes?",
            .source = "Headroom's own",
            .contenders = contenders(),
            .grid = grid,
            .check = nullptr,
            .place = 48};
}

const registered_experiment registered(operations);

}    // namespace
}    // namespace headroom::lab
