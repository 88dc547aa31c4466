// SPDX-License-Identifier: MIT
// What this process has used: memory, processor time, interruptions.
#pragma once

#include <cstdint>

namespace headroom::lab {

// The most memory this process ever had resident, in bytes. Read from the process's own address space, not from
// getrusage: there, a fresh child starts with the peak of the process that started it. Falls back to getrusage where the
// system does not tell. Granularity is the kernel's: it may lag by some tens of pages.
[[nodiscard]] std::uint64_t peak_resident();

// Resident memory now, in bytes; 0 where the system does not tell.
[[nodiscard]] std::uint64_t resident_now();

// Processor time of all threads of this process so far, user and system, in seconds.
[[nodiscard]] double processor_time();

// Usage of this process's descendants that have ended and been waited for.
[[nodiscard]] double processor_time_of_children();

// Memory that a new process could use without pushing anything out, in bytes; 0 where the system does not tell.
[[nodiscard]] std::uint64_t available_memory();

// What disturbed or helped the measured part. Counts since the process began.
struct disturbances {
    std::uint64_t page_faults = 0;             // served without reading a disk
    std::uint64_t disk_faults = 0;             // for which a disk was read: what was swapped out came back
    std::uint64_t involuntary_switches = 0;    // times another process took the processor
};
[[nodiscard]] disturbances disturbances_so_far();

// Processor time of the whole machine since it was started, in seconds of one processor; zeros where the system does not tell.
// Granularity: a hundredth of a second.
struct machine_time {
    double busy = 0;      // its processors worked, for whomever
    double stolen = 0;    // they would have, but the host of this virtual machine gave its own to others
};
[[nodiscard]] machine_time machine_time_so_far();

}    // namespace headroom::lab
