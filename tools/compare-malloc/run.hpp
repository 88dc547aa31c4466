// SPDX-License-Identifier: MIT
// One run of the program that is compared.
#pragma once

#include <string>
#include <vector>

#include "preload/mallocs.hpp"

namespace headroom::tools {

struct program_call {
    std::vector<std::string> command;
    std::string input;           // the file that is its standard input
    bool show_output = false;    // else /dev/null takes what it prints
};

struct program_run {
    int status = 0;    // as waitpid() gives it
    double cpu = 0;    // s, user and system, of the program and of those that it started and waited for
    double wall = 0;
    double peak = 0;        // bytes resident, of the largest of these processes
    std::string without;    // why the library was not in what used most of the time; empty if it was, or was not looked for
};

// From now on SIGINT, SIGTERM and SIGHUP, where they are not ignored, end the program that runs, with all it started, and no longer this
// process.
void note_stop_signals();

// The signal that came, or 0.
[[nodiscard]] int stop_signal() noexcept;

// What a program is run over: a library preloaded before what this process has in LD_PRELOAD, or that alone, and a setting.
struct malloc_choice {
    std::string library;
    malloc_setting setting;
};

// Runs the program over that. `watch`: looks again and
// again which of its processes have the library. Throws std::runtime_error if it cannot be started, or stops to wait for the terminal.
[[nodiscard]] program_run run_program(const program_call& call, const malloc_choice& over, bool watch);

// Runs the program once more, until it has written a line to standard error, and returns that; empty if it writes none. Throws as
// run_program() does.
[[nodiscard]] std::string first_complaint(const program_call& call, const malloc_choice& over);

// "status 3", "signal 11 (Segmentation fault)"
[[nodiscard]] std::string ending(int status);

}    // namespace headroom::tools
