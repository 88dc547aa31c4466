// SPDX-License-Identifier: MIT
// Question: how much slower does a program read its data once its memory has been shuffled, and does a local allocator help?
//
// Source: P0089R0, Benchmark II (locality in long-running programs).
// Method of the document: a system G of k subsystems, each a std::list<int> of |S| links, |G| = k |S|. To shuffle once is to
//   visit each list in turn, pop its first link, and push one to the end of a list chosen at random, |G| times in all ("sf"
//   times that). Each datum is accessed af times before the next subsystem is turned to, and all that is repeated rf times.
//   It shows the time of accessing after shuffling, divided by the time before, with and without a multipool in each
//   subsystem: table 15 (10⁷ links, sf = 0 ... 9), tables 16 to 21 (|G| = 2²¹ and 2²⁵, sf = 5, af rf = 2560). Three cells of
//   its table 17 measured nothing, because a 32-bit count overflowed; its program pops from a random subsystem and pushes to
//   the next one, the reverse of its text.
// Method here, and why: as the text says, with 64-bit counts. Only the accesses are timed, so no shuffling has to be
//   subtracted. One run times them before and after; "time" is seconds an access after shuffling, "degradation" the ratio.
//   An access adds 1. Each subsystem is made by new in turn, with its own allocator where it has one.
// Disadvantages: allocators whose smallest unit is large, where subsystems are small.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "workloads/strategies.hpp"

