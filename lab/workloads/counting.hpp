// SPDX-License-Identifier: MIT
// Instructions that a part of this program executes, counted from outside: the program runs itself again under valgrind's
// callgrind. Instructions in the kernel are not counted. Not run where valgrind is missing.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "engine/experiment.hpp"
#include "workloads/commands.hpp"

namespace headroom::lab {

// Instructions of a whole run of this program, its start and end included: of that experiment, by that contender, with
// these parameters (an object in JSON). The difference of two runs is what was done more. Throws cannot_run.
[[nodiscard]] inline double count_instructions(const std::string& experiment, const std::string& contender,
                                               const std::string& parameters) {
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) throw cannot_run("this program cannot find itself to be counted");
    const std::string text =
        output_of("valgrind --tool=callgrind --callgrind-out-file=/dev/null '" + self.string() + "' run --experiment " +
                  experiment + " --contender '" + contender + "' --parameters '" + parameters + "' 2>&1");
    const std::string mark = "Collected : ";
    const std::size_t found = text.find(mark);
    if (found == std::string::npos || text.find("\"outcome\":\"ok\"") == std::string::npos) {
        throw cannot_run(text.find("not found") != std::string::npos ? "valgrind is not installed"
                                                                     : "callgrind gave no count: " + text.substr(0, 300));
    }
    return std::strtod(text.c_str() + found + mark.size(), nullptr);
}

}    // namespace headroom::lab
