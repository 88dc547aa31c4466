// SPDX-License-Identifier: MIT
// Runs a command line through the shell.
#pragma once

#include <sys/wait.h>

#include <cstddef>
#include <cstdio>
#include <string>

namespace headroom::testing_support {

struct answer {
    int code = -1;       // exit status, or 128 + the signal that ended it; -1: not started
    std::string text;    // stdout and stderr
};

inline answer shell(const std::string& line) {
    answer result;
    std::FILE* const pipe = popen(("{ " + line + "\n} 2>&1 </dev/null").c_str(), "r");
    if (pipe == nullptr) return result;
    char part[4096];
    while (const std::size_t got = std::fread(part, 1, sizeof part, pipe)) result.text.append(part, got);
    const int status = pclose(pipe);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

}    // namespace headroom::testing_support
