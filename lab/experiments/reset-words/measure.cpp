// SPDX-License-Identifier: MIT
// Question: what does a change of vector gain a real program?
//
// Source: "A fast vector with mremap", 4.8.
// Method of the document: replaced all vectors in a program that computes shortest reset words, and ran it on random binary
//   automata of growing size (figure 4.33); for the largest, rvector was 21% faster than std::vector, 6% than fbvector.
// Method here, and why: that program is not public; the one beside this file is our own after the same paper, with the
//   vector as its template parameter. Random binary automata, by seed, as many in a row as `automata` says; "time" is the
//   whole search of all of them. Those that have no reset word are recognised at once and count too. The search, and how
//   much of it, does not depend on the vector: "sets" and the checksum (lengths and letters of all words) are the same.
// Disadvantages: none by design. Most time goes into comparing sets; a vector can only gain what growing costs.
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/experiment.hpp"
#include "experiments/reset-words/shortest_reset_word.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"
#include "peers/vectors.hpp"

namespace headroom::lab { namespace {

struct run_reset_words {
    template <class Peer>
    metrics operator()(const parameters& point) const {
        const auto states = static_cast<unsigned>(point.number("states"));
        const auto automata = static_cast<std::uint32_t>(point.number("automata"));
        double seconds = 0;
        double sets = 0;
        std::uint64_t sum = 0;
        const double cpu = processor_time();
        for (std::uint32_t seed = 1; seed <= automata; ++seed) {
            const automaton one = random_automaton(states, 2, seed);
            const stopwatch::time_point begin = stopwatch::now();
            std::optional<std::vector<unsigned>> word;
            {
                reset_word_search<Peer::template container> search(one);
                word = search.run();
                sets += static_cast<double>(search.sets());
            }
            seconds += seconds_between(begin, stopwatch::now());
            sum = sum * 31 + 1;
            if (!word) continue;
            if (!one.is_reset_by(*word)) throw std::logic_error("the word that was found is not a reset word");
            sum = sum * 31 + word->size();
        }
        return {{"time", {"s", {seconds}}},
                {"loop_cpu", {"s", {processor_time() - cpu}}},
                {"sets", {"", {sets}}},
                {"checksum", {"", {static_cast<double>(sum & ((std::uint64_t{1} << 53) - 1))}}}};
    }
};

std::vector<configuration> grid(grid_size size, const std::string&) {
    std::vector<configuration> result;
    struct setting {
        std::int64_t states;
        std::int64_t automata;
        double seconds;
        double memory;
    };
    std::vector<setting> settings{{20, 50, 0.01, 16e6}, {40, 20, 0.03, 32e6}, {60, 5, 0.03, 64e6}};
    for (const setting& one : settings) {
        configuration point;
        point.parameters = {{"states", one.states}, {"automata", one.automata}};
        point.seconds = one.seconds;
        point.memory = one.memory;
        point.rounds = size == grid_size::quick ? 2 : 3;
        result.push_back(std::move(point));
    }
    return result;
}

experiment reset_words() {
    return {.id = "reset-words",
            .question = "What does a change of vector gain a real program?",
            .source = "A fast vector with mremap",
            .contenders = contenders_of(general_vectors, run_reset_words{}),
            .grid = grid,
            .check = [](const parameters&) { return parameters{{"states", std::int64_t{12}}, {"automata", std::int64_t{20}}}; },
            .place = 120};
}

const registered_experiment registered(reset_words);

}    // namespace
}    // namespace headroom::lab
