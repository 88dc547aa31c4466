// SPDX-License-Identifier: MIT
// Goes through a plan, one child process after the other, and writes down what each of them found.
#pragma once

#include <optional>
#include <string>

#include "engine/plan.hpp"

namespace headroom::lab {

struct run_options {
    std::string out;         // result file; appended to, and what it already holds is not run again
    std::string grid;        // "quick", "default" or "full"
    int rounds = 0;          // 0: as each configuration says; counts take no more than that
    bool figures = false;    // print each configuration's
    // Given: a measurement beside which other programs worked is repeated, up to three times, each after waiting until the machine
    // is quiet; the last one is kept. So many seconds the whole run may wait.
    std::optional<double> waiting = {};
    std::string resume_hint;    // the command that goes on after an interruption, for people
};

// Returns an exit code: 0; 1 when contenders disagreed or a child failed by itself; 128 + signal when told to stop.
// Throws std::system_error when the result file cannot be read or written.
[[nodiscard]] int run_plan(const catalogue& all, const std::vector<planned>& plan, const run_options& options);

}    // namespace headroom::lab
