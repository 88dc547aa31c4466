// SPDX-License-Identifier: MIT
// What Headroom's ranges hold of a process that is being recorded: malloc is not asked for them, so the recorder does not see them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "process/process.hpp"
#include "process/tables.hpp"

namespace headroom::profile {

class held_ranges {
public:
    explicit held_ranges(pid_t process) : pid_(process) {}

    // Committed bytes of the live ranges of all copies of Headroom in the process; nothing where it is too early to look again,
    // or where the process cannot be read. `now`: monotonic nanoseconds. Looks at most every 5 ms, and a twentieth of the time.
    std::optional<std::uint64_t> look(std::uint64_t now);
    // The most that the process had resident, as of the last look; 0 if it is not known.
    [[nodiscard]] std::uint64_t most_resident() const { return most_resident_; }
    // The most anonymous memory that was resident at a look; 0 if it is not known.
    [[nodiscard]] std::uint64_t most_anonymous() const { return most_anonymous_; }

private:
    std::optional<std::uint64_t> count();

    pid_t pid_;
    std::uint64_t next_ = 0;
    std::uint64_t find_tables_ = 0;    // when
    std::uint64_t patience_ = 5'000'000;
    std::uint64_t most_resident_ = 0;
    std::uint64_t most_anonymous_ = 0;
    std::unique_ptr<tools::maps::process> process_;
    std::vector<tools::maps::table> tables_;
};

}    // namespace headroom::profile
