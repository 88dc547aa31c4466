// SPDX-License-Identifier: MIT
// headroom-reset-words: the shortest word that takes every state of an automaton to one and the same.
//
//   headroom-reset-words FILE                       reads an automaton ("-": from standard input)
//   headroom-reset-words --random STATES [--letters K] [--seed S]
//   headroom-reset-words --cerny STATES
//     --vector std|headroom|settled                 which vectors it works with; the answer is the same
//     --check                                       compares with a search through all sets (up to 20 states)
//
// Prints the length and the word, letters as numbers. Exit codes: 0 found; 1 there is none, or a check failed; 2 misused.
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include "experiments/reset-words/shortest_reset_word.hpp"

namespace {

using headroom::lab::automaton;

template <class T>
using std_vector = std::vector<T>;
template <class T>
using growing_vector = headroom::vector<T>;
template <class T>
using settled = headroom::settled_vector<T>;

unsigned number(const std::string& text, unsigned least, unsigned most) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
        throw std::invalid_argument("\"" + text + "\" is no number from " + std::to_string(least) + " to " +
                                    std::to_string(most));
    }
    return value;
}

struct wish {
    std::string file;
    unsigned random = 0;
    unsigned cerny = 0;
    unsigned letters = 2;
    unsigned seed = 1;
    std::string vector = "headroom";
    bool check = false;
};

wish read_wish(int argc, char** argv) {
    wish result;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto value = [&]() -> std::string {
            if (++i == argc) throw std::invalid_argument(word + " wants a value");
            return argv[i];
        };
        if (word == "--random") {
            result.random = number(value(), 1, 4096);
        } else if (word == "--cerny") {
            result.cerny = number(value(), 1, 4096);
        } else if (word == "--letters") {
            result.letters = number(value(), 1, 256);
        } else if (word == "--seed") {
            result.seed = number(value(), 0, ~0U);
        } else if (word == "--vector") {
            result.vector = value();
        } else if (word == "--check") {
            result.check = true;
        } else if (word != "-" && word.rfind('-', 0) == 0) {
            throw std::invalid_argument("unknown: " + word);
        } else {
            result.file = word;
        }
    }
    if ((result.random != 0) + (result.cerny != 0) + !result.file.empty() != 1) {
        throw std::invalid_argument("wanted: one of FILE, --random STATES, --cerny STATES");
    }
    return result;
}

automaton make(const wish& of) {
    if (of.random != 0) return headroom::lab::random_automaton(of.random, of.letters, of.seed);
    if (of.cerny != 0) return headroom::lab::cerny_automaton(of.cerny);
    if (of.file == "-") return headroom::lab::read_automaton(std::cin);
    std::ifstream in(of.file);
    if (!in) throw std::invalid_argument(of.file + ": " + std::strerror(errno));
    return headroom::lab::read_automaton(in);
}

std::optional<std::vector<unsigned>> search(const automaton& in, const std::string& vector) {
    if (vector == "std") return headroom::lab::reset_word_search<std_vector>(in).run();
    if (vector == "headroom") return headroom::lab::reset_word_search<growing_vector>(in).run();
    if (vector == "settled") return headroom::lab::reset_word_search<settled>(in).run();
    throw std::invalid_argument("unknown vector \"" + vector + "\"");
}

}    // namespace

int main(int argc, char** argv) {
    try {
        const wish of = read_wish(argc, argv);
        const automaton in = make(of);
        const std::optional<std::vector<unsigned>> word = search(in, of.vector);
        if (word && !in.is_reset_by(*word)) {
            std::fprintf(stderr, "the word that was found is not a reset word\n");
            return 1;
        }
        if (of.check) {
            if (in.states() > 20) throw std::invalid_argument("--check is for automata of up to 20 states");
            const auto length = headroom::lab::shortest_reset_length_by_trying_all(in);
            if (length.has_value() != word.has_value() || (length && *length != word->size())) {
                std::fprintf(stderr, "a search through all sets says otherwise\n");
                return 1;
            }
        }
        if (!word) {
            std::printf("no reset word\n");
            return 1;
        }
        std::printf("%zu\n", word->size());
        for (std::size_t i = 0; i < word->size(); ++i) std::printf("%s%u", i == 0 ? "" : " ", (*word)[i]);
        std::printf("\n");
        return 0;
    } catch (const std::invalid_argument& reason) {
        std::fprintf(stderr, "headroom-reset-words: %s\n", reason.what());
        return 2;
    } catch (const std::exception& reason) {
        std::fprintf(stderr, "headroom-reset-words: %s\n", reason.what());
        return 1;
    }
}
