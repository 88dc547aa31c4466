// SPDX-License-Identifier: MIT
// One child process, from start to end: its output, what it used, and how it ended.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headroom::lab {

struct child_request {
    std::string program;
    std::vector<std::string> arguments = {};
    std::vector<std::pair<std::string, std::string>> environment = {};    // besides this process's own, or instead of it
    double timeout = 60;                                                  // s; then it is killed
    std::uint64_t memory_limit = 0;      // bytes of data it may map writable (RLIMIT_DATA); 0: as many as it likes
    std::string entrance = {};           // the file that takes it into a control group (see short_memory.hpp); empty: it stays
    std::uint64_t keep_available = 0;    // bytes: it is killed when the machine has less memory left than this; 0: not watched
};

struct child_result {
    enum class end { exited, signalled, timed_out, starved, stopped, not_started };
    end how = end::not_started;
    int code = 0;    // exit code, signal, or errno of the start that failed
    std::string output;
    std::string errors;
    double peak_resident = 0;    // bytes, by the system's accounts; never under what this process itself used
    double cpu_time = 0;         // s, with all its own children
    double wall_time = 0;        // s
    double page_faults = 0;      // served without reading a disk
};

// Starts it, waits for it, and kills it and all that it started when its time is up, when memory runs short, or when this
// process receives SIGINT or SIGTERM. It dies with this process where the system can arrange that, is the first to go when memory runs
// out, and reads nothing from the terminal.
[[nodiscard]] child_result run_child(const child_request& request);

}    // namespace headroom::lab
