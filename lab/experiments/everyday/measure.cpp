// SPDX-License-Identifier: MIT
// Question: what do the ordinary things cost that programs do with vectors, and what memory do they take?
//
// Source: none of the documents. Users of a vector copy, assign, resize, reserve, nest and drop it all day; a vector that only
//   grows well is no replacement.
// Method here, and why: each workload is what its name says, in a loop where a program would do it in a loop (time_first
//   is the first in the process), in a fresh process each. The ones that are about memory (in-turn, short, dead-large) run
//   once: what counts is the peak of resident memory, and what is still resident a second after all was dropped.
//   Every contender runs as it is; std::vector and Headroom's also under each allocator that a user would preload
//   instead of changing a line.
// Disadvantages: in "push", "nested" and "short", containers that take pages where a few bytes would do; in "copy", "assign"
//   and "reserve-push", those that call the system although the size is known and memory is warm; in "threads", those that share
//   a lock between unrelated threads.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "peers/vectors.hpp"
#include "workloads/vector_life.hpp"

namespace headroom::lab { namespace {

// Memory that stays after all is dropped, once the heap and the library have had a second to give it back.
metrics with_memory(double seconds, std::uint64_t sum, double peak) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return {{"time", {"s", {seconds}}},
            {"peak_resident", {"B", {peak}}},
            {"resident_after", {"B", {static_cast<double>(resident_now())}}},
            {"checksum", {"", {static_cast<double>(sum & 0xffff'ffff'ffff)}}}};
}

// A small generator, the same everywhere.
struct random_turns {
    std::uint64_t state = 88172645463325252ULL;
    std::size_t below(std::size_t n) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return static_cast<std::size_t>(state % n);
    }
};

template <class Peer>
metrics many_vectors(const std::string& workload, std::size_t count, std::size_t each) {
    const stopwatch::time_point begin = stopwatch::now();
    std::uint64_t sum = 0;
    double seconds = 0;
    double peak = 0;
    {
        if (workload == "short") {
            // A million vectors with few elements, as a compiler or a build tool has them.
            std::vector<typename Peer::template container<std::uint64_t>> all(count);
            for (std::size_t k = 0; k < each; ++k)
                for (auto& one : all) one.push_back(k);
            for (const auto& one : all) sum += one.size() + one.back();
        } else if (workload == "nested") {
            // Made in a local variable and moved in, as a parser does.
            typename Peer::template container<typename Peer::template container<int>> all;
            for (std::size_t i = 0; i < count; ++i) {
                typename Peer::template container<int> one;
                for (std::size_t k = 0; k < each; ++k) one.push_back(static_cast<int>(k));
                all.push_back(std::move(one));
            }
            for (const auto& one : all) sum += look(one);
        } else if (workload == "random-turn") {
            typename Peer::template container<typename Peer::template container<int>> all;
            for (std::size_t i = 0; i < count; ++i) all.emplace_back();
            random_turns turns;
            for (std::size_t i = 0; i < count * each; ++i) all[turns.below(count)].push_back(static_cast<int>(i));
            for (const auto& one : all) sum += one.size();
        } else if (workload == "in-turn") {
            // 200 vectors that grow together.
            std::vector<typename Peer::template container<int>> all;
            for (std::size_t i = 0; i < count; ++i) all.push_back(make_vector<Peer, int>(each));
            for (std::size_t k = 0; k < each; ++k)
                for (auto& one : all) one.push_back(static_cast<int>(k));
            for (const auto& one : all) sum += look(one);
        } else if (workload == "dead-large") {
            // A large vector is dropped, and then the heap grows by nodes.
            {
                auto large = make_vector<Peer, int>(count);
                for (std::size_t i = 0; i < count; ++i) large.push_back(static_cast<int>(i));
                sum += look(large);
            }
            std::list<std::array<std::uint64_t, 4>> nodes;
            for (std::size_t i = 0; i < each; ++i) nodes.push_back({i, i, i, i});
            sum += nodes.size();
        } else {
            throw std::invalid_argument("unknown workload \"" + workload + "\"");
        }
        seconds = seconds_between(begin, stopwatch::now());
        peak = static_cast<double>(peak_resident());
    }
    return with_memory(seconds, sum, peak);
}

template <class Peer>
metrics two_threads(std::size_t count) {
    const auto work = [count] {
        std::uint64_t sum = 0;
        const stopwatch::time_point begin = stopwatch::now();
        std::size_t lives = 0;
        while (lives < 3 || seconds_between(begin, stopwatch::now()) < 0.2) {
            auto made = make_vector<Peer, int>(count);
            for (std::size_t i = 0; i < count; ++i) made.push_back(static_cast<int>(i));
            sum += look(made);
            ++lives;
        }
        return std::pair(seconds_between(begin, stopwatch::now()) / static_cast<double>(lives), sum / lives);
    };
    std::optional<std::pair<double, std::uint64_t>> other;
    std::thread second([&] { other = work(); });
    const auto mine = work();
    second.join();
    return {{"time", {"s", {(mine.first + other->first) / 2}}},
            {"checksum", {"", {static_cast<double>(mine.second & 0xffff'ffff'ffff)}}}};
}

