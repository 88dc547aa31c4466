// SPDX-License-Identifier: MIT
// Runs a program with the recorder before its allocator, and writes what it and its children do into a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headroom::profile {

struct recording {
    std::vector<std::string> command;
    std::string trace;           // where to
    std::string recorder;        // the preloaded library
    std::uint64_t sample = 0;    // mean number of bytes between samples; 0: everything
};

struct recorded {
    int status = 0;            // of the command, as waitpid() gives it
    unsigned processes = 0;    // that were recorded
    std::uint64_t trace_size = 0;
    std::vector<std::string> messages;    // what the user should know of how it went
    std::vector<std::string> failures;    // why the trace lacks what the recording should have written
};

// Throws std::runtime_error with a message for the user when the command cannot be run, or not be recorded.
recorded record_command(const recording& what);

}    // namespace headroom::profile
