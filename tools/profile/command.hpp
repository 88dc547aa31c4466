// SPDX-License-Identifier: MIT
// headroom profile: run a program and say which of its containers would gain; import, show, diff.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "analyse/totals.hpp"

namespace headroom::tools {

class profile_command {
public:
    // Adds its flags and subcommands to `profile`.
    explicit profile_command(CLI::App& profile);

    // Carries out the command. Returns the exit code of the recorded program; throws std::exception.
    int run();

private:
    int record();
    // Shows a trace in the forms that the flags name.
    void show(const profile::trace_totals& trace);

    CLI::App* import_;
    CLI::App* diff_;
    std::vector<std::string> command_;
    std::string trace_;
    std::string sample_;
    std::string malloc_;
    std::string page_;
    std::string sources_;
    std::string json_;
    std::string pprof_;
    std::string folded_;
    std::vector<std::string> files_;
    std::vector<std::string> both_;
};

}    // namespace headroom::tools
