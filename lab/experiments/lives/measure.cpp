// Question: does an allocator stay as fast as it was, when containers live and die in it again and again?
//
// Source: Headroom's own. P0089R0 says that memory which is used again loses its locality (benchmark II), of one container's
//   elements; here it is the container that comes again.
// What the document did: nothing of the kind.
// What is done here and why: one resource; in it a container of n elements is built, read through and destroyed, ten times or
//   more. Hash tables and trees are filled in random order; a list is sorted before it dies, so that its nodes come back in
//   random order. "time" is the median life after the first, building and destroying, for an element; "time_first" the first
//   life, which takes its memory fresh; "read" the median of reading it through after the first life.
// Whom it disadvantages: resources that never use a block again take part in other experiments.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "workloads/strategies.hpp"

namespace headroom::lab { namespace {

std::vector<int> shuffled(std::size_t count) {
    std::vector<int> keys(count);
    for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<int>(i);
    std::mt19937 random(7);
    for (std::size_t i = count; i > 1; --i) std::swap(keys[i - 1], keys[random() % i]);
    return keys;
}

struct times {
    std::vector<double> whole, read;
    double checksum = 0;
};

template <class Container, class Resource, class Fill>
void live(Resource* resource, const Fill& fill, times& into) {
    stopwatch::time_point built, read;
    const stopwatch::time_point begin = stopwatch::now();
    {
        Container container(allocator_from<typename Container::value_type>(resource));
        fill(container);
        built = stopwatch::now();
        for (const auto& each : container) {
            if constexpr (requires { each.second; }) {
                into.checksum += each.second;
            } else {
                into.checksum += each;
            }
        }
        read = stopwatch::now();
    }
    into.whole.push_back(seconds_between(begin, built) + seconds_between(read, stopwatch::now()));
    into.read.push_back(seconds_between(built, read));
}

double median_after_first(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2 + 1);
    std::nth_element(values.begin() + 1, middle, values.end());
    return *middle;
}

struct run_lives {
    template <class Peer, class Tag>
    metrics operator()(const parameters& point, round_end) const {
        using resource = typename bound_type<Peer, Tag>::resource;
        using pair = std::pair<const int, int>;
        using hashed = std::unordered_map<int, int, std::hash<int>, std::equal_to<int>, allocator_of<pair, resource>>;
        using ordered = std::map<int, int, std::less<int>, allocator_of<pair, resource>>;
        using linked = std::list<int, allocator_of<int, resource>>;
        const std::size_t elements = point.count("elements");
        const std::string container = point.text("container");
        const std::vector<int> keys = shuffled(elements);
        Peer peer(std::size_t{1} << 20);
        resource* const memory = bound_type<Peer, Tag>::of(peer);
        times all;
        const auto by_key = [&](auto& into) {
            for (const int key : keys) into.emplace(key, 1);
        };
        const std::size_t lives = 5 + std::min<std::size_t>(1'000'000 / elements, 100);
        for (std::size_t i = 0; i < lives; ++i) {
            if (container == "unordered_map") {
                live<hashed>(memory, by_key, all);
            } else if (container == "map") {
                live<ordered>(memory, by_key, all);
            } else {
                live<linked>(
                    memory,
                    [&](linked& into) {
                        for (const int key : keys) into.push_back(key);
                        into.sort();
                    },
                    all);
            }
        }
        const auto each = static_cast<double>(elements);
        return {{"time", {"s", {median_after_first(all.whole) / each}}},
                {"time_first", {"s", {all.whole.front() / each}}},
                {"read", {"s", {median_after_first(all.read) / each}}},
                {"checksum", {"", {all.checksum}}}};
    }
};

std::vector<configuration> grid(grid_size size, const std::string& level) {
    std::vector<configuration> result;
    if (level != "O2") return result;
    for (const std::string container : {"unordered_map", "map", "list"}) {
        std::vector<std::int64_t> counts = {1'000, 10'000, 100'000, 1'000'000};
        if (size == grid_size::quick) counts = {100'000};
        for (const std::int64_t count : counts) {
            configuration one;
            one.parameters = {{"container", container}, {"elements", count}};
            one.seconds = 0.05 + (5 + 1e6 / static_cast<double>(count)) * static_cast<double>(count) * 600e-9;
            one.memory = 20e6 + static_cast<double>(count) * 120;
            one.rounds = size == grid_size::quick ? 1 : 3;
            result.push_back(std::move(one));
        }
    }
    return result;
}

experiment lives() {
    return {.id = "lives",
            .question = "Does an allocator stay as fast as it was, when containers live and die in it again and again?",
            .source = "Headroom",
            .contenders = contenders_by_strategy(global_memories + local_multipools, run_lives{}, false),
            .grid = grid,
            .check =
                [](const parameters& from) {
                    parameters result = from;
                    result.set("elements", std::int64_t{1'000});
                    return result;
                },
            .place = 190};
}

const registered_experiment registered(lives);

}    // namespace
}    // namespace headroom::lab
