// SPDX-License-Identifier: MIT
// The shortest reset word of an automaton, by searching from both ends.
//
// Forwards, from the set of all states, we follow the letters: after i steps we hold the sets that words of length i leave.
// Backwards, from the single states, we follow them in reverse: after j steps, the sets that words of length j bring to one
// state. A reset word of length i + j exists if and only if a set of the first kind lies within one of the second. Of the
// first kind only the least sets matter, of the second only the greatest; what a set met earlier makes needless is dropped.
// Each step goes to the side that has fewer sets to follow.
//
// Document: the program of "A fast vector with mremap", 4.8, after Kisielewicz, Kowalski and Szykula, "Computing the shortest
// reset words of synchronizing automata" (2015). Their program also changes to a depth-first search when memory runs short;
// this one does not.
//
// `Vector` is a template of vectors with the interface of std::vector's; all that grows during the search is kept in it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <vector>

#include "experiments/reset-words/automaton.hpp"
#include "experiments/reset-words/subsets.hpp"

namespace headroom::lab {

template <template <class> class Vector>
class reset_word_search {
public:
    explicit reset_word_search(const automaton& of)
        : of_(of), words_((of.states() + bits_a_word) / bits_a_word), forward_(words_), backward_(words_), next_(words_) {
        // One bit more than there are states, so that the trie may look one state past the last.
        inverse_.resize(std::size_t{of.letters()} * of.states() * words_, 0U);
        for (unsigned letter = 0; letter < of.letters(); ++letter) {
            for (unsigned state = 0; state < of.states(); ++state) {
                add_state(inverse_.data() + inverse_place(letter, of.next(state, letter)), state);
            }
        }
    }

    // Nothing when the automaton has no reset word.
    [[nodiscard]] std::optional<std::vector<unsigned>> run() {
        if (!of_.is_synchronizing()) return std::nullopt;
        scratch_.resize(words_, 0U);
        for (unsigned state = 0; state < of_.states(); ++state) add_state(scratch_.data(), state);
        forward_.add(scratch_.data(), {nothing, 0});
        for (unsigned state = 0; state < of_.states(); ++state) {
            std::fill(scratch_.begin(), scratch_.end(), 0U);
            add_state(scratch_.data(), state);
            backward_.add(scratch_.data(), {nothing, 0});
        }
        if (of_.states() == 1) return std::vector<unsigned>{};
        while (true) {
            const bool ahead = forward_.frontier() <= backward_.frontier();
            if (ahead ? step<true>() : step<false>()) return word();
        }
    }

    // Sets kept on both sides: the work that was done, the same for every Vector.
    [[nodiscard]] std::size_t sets() const { return std::size_t{forward_.sets.size()} + backward_.sets.size(); }

private:
    // How a set was reached: from which set, by which letter.
    struct origin {
        unsigned from;
        unsigned letter;
    };

    struct side {
        explicit side(std::size_t words) : sets(words), trie(sets) {}
        side(const side&) = delete;
        side& operator=(const side&) = delete;
        unsigned add(const unsigned* set, origin how) {
            const unsigned which = sets.add(set);
            origins.push_back(how);
            trie.insert(which);
            return which;
        }
        [[nodiscard]] unsigned frontier() const { return sets.size() - frontier_begin; }

        set_store<Vector> sets;
        Vector<origin> origins;
        set_trie<Vector> trie;
        unsigned frontier_begin = 0;    // the sets of the last step
    };

    [[nodiscard]] std::size_t inverse_place(unsigned letter, unsigned state) const {
        return (std::size_t{letter} * of_.states() + state) * words_;
    }
    static void add_state(unsigned* set, unsigned state) { set[state / bits_a_word] |= 1U << (state % bits_a_word); }

    // Where the letter takes the set, or what it takes into the set.
    template <bool Forward>
    void follow(const unsigned* set, unsigned letter) {
        std::fill(scratch_.begin(), scratch_.end(), 0U);
        unsigned* const result = scratch_.data();
        each_state(set, words_, [&](unsigned state) {
            if constexpr (Forward) {
                add_state(result, of_.next(state, letter));
            } else {
                const unsigned* const from = inverse_.data() + inverse_place(letter, state);
                for (std::size_t i = 0; i < words_; ++i) result[i] |= from[i];
            }
        });
    }

