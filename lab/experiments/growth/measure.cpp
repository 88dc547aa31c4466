// SPDX-License-Identifier: MIT
// Question: at which sizes does each vector grow while a million ints are pushed, and what does growing move and waste?
//
// Source: "Vector reallocation strategies".
// Method of the document: printed the size at which begin() had changed, for g++ 4.6.1 and Visual Studio 2010.
// Method here, and why: the size before each push that changed capacity() ("grows_at") and the capacity after it
//   ("capacities"); apart from that each change of data() ("moves_at"), because a container may grow without moving;
//   bytes moved, counted as size times element at each such change; and what capacity exceeds size by: at the end
//   ("unused") and at most ("unused_most"); "unused_share" is the most of unused / 64 KiB up to 4 MiB, and / 2 MiB from there
//   on, which the default policy of settled_vector promises to keep at or under 1. All are counts: one round is enough.
//   Headroom's growth policies take part as arithmetic, without memory.
// Disadvantages: containers that grow in small steps look busy here; a growth that moves nothing costs one commit.
#include <algorithm>
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "peers/growth_policies.hpp"
#include "peers/vectors.hpp"

namespace headroom::lab { namespace {

struct run_growth {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        const std::size_t elements = point.count("elements");
        auto vector = make_vector<Peer, int>(elements);
        metric grows_at{"elements", {}};
        metric capacities{"elements", {}};
        metric moves_at{"elements", {}};
        double bytes_moved = 0;
        double most_unused = 0;
        double most_share = 0;
        auto capacity = vector.capacity();
        auto data = vector.data();
        for (std::size_t i = 0; i < elements; ++i) {
            vector.push_back(static_cast<int>(i));
            if (vector.capacity() != capacity) {
                capacity = vector.capacity();
                grows_at.values.push_back(static_cast<double>(i));
                capacities.values.push_back(static_cast<double>(capacity));
                const double used = static_cast<double>(vector.size() * sizeof(int));
                const double unused = static_cast<double>(capacity * sizeof(int)) - used;
                most_unused = std::max(most_unused, unused);
                most_share = std::max(most_share, unused / (used <= 4194304.0 ? 65536.0 : 2097152.0));
            }
            if (vector.data() != data) {
                data = vector.data();
                moves_at.values.push_back(static_cast<double>(i));
                bytes_moved += static_cast<double>(i * sizeof(int));
            }
        }
        const double growths = static_cast<double>(grows_at.values.size());
        const double address_changes = static_cast<double>(moves_at.values.size());
        return {{"growths", {"", {growths}}},
                {"address_changes", {"", {address_changes}}},
                {"bytes_moved", {"B", {bytes_moved}}},
                {"unused", {"B", {static_cast<double>((vector.capacity() - vector.size()) * sizeof(int))}}},
                {"unused_most", {"B", {most_unused}}},
                {"unused_share", {"", {most_share}}},
                {"grows_at", std::move(grows_at)},
                {"capacities", std::move(capacities)},
                {"moves_at", std::move(moves_at)},
                {"checksum", {"", {static_cast<double>(vector.size()) * 31 + vector.back()}}}};
    }
};

std::vector<configuration> grid(grid_size, const std::string&) {
    configuration one;
    one.parameters = {{"element", "int"}, {"elements", std::int64_t{1'000'000}}};
    one.rounds = 1;
    one.counted = true;
    one.seconds = 0.02;
    return {one};
}

experiment growth() {
    return {.id = "growth",
            .question = "At which sizes does each vector grow, and what does growing move and waste?",
            .source = "Vector reallocation strategies",
            .contenders = contenders_of(vectors + growth_policies, run_growth{}),
            .grid = grid,
            .headline = "growths",
            .check = few_elements,
            .place = 50};
}

const registered_experiment registered(growth);

}    // namespace
}    // namespace headroom::lab
