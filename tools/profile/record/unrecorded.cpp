// SPDX-License-Identifier: MIT
#include "unrecorded.hpp"

#include <algorithm>
#include <cstdio>

#include "preload/program.hpp"

namespace headroom::profile {

std::vector<std::string> unrecorded_work(const tools::library_presence& presence, double all_seconds,
                                         const std::set<std::string>& known) {
    constexpr double least_seconds = 0.02;    // two ticks of the system's clock: less may be the loader's
    constexpr double least_share = 0.05;
    std::vector<std::string> found;
    for (const tools::process_without& one : presence.without()) {
        const bool said = std::any_of(known.begin(), known.end(),
                                      [&](const std::string& reason) { return reason.starts_with(one.program + " "); });
        if (said || one.seconds < least_seconds || one.seconds < least_share * all_seconds) continue;
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, "%.2f", one.seconds);
        found.push_back("process " + std::to_string(one.id) + " used " + seconds +
                        " s of processor time and was not recorded: " + one.why);
    }
    return found;
}

std::string why_nothing(const std::string& program, const std::vector<std::string>& unrecorded) {
    constexpr int most_scripts = 4;    // as the kernel follows them
    std::string file = program;
    for (int depth = 0; depth <= most_scripts && !file.empty(); ++depth) {
        if (const std::string why = sanitizer_words(file); !why.empty()) return why;
        if (const std::string why = why_not(file); !why.empty()) return why;
        file = interpreter_of(file);
    }
    if (!unrecorded.empty()) return unrecorded.front();
    return "Where the recorder does not say why, it was not loaded: does the program clear its environment?";
}

}    // namespace headroom::profile