    // One letter more on one side. True when both sides have met: `meeting_` says where.
    template <bool Forward>
    bool step() {
        side& here = Forward ? forward_ : backward_;
        const side& there = Forward ? backward_ : forward_;
        next_.clear();
        next_origins_.clear();
        by_size_.clear();
        for (unsigned which = here.frontier_begin; which < here.sets.size(); ++which) {
            for (unsigned letter = 0; letter < of_.letters(); ++letter) {
                follow<Forward>(here.sets[which], letter);
                unsigned size = 0;
                for (std::size_t i = 0; i < words_; ++i) size += static_cast<unsigned>(std::popcount(scratch_[i]));
                if (size == 0) continue;    // nothing leads into the set
                next_.add(scratch_.data());
                next_origins_.push_back({which, letter});
                by_size_.push_back({size, static_cast<unsigned>(by_size_.size())});
            }
        }
        // The best first, so that what they make needless never enters: the least forwards, the greatest backwards.
        std::sort(by_size_.begin(), by_size_.end(), [](const sized& a, const sized& b) {
            if (a.size != b.size) return Forward ? a.size < b.size : a.size > b.size;
            return a.which < b.which;
        });
        here.frontier_begin = here.sets.size();
        for (const sized& one : by_size_) {
            const unsigned* const set = next_[one.which];
            if ((Forward ? here.trie.find_subset_of(set) : here.trie.find_superset_of(set)) != nothing) continue;
            const unsigned other = Forward ? there.trie.find_superset_of(set) : there.trie.find_subset_of(set);
            const unsigned mine = here.add(set, next_origins_[one.which]);
            if (other != nothing) {
                meeting_ = Forward ? origin{mine, other} : origin{other, mine};
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] std::vector<unsigned> word() const {
        std::vector<unsigned> result;
        for (unsigned at = meeting_.from; forward_.origins[at].from != nothing; at = forward_.origins[at].from) {
            result.push_back(forward_.origins[at].letter);
        }
        std::reverse(result.begin(), result.end());
        for (unsigned at = meeting_.letter; backward_.origins[at].from != nothing; at = backward_.origins[at].from) {
            result.push_back(backward_.origins[at].letter);
        }
        return result;
    }

    struct sized {
        unsigned size;
        unsigned which;
    };

    const automaton& of_;
    std::size_t words_;
    Vector<unsigned> inverse_;    // for each letter and state, the set that the letter takes there
    side forward_;
    side backward_;
    set_store<Vector> next_;    // the sets of the step at hand, before the needless are dropped
    Vector<origin> next_origins_;
    Vector<sized> by_size_;
    Vector<unsigned> scratch_;
    origin meeting_{nothing, nothing};    // the sets where the sides met: forwards, backwards
};

// Finds the length by trying all sets of states: for automata of up to 20 states.
[[nodiscard]] inline std::optional<std::size_t> shortest_reset_length_by_trying_all(const automaton& of) {
    const unsigned all = (1U << of.states()) - 1;
    std::vector<bool> seen(std::size_t{1} << of.states());
    std::vector<unsigned> level{all};
    seen[all] = true;
    for (std::size_t length = 0; !level.empty(); ++length) {
        std::vector<unsigned> next;
        for (const unsigned set : level) {
            if (std::has_single_bit(set)) return length;
            for (unsigned letter = 0; letter < of.letters(); ++letter) {
                unsigned image = 0;
                for (unsigned state = 0; state < of.states(); ++state) {
                    if ((set >> state & 1U) != 0) image |= 1U << of.next(state, letter);
                }
                if (!seen[image]) {
                    seen[image] = true;
                    next.push_back(image);
                }
            }
        }
        level = std::move(next);
    }
    return std::nullopt;
}

}    // namespace headroom::lab
