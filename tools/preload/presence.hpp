// SPDX-License-Identifier: MIT
// Which processes of a command that runs use a preloaded library, and which do their work without it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace headroom::tools {

// A program that a process ran without the library.
struct process_without {
    pid_t id = 0;
    std::string program;    // its file
    double seconds = 0;     // of processor time, up to the last look
    std::string why;        // a sentence that begins with the program, and says what to do, without its last full stop
};

class library_presence {
public:
    // `root`: the process that a command was started as. `library`: the file that is preloaded into it. `name`: what messages call it.
    library_presence(pid_t root, std::string library, std::string name)
        : root_(root), library_(std::move(library)), name_(std::move(name)) {}

    // Looks at the root and at all that it started, as far as they are there.
    void look();
    // Returns the programs that were without the library at the last look at them, those that used most time first.
    [[nodiscard]] std::vector<process_without> without() const;

private:
    struct process {
        std::uint64_t began = 0;                  // ticks of the system: with the number, which process it is
        double used = 0;                          // seconds, at the last look
        std::vector<process_without> programs;    // that it ran, the present one last
        std::string barred;                       // why the library is of no use to the present one; empty if nothing is known
    };
    // False if there is no such process.
    bool look_at(pid_t id);
    [[nodiscard]] std::string why_barred(pid_t id, const std::string& program) const;
    [[nodiscard]] std::string why_not_loaded(pid_t id, const std::string& program) const;

    pid_t root_;
    std::string library_;
    std::string name_;
    std::map<pid_t, process> seen_;
};

}    // namespace headroom::tools
