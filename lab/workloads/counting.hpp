// Instructions that a part of this program executes, counted from outside: the program runs itself again under valgrind's
// callgrind. Instructions in the kernel are not counted. Not run where valgrind is missing.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "engine/experiment.hpp"

namespace headroom::lab {

[[nodiscard]] inline std::string output_of(const std::string& command) {
    std::string text;
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return text;
    char part[4096];
    while (const std::size_t got = std::fread(part, 1, sizeof part, pipe)) text.append(part, got);
    pclose(pipe);
    return text;
}

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
