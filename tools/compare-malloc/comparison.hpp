// SPDX-License-Identifier: MIT
// The rounds of a comparison, and what they come to.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run.hpp"

namespace headroom::tools {

struct compared_malloc {
    std::string name;
    malloc_choice over;         // without a library: the one that the program runs over anyway, mostly the C library's
    std::string refused;        // why it was not measured; empty if it was
    bool was_unused = false;    // it was refused because it was not in what used the time
    std::vector<program_run> runs;
};

// Of one measure over one malloc, against the program as it is.
struct compared_figure {
    double median = 0;
    double ratio = 1;
    double noise = 0;    // what of the ratio may be chance, as a part of it

    [[nodiscard]] bool differs() const;
};

class comparison {
public:
    explicit comparison(program_call call) : call_(std::move(call)) {}

    // True of the program as it is.
    [[nodiscard]] bool is_base(const compared_malloc& one) const { return &one == &mallocs.front(); }

    // The first is the program as it is, and runs twice a round: how far its two runs lie apart is what chance does here.
    std::vector<compared_malloc> mallocs;
    std::string note;       // what keeps every malloc out of the program; empty: nothing
    std::string guess;      // becomes the note if a run ends otherwise over another malloc; empty: nothing is known
    int rounds_done = 0;    // whole ones

    // True if the program ran over another malloc.
    [[nodiscard]] bool compared() const;
    // Calls `progress` before each run with its number, how many there are, and the malloc. Ends early when a stop signal comes. A
    // malloc over which the program ends in another way is refused from there on. Throws std::runtime_error if the program cannot be
    // started.
    void run(int rounds, const std::function<void(std::size_t, std::size_t, const std::string&)>& progress);

    using measure = double program_run::*;
    // Nothing if there is no run of it.
    [[nodiscard]] std::optional<compared_figure> figure(const compared_malloc& of, measure what) const;
    // Of each run over it, in both series of the program as it is.
    [[nodiscard]] std::vector<double> values(const compared_malloc& of, measure what) const;
    // How far two equal things lie apart by this measure, as a part of it; infinite for fewer than three rounds.
    [[nodiscard]] double noise(measure what) const;
    // The one that takes least by this measure, of those that take less than the program as it is by more than noise; null if there is
    // none.
    [[nodiscard]] const compared_malloc* best(measure what) const;
    [[nodiscard]] const program_call& call() const { return call_; }
    // How the program ended as it is, in the first run; nothing before it.
    [[nodiscard]] std::optional<int> status() const;

private:
    program_call call_;
    std::vector<program_run> again_;    // the second runs of the program as it is
};

}    // namespace headroom::tools
