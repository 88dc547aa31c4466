// SPDX-License-Identifier: MIT
// A deterministic automaton without start or end: states, letters, and where each letter takes each state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace headroom::lab {

class automaton {
public:
    // All letters leave all states where they are.
    automaton(unsigned states, unsigned letters) : states_(states), letters_(letters), next_(std::size_t{states} * letters) {
        if (states == 0 || letters == 0) throw std::invalid_argument("an automaton has at least one state and one letter");
        for (unsigned letter = 0; letter < letters; ++letter) {
            for (unsigned state = 0; state < states; ++state) set(state, letter, state);
        }
    }

    [[nodiscard]] unsigned states() const { return states_; }
    [[nodiscard]] unsigned letters() const { return letters_; }
    [[nodiscard]] unsigned next(unsigned state, unsigned letter) const { return next_[std::size_t{letter} * states_ + state]; }
    void set(unsigned state, unsigned letter, unsigned target) { next_[std::size_t{letter} * states_ + state] = target; }

    // True if `word` takes all states to one.
    [[nodiscard]] bool is_reset_by(const std::vector<unsigned>& word) const {
        std::optional<unsigned> end;
        for (unsigned start = 0; start < states_; ++start) {
            unsigned state = start;
            for (const unsigned letter : word) state = next(state, letter);
            if (end && *end != state) return false;
            end = state;
        }
        return true;
    }

    // True if a reset word exists: if every pair of states can be brought together. O(states^2 * letters).
    [[nodiscard]] bool is_synchronizing() const {
        const std::size_t n = states_;
        std::vector<bool> meets(n * n);
        std::vector<std::vector<std::pair<unsigned, unsigned>>> before(n * n);    // pairs that a letter takes to this pair
        std::vector<std::size_t> open;
        const auto place = [n](unsigned a, unsigned b) { return a < b ? a * n + b : b * n + a; };
        for (unsigned a = 0; a < n; ++a) {
            for (unsigned b = a + 1; b < n; ++b) {
                for (unsigned letter = 0; letter < letters_; ++letter) {
                    const unsigned x = next(a, letter);
                    const unsigned y = next(b, letter);
                    if (x != y) {
                        before[place(x, y)].emplace_back(a, b);
                    } else if (!meets[place(a, b)]) {
                        meets[place(a, b)] = true;
                        open.push_back(place(a, b));
                    }
                }
            }
        }
        std::size_t met = open.size();
        while (!open.empty()) {
            const std::size_t pair = open.back();
            open.pop_back();
            for (const auto& [a, b] : before[pair]) {
                if (meets[place(a, b)]) continue;
                meets[place(a, b)] = true;
                ++met;
                open.push_back(place(a, b));
            }
        }
        return met == n * (n - 1) / 2;
    }

private:
    unsigned states_;
    unsigned letters_;
    std::vector<unsigned> next_;
};

// Draws each transition uniformly at random. The automaton depends on the seed alone, on every machine.
[[nodiscard]] inline automaton random_automaton(unsigned states, unsigned letters, std::uint32_t seed) {
    automaton result(states, letters);
    std::mt19937 random(seed);
    for (unsigned letter = 0; letter < letters; ++letter) {
        // The generator's numbers are the standard's; distributions are each library's own, so none is used. The remainder
        // favours the first states by less than one in ten million.
        for (unsigned state = 0; state < states; ++state) result.set(state, letter, static_cast<unsigned>(random() % states));
    }
    return result;
}

// The automaton of Cerny: its shortest reset word is (states - 1)^2 long, the longest that is known at all.
[[nodiscard]] inline automaton cerny_automaton(unsigned states) {
    automaton result(states, 2);
    for (unsigned state = 0; state < states; ++state) result.set(state, 0, (state + 1) % states);
    result.set(states - 1, 1, 0);
    return result;
}

// "states letters", then for each letter where it takes states 0, 1, ... Throws std::invalid_argument.
[[nodiscard]] inline automaton read_automaton(std::istream& in) {
    unsigned states = 0;
    unsigned letters = 0;
    if (!(in >> states >> letters) || states == 0 || letters == 0 || states > 4096 || letters > 256) {
        throw std::invalid_argument("an automaton begins with its numbers of states (to 4096) and letters (to 256)");
    }
    automaton result(states, letters);
    for (unsigned letter = 0; letter < letters; ++letter) {
        for (unsigned state = 0; state < states; ++state) {
            unsigned target = 0;
            if (!(in >> target) || target >= states) {
                throw std::invalid_argument("letter " + std::to_string(letter) + " takes state " + std::to_string(state) +
                                            " nowhere, or to no state");
            }
            result.set(state, letter, target);
        }
    }
    return result;
}

}    // namespace headroom::lab
