// SPDX-License-Identifier: MIT
// The random simulation of "A fast vector with mremap": what its experiment says of it stands in
// experiments/simulation/measure.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/simulation.hpp"

#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "peers/vectors.hpp"

namespace headroom::lab {
namespace {

enum action : std::size_t { construct, push_back_many, pop_back_many, copy, insert, erase, actions };
constexpr std::array<const char*, actions> names{"construct", "push_back", "pop_back", "copy", "insert", "erase"};
constexpr std::size_t stretches = 30;

// Owns a block of heap memory; copying allocates, moving does not, and nothing throws. The document's listing 3.1.
class test_type {
public:
    test_type() noexcept : block_(new int(1)) {}
    test_type(const test_type& other) noexcept : number_(other.number_), block_(new int(*other.block_)) {}
    test_type(test_type&& other) noexcept : number_(other.number_), block_(std::exchange(other.block_, nullptr)) {}
    test_type& operator=(const test_type& other) noexcept {
        number_ = other.number_;
        if (block_ == nullptr) block_ = new int();
        *block_ = *other.block_;
        return *this;
    }
    test_type& operator=(test_type&& other) noexcept {
        number_ = other.number_;
        std::swap(block_, other.block_);
        return *this;
    }
    ~test_type() { delete block_; }

private:
    int number_ = 5;
    int* block_;
};

// A std::string that is born too long for its inside buffer.
struct long_string : std::string {
    long_string() : std::string("a string that is long enough to be on the heap") {}
};

// Seconds in each action.
using account = std::array<double, actions>;

class timer {
public:
    explicit timer(double& into) : into_(into) {}
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;
    ~timer() { into_ += seconds_between(begin_, stopwatch::now()); }

private:
    double& into_;
    stopwatch::time_point begin_ = stopwatch::now();
};

template <class Peer, class T>
class environment {
    using inner = typename Peer::template container<T>;
    using outer = typename Peer::template container<inner>;

public:
    void act(std::mt19937& random, int iteration, account& times) {
        const auto which = static_cast<std::size_t>(draw(random, 0, actions - 1));
        if (vectors_.size() == 0) return make(random, iteration, times);
        switch (which) {
            case push_back_many: return push(random, iteration, times);
            case pop_back_many: return pop(random, times);
            case copy: return duplicate(random, times);
            case insert: return put(random, iteration, times);
            case erase: return cut(random, times);
            default: return make(random, iteration, times);
        }
    }

    [[nodiscard]] std::uint64_t elements() const {
        std::uint64_t sum = 0;
        for (const inner& one : vectors_) sum += one.size();
        return sum;
    }
    // Wrong when a vector has not the size it should have.
    [[nodiscard]] std::uint64_t checksum() const {
        std::uint64_t sum = vectors_.size();
        for (const inner& one : vectors_) sum = sum * 31 + one.size();
        return sum;
    }

private:
    static std::int64_t draw(std::mt19937& random, std::int64_t from, std::int64_t to) {
        return std::uniform_int_distribution<std::int64_t>(from, to)(random);
    }
    inner& pick(std::mt19937& random) {
        return vectors_[static_cast<std::size_t>(draw(random, 0, static_cast<std::int64_t>(vectors_.size()) - 1))];
    }
    std::int64_t third(std::mt19937& random) { return draw(random, 1, static_cast<std::int64_t>(vectors_.size() / 3 + 1)); }

