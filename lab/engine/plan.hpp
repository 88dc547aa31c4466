// SPDX-License-Identifier: MIT
// The plan of a run: the grids of all programs, filtered and cut into shards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/experiment.hpp"

namespace headroom::lab {

// A contender as its program announces it.
struct announced_contender {
    std::string id;
    std::string version;
    std::string absent;
};

struct announced_experiment {
    std::string id;
    std::string question;
    std::string source;
    std::string headline;    // the metric to show while it runs
    std::vector<announced_contender> contenders;
};

// One configuration with the contenders that go through it in turn.
struct planned {
    std::string program;    // the executable that measures
    std::string level;
    std::string experiment;
    lab::parameters parameters;
    lab::parameters check;
    bool checked = false;
    int rounds = 1;
    bool counted = false;      // more rounds than these say nothing
    double seconds = 0;        // expected for one child
    double memory = 0;         // bytes
    double limited = 0;        // bytes it may have, with swap behind them; 0: as it likes
    double warmed = 0;         // bytes touched by another process before each child
    std::string huge_pages;    // the machine's setting; empty: as it is
    std::vector<std::string> contenders;

    // Expected seconds for one child, with the process that touches memory before it. A gigabyte takes 0.13 s to touch, and a second
    // where a virtual machine's host has to give it back first.
    [[nodiscard]] double expected() const { return seconds + warmed * 0.6e-9; }

    // Expected for all its children.
    [[nodiscard]] double cost() const {
        return expected() * static_cast<double>(contenders.size()) * static_cast<double>(rounds);
    }

    // How many rounds, when a run asks for `wanted`; 0: it does not ask.
    [[nodiscard]] int rounds_of(int wanted) const {
        if (wanted <= 0) return rounds;
        return counted ? (std::min)(wanted, rounds) : wanted;
    }
};

struct catalogue {
    std::vector<announced_experiment> experiments;    // each once, whatever the levels
    std::vector<planned> plan;
    std::map<std::string, std::string> flags;        // by level
    std::map<std::string, std::string> libraries;    // version by contender
};

// Asks each program what it can run. Throws std::runtime_error when one does not answer.
[[nodiscard]] catalogue ask(const std::vector<std::string>& programs, const std::string& grid);

// Keeps what `filter` names: a comma-separated list of experiment ids, or a regular expression (ECMAScript), searched
// for in "experiment contender name=value name=value". Empty: everything. Throws std::invalid_argument if nothing
// matches or the expression is malformed.
void keep_matching(catalogue& all, const std::string& filter);

// Has the first contender of every timed configuration run a second time, under its name with "#2": how far the two lie
// apart is what this machine, just now, cannot tell from a difference.
void pair_first(catalogue& all);

// "A#2" → "A": the contender that runs under the name.
[[nodiscard]] std::string unpaired(const std::string& contender);

// Keeps the part `index` (from 1) of `count`. Configurations are not torn apart, so that contenders are compared on one
// machine; parts take about equally long; every configuration is in exactly one. Depends on nothing but the plan.
[[nodiscard]] std::vector<planned> shard(const std::vector<planned>& plan, std::size_t index, std::size_t count);

}    // namespace headroom::lab
