// SPDX-License-Identifier: MIT
// Question: what does an object cost that is shared: by shared_ptr(new ...), by make_shared, by allocate_shared?
//
// Source: "Vector reallocation strategies" (its second part).
// Method of the document: made 100,000 shared ints each way and counted allocations: 200,000 against 100,000; without
//   optimisation make_shared took 2.7 s against 1.6 s, with it 0.4 s against 0.7 s.
// Method here, and why: the same, and allocate_shared on each memory resource, bound at compile time. "time" is seconds
//   for making and dropping one object; all are kept until the last is made, as a program does that has use for them. A
//   resource is kept from round to round and told that a round is over. Allocations are counted in a pass of their own.
// Disadvantages: none.
// Levels: O0 O2
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "measure/statistics.hpp"
#include "workloads/strategies.hpp"

namespace headroom::lab { namespace {

constexpr std::size_t objects = 100'000;

std::uint64_t counted = 0;

// An int that counts how often it is allocated by itself.
struct counted_int {
    explicit counted_int(int start) : value(start) {}
    static void* operator new(std::size_t bytes) {
        ++counted;
        return ::operator new(bytes);
    }
    static void operator delete(void* block) { ::operator delete(block); }
    int value;
};
// Counts what is allocated through it.
template <class T>
struct counting_allocator {
    using value_type = T;
    counting_allocator() = default;
    template <class U>
    counting_allocator(const counting_allocator<U>&) {}
    T* allocate(std::size_t n) {
        ++counted;
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T* room, std::size_t n) { std::allocator<T>().deallocate(room, n); }
    friend bool operator==(const counting_allocator&, const counting_allocator&) { return true; }
};

// Rounds of making all and dropping all, until some time has passed; seconds an object.
template <class Make, class End>
metrics measure(Make make, End end, double allocations) {
    std::vector<std::shared_ptr<int>> all;
    all.reserve(objects);
    std::vector<double> rounds;
    std::uint64_t sum = 0;
    for (double spent = 0; rounds.size() < 3 || (spent < 0.1 && rounds.size() < 50);) {
        const stopwatch::time_point begin = stopwatch::now();
        for (std::size_t i = 0; i < objects; ++i) all.push_back(make(static_cast<int>(i)));
        sum = static_cast<std::uint64_t>(*all.front()) + static_cast<std::uint64_t>(*all.back());
        all.clear();
        end();
        rounds.push_back(seconds_between(begin, stopwatch::now()));
        spent += rounds.back();
    }
    return {{"time", {"s", {median(rounds) / static_cast<double>(objects)}}},
            {"allocations", {"", {allocations * static_cast<double>(objects)}}},
            {"checksum", {"", {static_cast<double>(sum)}}}};
}

metrics run_new(const parameters&) {
    counted = 0;
    { const std::shared_ptr<counted_int> one(new counted_int(1), std::default_delete<counted_int>(), counting_allocator<int>()); }
    return measure([](int value) { return std::shared_ptr<int>(new int(value)); }, [] {}, static_cast<double>(counted));
}

metrics run_make_shared(const parameters&) {
    counted = 0;
    { const auto one = std::allocate_shared<int>(counting_allocator<int>(), 1); }
    return measure([](int value) { return std::make_shared<int>(value); }, [] {}, static_cast<double>(counted));
}

struct run_allocate_shared {
    template <class Peer>
    metrics operator()(const parameters&) const {
        Peer peer(objects * 48);
        auto* const resource = peer.bound();
        return measure(
            [&](int value) {
                return std::allocate_shared<int>(resource_allocator<int, typename Peer::bound_resource>(resource), value);
            },
            [&] { peer.next_round(round_end::destroyed); }, 1);
    }
};

std::vector<contender> contenders() {
    std::vector<contender> result{{"std::shared_ptr(new)", std_vector::version(), "", run_new},
                                  {"std::make_shared", std_vector::version(), "", run_make_shared}};
    for (contender& each :
         contenders_of(growing_monotonics + buffered_monotonics + multipools + synchronized_multipools, run_allocate_shared{})) {
        result.push_back(std::move(each));
    }
    return result;
}

std::vector<configuration> grid(grid_size size, const std::string& level) {
    configuration one;
    one.parameters = {{"element", "int"}, {"objects", static_cast<std::int64_t>(objects)}, {"optimisation", level}};
    one.rounds = size == grid_size::quick ? 1 : 3;
    one.seconds = 0.1;
    return {one};
}

experiment make_shared() {
    return {.id = "make-shared",
            .question = "What does an object cost that is shared?",
            .source = "Vector reallocation strategies",
            .contenders = contenders(),
            .grid = grid,
            .check = [](const parameters& from) { return from; },
            .place = 130};
}

const registered_experiment registered(make_shared);

}    // namespace
}    // namespace headroom::lab
