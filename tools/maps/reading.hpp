// SPDX-License-Identifier: MIT
// One look at a process: its ranges, and how much of them is in memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "process/process.hpp"
#include "process/tables.hpp"

namespace headroom::tools::maps {

enum class kind { guarded, open, file };
enum class protection { none, read_only, read_write };

struct amounts {
    std::uint64_t reserved = 0;    // all in bytes
    std::uint64_t committed = 0;
    std::uint64_t resident = 0;
    std::uint64_t swapped = 0;
    std::uint64_t huge = 0;          // of what is resident
    std::optional<double> growth;    // of what is committed, in a second

    amounts& operator+=(const amounts& other);
};

struct live_range {
    std::size_t table = 0;      // its place in reading::tables
    std::uint64_t block = 0;    // the address of its control block
    std::uint64_t base = 0;
    std::string name;    // may be any bytes
    kind what = kind::guarded;
    protection access = protection::none;
    amounts has;
};

struct reading {
    double time = 0;      // seconds since 1970
    double moment = 0;    // seconds, of a monotonic clock
    pid_t id = 0;
    std::string command;
    std::vector<table> tables;
    std::vector<live_range> ranges;    // those with most memory first
    amounts live;                      // sums
    amounts cache;                     // the warm cache; `committed` is of no meaning
    std::size_t cached_ranges = 0;
    std::size_t unsettled = 0;    // control blocks that could not be read
};

// Throws a problem that says why there is none.
[[nodiscard]] reading read_ranges(process& from);

// Fills in how much each range grew since `before`. New ranges grew from zero.
void compare(reading& now, const reading& before);

}    // namespace headroom::tools::maps
