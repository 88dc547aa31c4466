// SPDX-License-Identifier: MIT
// Question: what is left of a vector's gain under each setting of huge pages, and over what costs a user no line?
//
// Source: none of the documents. Distributions differ: Debian, RHEL, SUSE and Arch give huge pages to every program ("always"),
//   Ubuntu to those that ask ("madvise"), databases want none ("never"). A vector that asks for huge pages beats std::vector by
//   more where that has none.
// Method here, and why: each workload is what its name says, once in a fresh process, since fresh memory is what huge pages are
//   about, under each of the three settings, which root alone may change: without that, under the machine's own. std::vector and
//   Headroom's also under each allocator that a user would preload, and with glibc told to ask for huge pages.
// Disadvantages: containers that ask for huge pages gain least under "always", and those that populate memory ahead of writing to
//   it lose what the processor's cache has of a page that was just zeroed.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "peers/vectors.hpp"
#include "workloads/vector_life.hpp"

namespace headroom::lab { namespace {

// Returns what the workload takes, the first time in the process.
template <class Peer>
metrics once(const std::string& workload, std::size_t count) {
    lives<Peer, int> one(count);
    if (workload == "copy") one.fill();
    const stopwatch::time_point begin = stopwatch::now();
    std::uint64_t sum = 0;
    if (workload == "push") {
        sum = one.push();
    } else if (workload == "resize-fill") {
        sum = one.resize_fill();
    } else if (workload == "copy") {
        sum = one.copy();
    } else {
        throw std::invalid_argument("unknown workload \"" + workload + "\"");
    }
    const double seconds = seconds_between(begin, stopwatch::now());
    return {{"time", {"s", {seconds}}}, {"checksum", {"", {static_cast<double>(sum & 0xffff'ffff'ffff)}}}};
}

struct run_huge_pages {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        const std::size_t count = point.count("elements");
        prepare_peer<Peer>(count * 8);
        return once<Peer>(point.text("workload"), count);
    }
};

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    for (const char* mode : {"always", "madvise", "never"}) {
        for (const char* workload : {"push", "resize-fill", "copy"}) {
            for (const std::int64_t elements : {1'000'000, 10'000'000, 100'000'000}) {
                if (elements > 10'000'000 && size != grid_size::full) continue;
                if (size == grid_size::quick && elements > 1'000'000) continue;
                configuration one;
                one.parameters = {{"thp", std::string(mode)}, {"workload", std::string(workload)}, {"elements", elements}};
                one.huge_pages = mode;
                one.rounds = 5;
                one.seconds = 0.02 + 8e-9 * static_cast<double>(elements);
                one.memory = 32e6 + 16.0 * static_cast<double>(elements);
                result.push_back(std::move(one));
            }
        }
    }
    return result;
}

experiment huge_pages() {
    return {.id = "huge-pages",
            .question = "What is left of a vector's gain under each setting of huge pages?",
            .source = "",
            .contenders = contenders_of(peer_list<std_vector, boost_vector, headroom_vector, settled>{}, run_huge_pages{}),
            .grid = grid,
            .check = few_elements,
            .preloaded = {"std::vector", "headroom::vector"},
            .place = 44};
}

const registered_experiment registered(huge_pages);

}    // namespace
}    // namespace headroom::lab
