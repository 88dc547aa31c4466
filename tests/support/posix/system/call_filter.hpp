// SPDX-License-Identifier: MIT
// Filters of system calls in files: what a service's, a container's or a browser's filter allows, and what an older kernel lacks.
//
// A line says what happens at some calls: `allow`, `end` (the process, by SIGSYS) or the name of an error, then their names, of which those
// that this machine lacks are skipped, or one name and a condition on an argument: `2=4` (argument 2 is 4), `2>4`, `3|4` (has one of these
// bits), `3&4` (has no other bits). The first line that applies decides; `default` says what happens to all other calls.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace headroom_test {

class call_filter {
public:
    // Reads the file. Ends the program if a line makes no sense.
    explicit call_filter(const std::string& file) {
        std::ifstream lines(file);
        if (!lines) wrong(file, "cannot be read");
        std::string fallback;
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string action, call, condition;
            if (!(words >> action) || action[0] == '#') continue;
            if (action == "default") {
                words >> fallback;
                continue;
            }
            while (words >> call) {
                const int number = seccomp_syscall_resolve_name(call.c_str());
                const std::streampos next = words.tellg();
                const bool has_condition = words >> condition && condition.find_first_of("=>|&") == 1;
                if (!has_condition && next != std::streampos(-1)) {
                    words.clear();
                    words.seekg(next);
                }
                if (number >= 0) add(static_cast<unsigned>(number), has_condition ? condition : "", answer_of(action, file));
            }
        }
        step(BPF_RET | BPF_K, 0, 0, answer_of(fallback, file));
    }

    // Applies it to the calling thread and the threads and programs that it starts, for good. False if the system has no filters.
    [[nodiscard]] bool apply() {
        const sock_fprog filter{static_cast<unsigned short>(steps_.size()), steps_.data()};
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
    }

private:
    [[noreturn]] static void wrong(const std::string& file, const std::string& what) {
        std::fprintf(stderr, "%s: %s\n", file.c_str(), what.c_str());
        std::exit(2);
    }
    static unsigned answer_of(const std::string& action, const std::string& file) {
        if (action == "allow") return SECCOMP_RET_ALLOW;
        if (action == "end") return SECCOMP_RET_KILL_PROCESS;
        if (action == "EPERM") return SECCOMP_RET_ERRNO | EPERM;
        if (action == "EINVAL") return SECCOMP_RET_ERRNO | EINVAL;
        if (action == "ENOSYS") return SECCOMP_RET_ERRNO | ENOSYS;
        wrong(file, "unknown action \"" + action + "\"");
    }
    void step(unsigned code, unsigned yes, unsigned no, unsigned value) {
        steps_.push_back(
            {static_cast<unsigned short>(code), static_cast<unsigned char>(yes), static_cast<unsigned char>(no), value});
    }
    // Appends the steps for one call: if it is another, goes on behind them.
    void add(unsigned number, const std::string& condition, unsigned answer) {
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr));
        if (condition.empty()) {
            step(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, number);
        } else {
            const unsigned argument = static_cast<unsigned>(condition[0] - '0');
            const auto value = static_cast<unsigned>(std::strtoul(condition.c_str() + 2, nullptr, 0));
            step(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, number);
            step(BPF_LD | BPF_W | BPF_ABS, 0, 0,    // the lower half, on these processors the first
                 static_cast<unsigned>(offsetof(seccomp_data, args) + argument * sizeof(seccomp_data::args[0])));
            switch (condition[1]) {
                case '=': step(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value); break;
                case '>': step(BPF_JMP | BPF_JGT | BPF_K, 0, 1, value); break;
                case '|': step(BPF_JMP | BPF_JSET | BPF_K, 0, 1, value); break;
                default: step(BPF_JMP | BPF_JSET | BPF_K, 1, 0, ~value); break;
            }
        }
        step(BPF_RET | BPF_K, 0, 0, answer);
    }

    std::vector<sock_filter> steps_;
};

}    // namespace headroom_test
