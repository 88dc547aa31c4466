// What only the system can tell `headroom tune`: system/posix.cpp, or system/elsewhere.cpp where nobody is asked.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace headroom::tools::tune {

// Page faults of this process until now; empty where nobody counts them.
[[nodiscard]] std::optional<std::uint64_t> page_faults() noexcept;

// Seconds of a processor that the calling thread used until now; 0 where that is not known.
[[nodiscard]] double thread_seconds() noexcept;
[[nodiscard]] bool own_time_known() noexcept;

// Seconds of processors used since some moment, by all programs (and what a host took away), and by this one.
struct processor_use {
    double everybody = 0;
    double this_program = 0;
    std::size_t processors = 1;
};
[[nodiscard]] std::optional<processor_use> machine_busy();

// Processors that this program may run on; empty where nobody says.
[[nodiscard]] std::optional<std::size_t> allowed_processors();

// Bytes of memory that may still be taken before the system, or the program's control group, has none left; empty where nobody
// says.
[[nodiscard]] std::optional<std::uint64_t> available_memory();

[[nodiscard]] std::string processor_name();    // "unknown" where nobody says
[[nodiscard]] std::string kernel_name();       // "Linux 6.1.0"

// Whether the user may write to the file or folder.
[[nodiscard]] bool may_write(const std::string& path) noexcept;
// Makes sure that what was written to the file is on the disk; false if that failed.
[[nodiscard]] bool synced(std::FILE* file) noexcept;

}    // namespace headroom::tools::tune
