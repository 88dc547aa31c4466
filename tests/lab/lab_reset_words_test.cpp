// SPDX-License-Identifier: MIT
// The search for shortest reset words, compared with an exhaustive search and proved bounds.
// Labels: lab
#include "experiments/reset-words/shortest_reset_word.hpp"

#include <gtest/gtest.h>

#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include <sstream>
#include <stdexcept>

namespace {

using headroom::lab::automaton;
using headroom::lab::cerny_automaton;
using headroom::lab::random_automaton;
using headroom::lab::reset_word_search;
using headroom::lab::shortest_reset_length_by_trying_all;

template <class T>
using std_vector = std::vector<T>;
template <class T>
using growing_vector = headroom::vector<T>;
template <class T>
using settled = headroom::settled_vector<T>;

template <template <class> class Vector>
void agrees_with_trying_all(const automaton& one) {
    const auto word = reset_word_search<Vector>(one).run();
    const auto length = shortest_reset_length_by_trying_all(one);
    ASSERT_EQ(word.has_value(), length.has_value());
    if (!word) return;
    EXPECT_EQ(word->size(), *length);
    EXPECT_TRUE(one.is_reset_by(*word));
}

TEST(lab_reset_words, random_automata_agree_with_trying_all_sets) {
    for (unsigned states = 1; states <= 12; ++states) {
        for (std::uint32_t seed = 1; seed <= 40; ++seed) agrees_with_trying_all<std_vector>(random_automaton(states, 2, seed));
    }
}

TEST(lab_reset_words, more_letters_and_fewer_too) {
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
        agrees_with_trying_all<std_vector>(random_automaton(7, 1, seed));
        agrees_with_trying_all<std_vector>(random_automaton(9, 4, seed));
    }
}

TEST(lab_reset_words, cerny_automata_reach_the_square) {
    for (unsigned states = 2; states <= 14; ++states) {
        const automaton one = cerny_automaton(states);
        const auto word = reset_word_search<std_vector>(one).run();
        ASSERT_TRUE(word.has_value()) << states;
        EXPECT_EQ(word->size(), (states - 1) * (states - 1)) << states;
        EXPECT_TRUE(one.is_reset_by(*word));
    }
}

TEST(lab_reset_words, the_vector_does_not_change_the_answer) {
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        const automaton one = random_automaton(33, 2, seed);
        const auto word = reset_word_search<std_vector>(one).run();
        EXPECT_EQ(reset_word_search<growing_vector>(one).run(), word);
        EXPECT_EQ(reset_word_search<settled>(one).run(), word);
    }
}

TEST(lab_reset_words, sets_of_exactly_one_word_and_one_more) {
    for (const unsigned states : {31U, 32U, 33U}) {
        const automaton one = random_automaton(states, 2, 3);
        const auto word = reset_word_search<std_vector>(one).run();
        ASSERT_TRUE(word.has_value());
        EXPECT_TRUE(one.is_reset_by(*word));
    }
}

TEST(lab_reset_words, a_permutation_has_none) {
    automaton turns(5, 1);
    for (unsigned state = 0; state < 5; ++state) turns.set(state, 0, (state + 1) % 5);
    EXPECT_FALSE(turns.is_synchronizing());
    EXPECT_FALSE(reset_word_search<std_vector>(turns).run().has_value());
}

TEST(lab_reset_words, one_state_is_reset_by_nothing) {
    const auto word = reset_word_search<std_vector>(automaton(1, 2)).run();
    ASSERT_TRUE(word.has_value());
    EXPECT_TRUE(word->empty());
}

TEST(lab_reset_words, an_automaton_is_read_as_it_is_written) {
    std::istringstream in("3 2\n1 2 0\n0 1 0\n");
    const automaton one = headroom::lab::read_automaton(in);
    EXPECT_EQ(one.states(), 3U);
    EXPECT_EQ(one.next(0, 0), 1U);
    EXPECT_EQ(one.next(2, 1), 0U);
    EXPECT_EQ(reset_word_search<std_vector>(one).run()->size(), 4U);    // Cerny's automaton of three states
}

TEST(lab_reset_words, bad_automata_are_refused) {
    for (const char* text : {"", "0 1", "2", "2 1 0", "2 1 0 2", "2 1 0 -1", "two 1 0 0"}) {
        std::istringstream in(text);
        EXPECT_THROW((void)headroom::lab::read_automaton(in), std::invalid_argument) << text;
    }
}

}    // namespace