    void make(std::mt19937& random, int iteration, account& times) {
        for (std::int64_t left = draw(random, 1, 3); left > 0; --left) {
            std::int64_t size = draw(random, 1, iteration + 10);
            vectors_.emplace_back();
            const timer time(times[construct]);
            while (size-- > 0) vectors_.back().emplace_back();
        }
    }
    void push(std::mt19937& random, int iteration, account& times) {
        std::int64_t left = third(random);
        const timer time(times[push_back_many]);
        while (left-- > 0) {
            inner& one = pick(random);
            std::int64_t size = draw(random, 1, std::max(iteration, 1) * std::int64_t{100});
            while (size-- > 0) one.emplace_back();
        }
    }
    void pop(std::mt19937& random, account& times) {
        std::int64_t left = third(random);
        const timer time(times[pop_back_many]);
        while (left-- > 0) {
            inner& one = pick(random);
            std::int64_t size = draw(random, 0, static_cast<std::int64_t>(one.size()));
            while (size-- > 0) one.pop_back();
        }
    }
    void duplicate(std::mt19937& random, account& times) {
        std::int64_t left = draw(random, 1, 3);
        const timer time(times[copy]);
        while (left-- > 0) {
            inner one(pick(random));
            vectors_.push_back(std::move(one));
        }
    }
    void put(std::mt19937& random, int iteration, account& times) {
        std::int64_t left = third(random);
        const timer time(times[insert]);
        while (left-- > 0) {
            inner& one = pick(random);
            const std::int64_t place = draw(random, 0, static_cast<std::int64_t>(one.size()));
            const auto count = static_cast<std::size_t>(draw(random, 1, std::max(iteration, 1)));
            one.insert(one.begin() + place, count, T());
        }
    }
    void cut(std::mt19937& random, account& times) {
        std::int64_t left = third(random);
        const timer time(times[erase]);
        while (left-- > 0) {
            inner& one = pick(random);
            const auto size = static_cast<std::int64_t>(one.size());
            const std::int64_t from = draw(random, 0, size);
            const std::int64_t to = draw(random, 0, size);
            one.erase(one.begin() + std::min(from, to), one.begin() + std::max(from, to));
        }
    }

    outer vectors_;
};

template <class Peer, class... Ts>
metrics simulate(const parameters& point) {
    const int iterations = static_cast<int>(point.number("iterations"));
    const std::int64_t tests = point.number("tests");
    const double cpu = processor_time();
    account whole{};
    std::array<account, stretches> until{};    // whole, up to the end of each stretch of iterations; all tests together
    double payload = 0;
    std::uint64_t sum = 0;
    for (std::int64_t test = 0; test < tests; ++test) {
        std::mt19937 random(static_cast<std::mt19937::result_type>(12345512 + test));
        std::tuple<environment<Peer, Ts>...> all;
        account times{};
        std::size_t stretch = 0;
        for (int i = 0; i < iterations; ++i) {
            std::apply([&](auto&... each) { (each.act(random, i, times), ...); }, all);
            const std::size_t past = static_cast<std::size_t>(i + 1) * stretches / static_cast<std::size_t>(iterations);
            for (; stretch < past; ++stretch) {
                for (std::size_t which = 0; which < actions; ++which) until[stretch][which] += times[which];
            }
        }
        for (std::size_t which = 0; which < actions; ++which) whole[which] += times[which];
        std::apply(
            [&](auto&... each) {
                ((payload += static_cast<double>(each.elements() * sizeof(Ts))), ...);
                ((sum = sum * 31 + each.checksum()), ...);
            },
            all);
    }
    metrics result;
    double total = 0;
    metric total_until{"s", std::vector<double>(stretches)};
    for (std::size_t which = 0; which < actions; ++which) {
        result[names[which]] = {"s", {whole[which]}};
        total += whole[which];
        metric action_until{"s", {}};
        for (std::size_t stretch = 0; stretch < stretches; ++stretch) {
            action_until.values.push_back(until[stretch][which]);
            total_until.values[stretch] += until[stretch][which];
        }
        result[std::string(names[which]) + "_by_iteration"] = std::move(action_until);
    }
    result["time"] = {"s", {total}};
    result["time_by_iteration"] = std::move(total_until);
    result["loop_cpu"] = {"s", {processor_time() - cpu}};
    result["payload"] = {"B", {payload / static_cast<double>(tests)}};
    result["checksum"] = {"", {static_cast<double>(sum & ((std::uint64_t{1} << 53) - 1))}};
    return result;
}

using array = std::array<int, 10>;

struct run_simulation {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        const std::string& element = point.text("element");
        if (element == "int") return simulate<Peer, int>(point);
        if (element == "array<int,10>") return simulate<Peer, array>(point);
        if (element == "string") return simulate<Peer, std::string>(point);
        if (element == "long string") return simulate<Peer, long_string>(point);
        if (element == "TestType") return simulate<Peer, test_type>(point);
        if (element == "string+int+array<int,10>") return simulate<Peer, std::string, int, array>(point);
        throw std::invalid_argument("unknown element \"" + element + "\"");
    }
};

}    // namespace

std::vector<contender> simulation_contenders() { return contenders_of(general_vectors, run_simulation{}); }

parameters few_iterations(const parameters& from) {
    parameters result = from;
    result.set("iterations", std::int64_t{40});
    result.set("tests", std::int64_t{1});
    return result;
}

}    // namespace headroom::lab