struct run_everyday {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        const std::string& workload = point.text("workload");
        const std::size_t count = point.count("elements");
        prepare_peer<Peer>(count * 8);
        if (point.contains("each")) return many_vectors<Peer>(workload, count, point.count("each"));
        if (workload == "threads") return two_threads<Peer>(count);
        const std::string& name = point.text("element");
        if (name == "int") return live<Peer, int>(workload, count);
        if (name == "struct48") return live<Peer, six_words>(workload, count);
        if (name == "string15") return live<Peer, string15>(workload, count);
        if (name == "string40") return live<Peer, string40>(workload, count);
        if (name == "pair<int,string>") return live<Peer, pair_with_string>(workload, count);
        if (name == "unique_ptr<int>") return live<Peer, std::unique_ptr<int>>(workload, count);
        throw std::invalid_argument("unknown element \"" + name + "\"");
    }
};

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    const bool quick = size == grid_size::quick;
    const auto add = [&](const char* workload, const char* element, std::int64_t elements) {
        configuration one;
        one.parameters = {{"workload", std::string(workload)}, {"element", std::string(element)}, {"elements", elements}};
        one.seconds = 0.03 + (std::string_view(element) == "int" ? 12e-9 : 140e-9) * static_cast<double>(elements);
        // Old and new block of ints, with what an allocator keeps besides; strings and what they point to.
        one.memory = 32e6 + (std::string_view(element) == "int" ? 24.0 : 200.0) * static_cast<double>(elements);
        result.push_back(std::move(one));
    };
    const auto add_many = [&](const char* workload, std::int64_t elements, std::int64_t each) {
        configuration one;
        one.parameters = {{"workload", std::string(workload)}, {"elements", elements}, {"each", each}};
        // The second until what is resident is looked at, and the elements of all the vectors.
        const bool many = workload != std::string("dead-large");
        one.seconds = 1.1 + (many ? (elements == 1'000'000 ? 20e-9 : 9e-9) * static_cast<double>(elements * each) : 0);
        one.memory = 800e6;
        // A million settled_vectors would need more mappings than a process may have.
        one.contenders = {"std::vector", "headroom::vector"};
        if (workload == std::string("short") || workload == std::string("nested")) {
            for (const char* inside : {"headroom::small_vector", "absl::InlinedVector", "gch::small_vector"})
                one.contenders.push_back(inside);
        }
        if (elements <= 1000 || workload == std::string("dead-large")) one.contenders.push_back("headroom::settled_vector");
        result.push_back(std::move(one));
    };
    if (quick) {
        for (const char* workload : {"push", "copy"}) add(workload, "int", 1'000'000);
        add("push", "string40", 100'000);
        for (configuration& one : result) {    // half a minute: the two that a reader compares, under each allocator
            one.rounds = 1;
            one.contenders = {"std::vector", "headroom::vector"};
        }
        return result;
    }
    const bool full = size == grid_size::full;
    const auto sizes = [&](std::vector<std::int64_t> all, std::vector<std::int64_t> some) { return full ? all : some; };
    for (const char* element : {"int", "struct48", "string15", "string40", "pair<int,string>", "unique_ptr<int>"}) {
        for (const std::int64_t n : sizes({1, 4, 16, 1'000, 100'000, 1'000'000, 10'000'000}, {16, 1'000, 1'000'000})) {
            add("push", element, n);
        }
    }
    for (const std::int64_t n : sizes({100'000'000}, {1, 4, 10'000'000, 100'000'000})) add("push", "int", n);
    for (const char* workload : {"copy", "assign", "resize-fill", "reserve-push"}) {
        for (const std::int64_t n : {16, 10'000, 1'000'000}) add(workload, "int", n);
    }
    for (const std::int64_t n : {16, 1'000, 100'000}) add("copy", "string15", n);
    for (const std::int64_t n : {1'000, 10'000}) add("insert", "string15", n);
    for (const std::int64_t n : {100'000, 1'000'000}) {
        configuration one;
        one.parameters = {{"workload", std::string("threads")}, {"element", std::string("int")}, {"elements", n}};
        one.seconds = 0.21;
        result.push_back(std::move(one));
    }
    for (const std::int64_t k : sizes({1, 2, 3, 4, 6, 7, 8, 9, 17}, {1, 3, 8, 17})) add_many("short", 1'000'000, k);
    add_many("nested", 1'000'000, 2);
    add_many("nested", 100'000, 30);
    add_many("random-turn", 1'000, 10'000);
    add_many("in-turn", 200, 100'000);
    add_many("in-turn", 200, 400'000);
    add_many("dead-large", 16'000'000, 2'000'000);
    return result;
}

experiment everyday() {
    return {.id = "everyday",
            .question = "What do the ordinary things cost that programs do with vectors, and what memory do they take?",
            .source = "",
            .contenders = contenders_of(
                peer_list<std_vector, boost_vector, headroom_vector, headroom_vector_heap, headroom_small_vector, settled,
                          absl_inlined_vector, eastl_vector, folly_fbvector, amc_vector, sfl_vector, gch_small_vector>{},
                run_everyday{}),
            .grid = grid,
            .check =
                [](const parameters& from) {
                    parameters result = few_elements(from);
                    if (from.contains("each")) result.set("each", std::int64_t{2});
                    return result;
                },
            .preloaded = {"std::vector", "headroom::vector", "headroom::settled_vector"},
            .place = 45};
}

const registered_experiment registered(everyday);

}    // namespace
}    // namespace headroom::lab
