// SPDX-License-Identifier: MIT
// Sets of states, many of them: stored one after the other, and found by inclusion.
//
// The vectors are the caller's choice; they are what is compared.
#pragma once

#include <bit>
#include <cstddef>

namespace headroom::lab {

inline constexpr unsigned bits_a_word = 32;
inline constexpr unsigned nothing = ~0U;

// A set is `words` words; state s is bit s % 32 of word s / 32.
[[nodiscard]] inline bool contains(const unsigned* set, unsigned state) {
    return (set[state / bits_a_word] >> (state % bits_a_word) & 1U) != 0;
}

[[nodiscard]] inline bool is_subset(const unsigned* inner, const unsigned* outer, std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) {
        if ((inner[i] & ~outer[i]) != 0) return false;
    }
    return true;
}

// Calls visit(state) for each state in the set.
template <class Visit>
void each_state(const unsigned* set, std::size_t words, Visit visit) {
    for (std::size_t i = 0; i < words; ++i) {
        for (unsigned rest = set[i]; rest != 0; rest &= rest - 1) {
            visit(static_cast<unsigned>(i) * bits_a_word + static_cast<unsigned>(std::countr_zero(rest)));
        }
    }
}

template <template <class> class Vector>
class set_store {
public:
    explicit set_store(std::size_t words) : words_(words) {}

    [[nodiscard]] std::size_t words() const { return words_; }
    [[nodiscard]] unsigned size() const { return count_; }
    [[nodiscard]] const unsigned* operator[](unsigned which) const { return all_.data() + which * words_; }

    // `set` lies outside this store. Returns its number.
    unsigned add(const unsigned* set) {
        for (std::size_t i = 0; i < words_; ++i) all_.push_back(set[i]);
        return count_++;
    }
    void clear() {
        all_.clear();
        count_ = 0;
    }

private:
    std::size_t words_;
    unsigned count_ = 0;
    Vector<unsigned> all_;
};

// A binary trie over the states' bits, that says whether a store holds a subset or a superset of a set. A branch that leads
// to one set only is not spelled out. Nodes are pairs of entries in one vector: 0 is nothing, an odd entry a set, an even one
// a node.
template <template <class> class Vector>
class set_trie {
public:
    explicit set_trie(const set_store<Vector>& sets) : sets_(sets) {
        children_.push_back(0);
        children_.push_back(0);
    }

    // Precondition: no equal set is in the trie.
    void insert(unsigned which) {
        const unsigned* const set = sets_[which];
        std::size_t node = 0;
        for (unsigned state = 0;; ++state) {
            const std::size_t place = node + (contains(set, state) ? 1 : 0);
            const unsigned entry = children_[place];
            if (entry == 0) {
                children_[place] = which << 1 | 1U;
                return;
            }
            if ((entry & 1U) != 0) {
                // One set ends here already: it moves one node down, and we go on beside it.
                const auto fresh = static_cast<unsigned>(children_.size());
                children_.push_back(0);
                children_.push_back(0);
                children_[fresh + (contains(sets_[entry >> 1], state + 1) ? 1U : 0U)] = entry;
                children_[place] = fresh;
            }
            node = children_[place];
        }
    }

    // The number of a stored subset (superset) of `set`, or `nothing`.
    [[nodiscard]] unsigned find_subset_of(const unsigned* set) const { return find<true>(0, 0, set); }
    [[nodiscard]] unsigned find_superset_of(const unsigned* set) const { return find<false>(0, 0, set); }

private:
    template <bool Subset>
    [[nodiscard]] unsigned find(std::size_t node, unsigned state, const unsigned* set) const {
        const bool in = contains(set, state);
        // A subset lacks what the set lacks; a superset has what it has. The other branch is open only in the other case.
        const unsigned sure = Subset ? 0U : 1U;
        const unsigned found = follow<Subset>(children_[node + sure], state, set);
        if (found != nothing || in != Subset) return found;
        return follow<Subset>(children_[node + (1U - sure)], state, set);
    }
    template <bool Subset>
    [[nodiscard]] unsigned follow(unsigned entry, unsigned state, const unsigned* set) const {
        if (entry == 0) return nothing;
        if ((entry & 1U) == 0) return find<Subset>(entry, state + 1, set);
        const unsigned which = entry >> 1;
        const bool fits = Subset ? is_subset(sets_[which], set, sets_.words()) : is_subset(set, sets_[which], sets_.words());
        return fits ? which : nothing;
    }

    const set_store<Vector>& sets_;
    Vector<unsigned> children_;    // node = its first entry's place; the root is at 0, which no entry names
};

}    // namespace headroom::lab
