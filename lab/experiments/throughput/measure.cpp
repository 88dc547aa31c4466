// SPDX-License-Identifier: MIT
// Question: how long does it take to append n elements to an empty vector whose final size is not known?
//
// Source: "Reserve and commit", Benchmarks, Throughput.
// Method of the document: appended 10^3, 10^6, 10^9 and 10^10 ints and unique_ptrs, one array after another in one process,
//   unoptimised and at -O1 and -O2; divided the length by the processor time, on a clock of 1 to 16 ms.
// Method here, and why: every power of ten; each array in a process of its own, because the first array of a process
//   pays for pages that the next one finds ready. The loop is the user's loop over a local vector, so that the compiler
//   may keep the end of the vector in a register where the container lets it. "time" is the monotonic clock from before the
//   vector is made until after the last append; "destroy" is what giving it back takes; "loop_cpu" is the processor time of
//   all threads, so that a helper thread's work shows. Up to 10^4 elements "time" is the first array of the process, and
//   "time_steady" the median of many more; both libraries have grown a small vector before (measure/first_use.hpp). With
//   "warm" the process has built and destroyed one such vector before.
// Disadvantages: reservations at 10^3 elements on the first array (a system call and a page fault against a heap
//   that is there); std::vector from 10^5 up, whose growing is the question. reserve() would help it, and is another
//   question. At -O0 every container pays for its own layers of small functions. Containers under "/warm" were allowed
//   to keep more memory than their default allows: a setting that is the user's to make.
//   From 10^7 elements on, another process touches more memory than any contender will before each run
//   (measure/warm_machine.hpp), for all contenders alike: without that, huge pages take up to 25 times as long on virtual
//   machines whose host takes free memory back, and ordinary ones do not, because the system serves them from memory that
//   was in use lately.
// Levels: O0 O1 O2
#include <cstdint>
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/first_use.hpp"
#include "measure/resources.hpp"
#include "peers/vectors.hpp"
#include "workloads/elements.hpp"
#include "workloads/lives.hpp"

namespace headroom::lab { namespace {

template <class Peer, class T>
[[gnu::noinline]] life build(std::size_t elements) {
    return live_once<Peer, T>(
        elements, [elements](auto& vector) __attribute__((always_inline)) { append_all<T>(vector, elements); },
        [](const auto& vector) __attribute__((always_inline)) { return checksum(vector); });
}

template <class Peer, class T>
[[gnu::noinline]] double steady(std::size_t elements) {
    return live_again<Peer, T>(elements, 15,
                               [elements](auto& vector) __attribute__((always_inline)) { append_all<T>(vector, elements); });
}

struct run_throughput {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        return with_element(point.text("element"), [&]<class T>() -> metrics {
            const std::size_t elements = point.count("elements");
            prepare_peer<Peer>(elements * sizeof(T));
            use_library_once();
            if (point.flag("warm")) build<Peer, T>(elements);
            const disturbances before = disturbances_so_far();
            const life first = build<Peer, T>(elements);
            const disturbances after = disturbances_so_far();
            metrics result{
                {"time", {"s", {first.append}}},
                {"destroy", {"s", {first.destroy}}},
                {"loop_cpu", {"s", {first.cpu}}},
                {"page_faults", {"", {static_cast<double>(after.page_faults - before.page_faults)}}},
                {"involuntary_switches", {"", {static_cast<double>(after.involuntary_switches - before.involuntary_switches)}}},
                {"checksum", {"", {first.checksum}}}};
            if (elements <= 10'000) result["time_steady"] = {"s", {steady<Peer, T>(elements)}};
            return result;
        });
    }
};

std::vector<configuration> grid(grid_size size, const std::string& level) {
    std::vector<configuration> result;
    std::vector<std::string> cold;
    std::vector<std::string> warm;
    for (const contender& one : contenders_of(vectors + unchecked_vectors, run_throughput{})) cold.push_back(one.id);
    for (const contender& one : contenders_of(vectors + warm_vectors, run_throughput{})) warm.push_back(one.id);
    const auto add = [&](const std::string& element, std::int64_t elements, bool reuse) {
        configuration one;
        one.parameters = {{"element", element}, {"elements", elements}, {"optimisation", level}};
        if (reuse) one.parameters.set("warm", true);
        one.contenders = reuse ? warm : cold;
        // Half of its time goes to making and dropping nodes, alike for all contenders: those with their default growth suffice.
        if (size == grid_size::standard && element != "int" && elements >= 100'000'000) {
            one.contenders = {"std::vector", "headroom::vector", "headroom::settled_vector"};
        }
        const double n = reachable(elements, element);
        one.seconds = (elements <= 10'000 ? 0.03 : 0.005) +
                      n * (element == "int" ? 4.5e-9 : 52e-9) * (level == "O0" ? 2.5 : 1) * (reuse ? 1.7 : 1);
        one.memory = 16e6 + 1.5 * static_cast<double>(elements) * element_bytes(element);
        // From where the memory comes from the system, and what a virtual machine's host took back would be measured.
        // (std::vector touches 1.6 times what its array takes: the last one and the one before.)
        if (elements >= 10'000'000 && elements <= 1'000'000'000) one.warmed = touched(elements, element);
        one.rounds = elements > 1'000'000'000 ? 1 : size == grid_size::quick || elements >= 1'000'000 ? 3 : 5;
        result.push_back(std::move(one));
    };
    const std::int64_t most_ints = size == grid_size::quick  ? (level == "O2" ? 10'000'000 : 1'000'000)
                                   : size == grid_size::full ? 10'000'000'000
                                   : level == "O2"           ? 1'000'000'000
                                                             : 10'000'000;
    const std::int64_t most_pointers = size == grid_size::quick  ? (level == "O2" ? 1'000'000 : 100'000)
                                       : size == grid_size::full ? 10'000'000'000
                                       : level == "O2"           ? 100'000'000
                                                                 : 1'000'000;
    for (std::int64_t n = 1000; n <= most_ints; n *= 10) add("int", n, false);
    for (std::int64_t n = 1000; n <= most_pointers; n *= 10) add("unique_ptr<int>", n, false);
    if (level == "O2") {
        for (std::int64_t n = 1'000'000; n <= most_ints && n <= 100'000'000; n *= 10) add("int", n, true);
    }
    return result;
}

experiment throughput() {
    return {.id = "throughput",
            .question = "How long does it take to append n elements to an empty vector of unknown final size?",
            .source = "Reserve and commit",
            .contenders = contenders_of(vectors + unchecked_vectors + warm_vectors, run_throughput{}),
            .grid = grid,
            .check = few_elements,
            .place = 10};
}

const registered_experiment registered(throughput);

}    // namespace
}    // namespace headroom::lab
