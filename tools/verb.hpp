// SPDX-License-Identifier: MIT
// A verb of the headroom command ("lab" in `headroom lab run`), and its registration.
//
// A verb is a folder. tools/NAME/command.cpp defines one registered_verb, and nothing outside the folder names it:
//
//     std::function<int()> set_up(CLI::App& app) {          // app is the subcommand: add flags and subcommands to it
//         auto pid = std::make_shared<int>(0);
//         app.add_option("pid", *pid, "The process")->required();
//         return [pid] { return show(*pid); };              // runs once the command line has been read
//     }
//     const registered_verb maps("maps", "What a process has reserved, and how much of it is in memory", set_up);
//
// All .cpp files of the folder (not of its subfolders) are compiled into the command. A folder whose verb needs more than
// CLI11 and Headroom has a CMakeLists.txt too; tools/CMakeLists.txt says what stands in it.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace headroom::tools {

class registered_verb {
public:
    // Adds the verb's flags to its subcommand, and returns the function that does the work. That returns the exit code (0 done;
    // 1 done, but a measurement or an input was wrong; 2 could not be done), or throws a std::exception whose message is shown
    // (exit code 2). The variables that the flags are stored in must live as long as the returned function.
    using set_up_function = std::function<int()>(CLI::App&);

    // For objects at namespace scope, before main() runs. The strings are kept as pointers.
    registered_verb(const char* its_name, const char* its_summary, set_up_function* its_set_up) noexcept
        : name(its_name), summary(its_summary), set_up(its_set_up), next(first) {
        first = this;
    }
    registered_verb(const registered_verb&) = delete;
    registered_verb& operator=(const registered_verb&) = delete;

    const char* const name;
    const char* const summary;
    set_up_function* const set_up;
    const registered_verb* const next;

    // List of all linked verbs, in no particular order. Constant-initialised, so that it exists before any of them registers.
    static constinit inline const registered_verb* first = nullptr;
};

// A verb whose folder is there, but which this build lacks.
struct missing_verb {
    const char* name;
    const char* reason;
};
// Ends with a missing_verb without a name. Written by CMake.
extern const missing_verb missing_verbs[];

}    // namespace headroom::tools