namespace headroom::lab { namespace {

template <class Peer, class Tag>
class subsystem {
public:
    explicit subsystem(std::size_t links)
        : peer_(links * 64 + 4096), links_{allocator_from<int>(bound_type<Peer, Tag>::of(peer_))} {
        for (std::size_t i = 0; i < links; ++i) links_.push_back(static_cast<int>(i));
    }
    auto& links() { return links_; }

private:
    Peer peer_;
    std::list<int, allocator_of<int, typename bound_type<Peer, Tag>::resource>> links_;
};

template <class System>
double access(System& system, std::uint64_t af, std::uint64_t rf) {
    const stopwatch::time_point begin = stopwatch::now();
    for (std::uint64_t repeat = 0; repeat < rf; ++repeat) {
        for (auto& each : system) {
            for (std::uint64_t pass = 0; pass < af; ++pass) {
                for (int& datum : each->links()) ++datum;
            }
        }
    }
    return seconds_between(begin, stopwatch::now());
}

template <class System>
void shuffle(System& system, std::uint64_t links, std::uint64_t sf) {
    std::mt19937_64 random(20150916);
    for (std::uint64_t done = 0; done < sf * links;) {
        for (auto& each : system) {
            // A list may be empty by now; its turn passes.
            if (!each->links().empty()) each->links().pop_front();
            else continue;
            system[random() % system.size()]->links().push_back(1);
            if (++done == sf * links) break;
        }
    }
}

struct run_locality {
    template <class Peer, class Tag>
    metrics operator()(const parameters& point, round_end) const {
        const std::uint64_t links = point.count("links");
        const std::size_t each = point.count("subsystem_links");
        const std::uint64_t af = point.count("af");
        const std::uint64_t rf = point.count("rf");
        const std::uint64_t sf = point.count("sf");
        std::vector<std::unique_ptr<subsystem<Peer, Tag>>> system;
        system.reserve(links / each);
        for (std::uint64_t i = 0; i < links / each; ++i) system.push_back(std::make_unique<subsystem<Peer, Tag>>(each));
        const auto accesses = static_cast<double>(links) * static_cast<double>(af * rf);
        (void)access(system, 1, 1);    // warm, as it is after shuffling
        const double before = access(system, af, rf) / accesses;
        const stopwatch::time_point begin = stopwatch::now();
        shuffle(system, links, sf);
        const double shuffled = seconds_between(begin, stopwatch::now());
        const double after = access(system, af, rf) / accesses;
        std::uint64_t count = 0;
        std::uint64_t sum = 0;
        for (auto& one : system) {
            for (const int datum : one->links()) {
                ++count;
                sum += static_cast<std::uint32_t>(datum);
            }
        }
        return {{"time", {"s", {after}}},
                {"time_before", {"s", {before}}},
                {"degradation", {"", {after / before}}},
                {"time_shuffle", {"s", {sf == 0 ? 0.0 : shuffled / static_cast<double>(links * sf)}}},
                {"checksum", {"", {static_cast<double>(sum + (count << 32))}}}};
    }
};

// Compile-time binding and destruction only: nothing is allocated while the clock runs.
std::vector<contender> contenders() {
    std::vector<contender> result = contenders_by_strategy(global_memories + local_multipools, run_locality{}, false);
    std::erase_if(result, [](const contender& each) {
        return each.absent.empty() && !each.id.ends_with(" AS1") && !each.id.ends_with(" AS7");
    });
    return result;
}

std::vector<std::string> without_mimalloc() {
    std::vector<std::string> result;
    for (const contender& each : contenders()) {
        if (!each.id.starts_with("mimalloc")) result.push_back(each.id);
    }
    return result;
}

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    const std::vector<std::string> quickly_dropped = without_mimalloc();
    const auto add = [&](std::int64_t links, std::int64_t each, std::int64_t af, std::int64_t rf, std::int64_t sf,
                         bool global_only) {
        configuration one;
        one.parameters = {{"links", links}, {"subsystem_links", each}, {"af", af}, {"rf", rf}, {"sf", sf}};
        const auto count = static_cast<double>(links);
        const auto systems = count / static_cast<double>(each);
        one.seconds =
            0.02 + systems * 0.8e-6 +
            count * (static_cast<double>(af * rf) * 12e-9 + static_cast<double>(sf) * 25e-9 + std::log2(systems) * 30e-9);
        one.memory = 30e6 + count * 48 + count / static_cast<double>(each) * 2600;
        one.rounds = size == grid_size::full ? 2 : 1;
        if (global_only) one.contenders = {"std::allocator AS1"};
        // Making and dropping tens of thousands of mimalloc's heaps takes minutes: only in full.
        else if (size != grid_size::full && each < 512) one.contenders = quickly_dropped;
        result.push_back(std::move(one));
    };
    const bool full = size == grid_size::full;
    const bool quick = size == grid_size::quick;
    // Tables 16 to 21. Quick: the corner and the middle where the effect is large, and one where it is small.
    const std::vector<std::int64_t> exponents =
        full ? std::vector<std::int64_t>{21, 25} : std::vector<std::int64_t>{quick ? 18 : 21};
    for (const std::int64_t exponent : exponents) {
        const std::int64_t product = full ? 256 : 16;
        for (std::int64_t subsystem = exponent; subsystem >= 0; subsystem -= full ? 1 : 3) {
            if (!full && !quick && (subsystem == 12 || subsystem == 3)) continue;    // between two that are much the same
            for (std::int64_t af = product; af >= 1; af /= full ? 2 : product) {
                if (product == 1) break;
                add(std::int64_t{1} << exponent, std::int64_t{1} << subsystem, af, product / af, 5, false);
                if (af == 1) break;
            }
        }
    }
    // And one cell with more accesses to each link.
    if (!full && !quick) add(std::int64_t{1} << 21, std::int64_t{1} << 18, 64, 1, 5, false);
    // Table 15.
    const std::int64_t most = full ? 10'000'000 : quick ? 100'000 : 1'000'000;
    for (std::int64_t each = most; each >= 1; each /= full ? 10 : 100) {
        for (std::int64_t sf = 0; sf <= 9; sf += full ? 1 : 3) add(most, each, 10, 1, sf, true);
    }
    return result;
}

experiment locality() {
    return {.id = "locality",
            .question = "How much slower is data read once its memory has been shuffled, and does a local allocator help?",
            .source = "P0089R0, Benchmark II",
            .contenders = contenders(),
            .grid = grid,
            .check =
                [](const parameters& from) {
                    parameters result = from;
                    result.set("links", std::min<std::int64_t>(from.number("links"), 4096));
                    result.set("subsystem_links", std::min<std::int64_t>(from.number("subsystem_links"), 1024));
                    result.set("af", std::int64_t{1});
                    result.set("rf", std::int64_t{1});
                    return result;
                },
            .place = 150};
}

const registered_experiment registered(locality);

}    // namespace
}    // namespace headroom::lab
