// SPDX-License-Identifier: MIT
// Question: which allocation strategy builds and destroys containers, and containers of containers, fastest?
//
// Source: P0089R0, Benchmark I (density and variation of allocations).
// Method of the document: built each of twelve data structures with 2⁶ to 2¹⁶ elements (those of DS5 to DS12 hold 2⁷ leaves
//   each), wrote each leaf once through a pointer to volatile, and destroyed or "winked out" the whole, again and again until
//   2²⁷ leaves had been built, under fourteen strategies: tables 3 to 14. Strings have 33 to 1000 characters (so its section
//   7.2; section 7 says 33 to 100). In the printed tables the columns of the monotonic and multipool strategies are swapped,
//   and the global allocator ran on a heap that had been scrambled before, the others on a clean one: facts that its authors'
//   own later scripts and logs show.
// Method here, and why: the same, with every implementation at hand in the place of each strategy. "time" is seconds
//   a leaf. Random numbers are drawn before the clock starts. The state of the heap and malloc's trimming are axes, for all
//   strategies alike. An allocator is kept from round to round, and told at the end of a round that it is over: what that
//   costs is measured, and what it keeps warm counts. (Those under "/fresh" are made anew for each round.) The first round,
//   which finds all memory cold, is timed apart ("time_first"): in the paper it is one of up to 2²¹.
// Disadvantages: allocators that get memory for each round from the system; "/buffer" and `floor` were given warm
//   memory before the clock started: all that they will need, which no user can know beforehand.
#include "experiments/data-structures/structures.hpp"

#include <algorithm>
#include <random>

#include "engine/experiment.hpp"

namespace headroom::lab {

void* (*volatile overwrite)(void*, int, std::size_t) = std::memset;

draws::draws() {
    std::mt19937_64 random(20150906);
    for (auto& each : lengths_) each = static_cast<std::uint16_t>(shortest + random() % (longest - shortest + 1));
    for (std::size_t i = 0; i < count; ++i) numbers_[i] = static_cast<int>(i);
    std::shuffle(numbers_.begin(), numbers_.end(), random);
}

std::size_t bytes_needed(const parameters& point, draws& chance) {
    const std::string& contents = point.text("contents");
    const std::size_t leaves = leaves_of(point);
    const std::size_t containers = is_nested(point) ? leaves / inner_leaves + 1 : 1;
    std::size_t bytes = (std::size_t{1} << 20) + leaves * 128 + containers * 4096;
    if (contents.find("string") != std::string::npos) {
        for (std::size_t i = 0; i < leaves; ++i) bytes += (chance.length() + 16) * 9 / 8;
    }
    return bytes;
}

namespace {

constexpr const char* contents[] = {"vector<int>",
                                    "vector<string>",
                                    "unordered_set<int>",
                                    "unordered_set<string>",
                                    "vector<vector<int>>",
                                    "vector<vector<string>>",
                                    "vector<unordered_set<int>>",
                                    "vector<unordered_set<string>>",
                                    "unordered_set<vector<int>>",
                                    "unordered_set<vector<string>>",
                                    "unordered_set<unordered_set<int>>",
                                    "unordered_set<unordered_set<string>>"};

configuration of(int structure, std::int64_t size, std::int64_t leaves, const std::string& heap, bool trimming) {
    configuration one;
    one.parameters = {{"structure", "DS" + std::to_string(structure)},
                      {"contents", std::string(contents[structure - 1])},
                      {"size_exponent", size},
                      {"leaves_exponent", leaves},
                      {"heap", heap},
                      {"trimming", trimming}};
    const bool strings = one.parameters.text("contents").find("string") != std::string::npos;
    const auto at_once = static_cast<double>(leaves_of(one.parameters));
    const double in_all = std::max(static_cast<double>(std::int64_t{1} << leaves), at_once) + 3 * at_once;
    one.seconds =
        0.003 + in_all * (strings ? 50e-9 : 15e-9) + at_once * (strings ? 450e-9 : 0) + (heap == "scrambled" ? 0.03 : 0);
    one.memory = 20e6 + at_once * (strings ? 1300 : 160);
    return one;
}

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    if (size == grid_size::quick) {
        for (int structure = 1; structure <= 12; ++structure) {
            for (const std::int64_t exponent : {6, 11}) {
                result.push_back(of(structure, structure > 4 ? exponent - 3 : exponent, 15, "clean", true));
                result.back().rounds = 1;
            }
        }
        return result;
    }
    if (size == grid_size::standard) {
        for (int structure = 1; structure <= 12; ++structure) {
            for (const std::int64_t exponent : {6, 10, 13}) {
                // Far more strings at once than all leaves together are in the other cells, and minutes for each round:
                // one of the four structures that are so large has to do.
                if (exponent == 13 && (structure == 6 || structure == 10 || structure == 12)) continue;
                result.push_back(of(structure, exponent, 18, "clean", true));
                result.back().rounds = 1;
            }
        }
        // The other states of the heap, where the paper's tables differ most by them.
        for (const int structure : {2, 3, 7}) {
            result.push_back(of(structure, 10, 18, "scrambled", true));
            result.push_back(of(structure, 10, 18, "clean", false));
            result[result.size() - 2].rounds = result.back().rounds = 1;
        }
        return result;
    }
    for (const std::string heap : {"clean", "scrambled"}) {
        for (const bool trimming : {true, false}) {
            for (int structure = 1; structure <= 12; ++structure) {
                for (std::int64_t exponent = 6; exponent <= 16; ++exponent) {
                    result.push_back(of(structure, exponent, 27, heap, trimming));
                }
            }
        }
    }
    return result;
}

experiment data_structures() {
    return {.id = "data-structures",
            .question = "Which allocation strategy builds and destroys containers of containers fastest?",
            .source = "P0089R0, Benchmark I",
            .contenders = joined({data_structures_over_globals_and_monotonics(), data_structures_over_buffers(),
                                  data_structures_over_multipools()}),
            .grid = grid,
            .check =
                [](const parameters& from) {
                    parameters result = from;
                    result.set("size_exponent", std::min<std::int64_t>(from.number("size_exponent"), 3));
                    result.set("leaves_exponent", std::int64_t{6});
                    return result;
                },
            .place = 140};
}

const registered_experiment registered(data_structures);

}    // namespace
}    // namespace headroom::lab
