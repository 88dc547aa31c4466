// SPDX-License-Identifier: MIT
// Question: does an allocator stay as fast as it was, when containers live and die in it again and again?
//
// Source: Headroom's own. P0089R0 says that memory which is used again loses its locality (benchmark II), of one container's
//   elements; here it is the container that comes again.
// Method here, and why: one resource; in it a container of n elements is built, read through and destroyed, six times or
//   more (four times from a million elements on). What differs is the order in which elements come, against the one in which
//   the container holds them and lets them go: "insertion", the same; "random", drawn; "hash", one that a multiplicative hash
//   makes. (An unordered_map holds them in its own order; a list is sorted before it dies.) "time" is the median life after the
//   first, building and destroying, for an element; "time_first" the first life, which takes its memory fresh; "ageing" the one
//   divided by the other; "read" and "read_first" the same of reading it through.
// Disadvantages: resources that never use a block again take part in other experiments.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "workloads/strategies.hpp"

namespace headroom::lab { namespace {

std::vector<int> keys_in(const std::string& order, std::size_t count) {
    std::vector<int> keys(count);
    for (std::size_t i = 0; i < count; ++i) {
        // An odd factor: different numbers stay different.
        keys[i] = static_cast<int>(static_cast<std::uint32_t>(i) * (order == "hash" ? 2'654'435'769U : 1U));
    }
    if (order == "random") {
        std::mt19937 random(7);
        for (std::size_t i = count; i > 1; --i) std::swap(keys[i - 1], keys[random() % i]);
    }
    return keys;
}

// Strings in the order of the keys that they are made of, and too long for a place in the string itself.
std::vector<std::string> texts_of(const std::vector<int>& keys) {
    std::vector<std::string> texts;
    texts.reserve(keys.size());
    for (const int key : keys) {
        const std::string digits = std::to_string(static_cast<std::uint32_t>(key));
        texts.push_back(std::string(10 - digits.size(), '0') + digits + ", a key of forty characters...");
    }
    return texts;
}

struct times {
    std::vector<double> whole, read;
    double checksum = 0;
};

// `arrange` is called between building and reading, and not timed.
template <class Container, class Resource, class Fill, class Arrange>
void live(Resource* resource, const Fill& fill, const Arrange& arrange, times& into) {
    stopwatch::time_point built, arranged, read;
    const stopwatch::time_point begin = stopwatch::now();
    {
        Container container(allocator_from<typename Container::value_type>(resource));
        fill(container);
        built = stopwatch::now();
        arrange(container);
        arranged = stopwatch::now();
        for (const auto& each : container) {
            if constexpr (requires { each.second; }) {
                into.checksum += each.second;
            } else if constexpr (requires { each.size(); }) {
                into.checksum += each[9];
            } else {
                into.checksum += each;
            }
        }
        read = stopwatch::now();
    }
    into.whole.push_back(seconds_between(begin, built) + seconds_between(read, stopwatch::now()));
    into.read.push_back(seconds_between(arranged, read));
}

double median_after_first(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2 + 1);
    std::nth_element(values.begin() + 1, middle, values.end());
    return *middle;
}

std::size_t lives_of(std::size_t elements) {
    return elements >= 1'000'000 ? 4 : 5 + std::min<std::size_t>(1'000'000 / elements, 100);
}

struct run_lives {
    template <class Peer, class Tag>
    metrics operator()(const parameters& point, round_end) const {
        using resource = typename bound_type<Peer, Tag>::resource;
        using pair = std::pair<const int, int>;
        using text = std::basic_string<char, std::char_traits<char>, allocator_of<char, resource>>;
        using hashed = std::unordered_map<int, int, std::hash<int>, std::equal_to<int>, allocator_of<pair, resource>>;
        using ordered = std::map<int, int, std::less<int>, allocator_of<pair, resource>>;
        using texts_in_order = std::set<text, std::less<text>, allocator_of<text, resource>>;
        using linked = std::list<int, allocator_of<int, resource>>;
        const std::size_t elements = point.count("elements");
        const std::string container = point.text("container");
        const std::vector<int> keys = keys_in(point.text("order"), elements);
        const std::vector<std::string> texts = container == "set<string>" ? texts_of(keys) : std::vector<std::string>();
        Peer peer(std::size_t{1} << 20);
        resource* const memory = bound_type<Peer, Tag>::of(peer);
        times all;
        const auto by_key = [&](auto& into) {
            for (const int key : keys) into.emplace(key, 1);
        };
        const auto as_it_is = [](const auto&) {};
        const std::size_t lives = lives_of(elements);
        for (std::size_t i = 0; i < lives; ++i) {
            if (container == "unordered_map") {
                live<hashed>(memory, by_key, as_it_is, all);
            } else if (container == "map") {
                live<ordered>(memory, by_key, as_it_is, all);
            } else if (container == "set<string>") {
                live<texts_in_order>(
                    memory,
                    [&](texts_in_order& into) {
                        for (const std::string& each : texts) into.emplace(each.data(), each.size());
                    },
                    as_it_is, all);
            } else {
                live<linked>(
                    memory,
                    [&](linked& into) {
                        for (const int key : keys) into.push_back(key);
                    },
                    [](linked& into) { into.sort(); }, all);
            }
        }
        const auto each = static_cast<double>(elements);
        return {{"time", {"s", {median_after_first(all.whole) / each}}},
                {"time_first", {"s", {all.whole.front() / each}}},
                {"ageing", {"", {median_after_first(all.whole) / all.whole.front()}}},
                {"read", {"s", {median_after_first(all.read) / each}}},
                {"read_first", {"s", {all.read.front() / each}}},
                {"checksum", {"", {all.checksum}}}};
    }
};

std::vector<contender> contenders() { return contenders_by_strategy(global_memories + local_multipools, run_lives{}, false); }

std::vector<configuration> grid(grid_size size, const std::string& level) {
    std::vector<configuration> result;
    if (level != "O2") return result;
    std::vector<std::string> bound_by_type;
    for (const contender& one : contenders()) {
        if (one.id.ends_with(" AS1") || one.id.ends_with(" AS7")) bound_by_type.push_back(one.id);
    }
    for (const std::string container : {"unordered_map", "map", "set<string>", "list"}) {
        for (const std::string order : {"insertion", "random", "hash"}) {
            std::vector<std::int64_t> counts = {1'000, 10'000, 100'000, 1'000'000};
            // Lives cannot be cut short: the other orders run at one size, and the quick grid has a single configuration.
            if (size != grid_size::full && (size == grid_size::quick || order != "random")) counts = {100'000};
            if (size == grid_size::quick && (order != "random" || container != "unordered_map")) continue;
            // Most of a large list's time would go to sorting it.
            if (size != grid_size::full && container == "list" && counts.size() > 1) counts.pop_back();
            for (const std::int64_t count : counts) {
                configuration one;
                one.parameters = {{"container", container}, {"order", order}, {"elements", count}};
                // The time for an element grows once the caches no longer hold the container.
                const double each = container == "set<string>" ? 620e-9 : container == "unordered_map" ? 50e-9 : 250e-9;
                const double dear = count >= 1'000'000 ? 3.3 : count >= 100'000 ? 1 : 0.5;
                one.seconds =
                    0.005 + static_cast<double>(lives_of(static_cast<std::size_t>(count)) * static_cast<std::size_t>(count)) *
                                each * dear;
                // How they are bound to the container is another experiment's question.
                if (size != grid_size::full) one.contenders = bound_by_type;
                one.memory = 20e6 + static_cast<double>(count) * (container == "set<string>" ? 300 : 120);
                one.rounds = size == grid_size::quick || (size != grid_size::full && count == 1'000'000) ? 1 : 3;
                result.push_back(std::move(one));
            }
        }
    }
    return result;
}

experiment lives() {
    return {.id = "lives",
            .question = "Does an allocator stay as fast as it was, when containers live and die in it again and again?",
            .source = "Headroom",
            .contenders = contenders(),
            .grid = grid,
            .check = few_elements,
            .preloaded = {"std::allocator AS1"},
            .place = 190};
}

const registered_experiment registered(lives);

}    // namespace
}    // namespace headroom::lab
