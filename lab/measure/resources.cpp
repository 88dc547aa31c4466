// SPDX-License-Identifier: MIT
#include "measure/resources.hpp"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace headroom::lab {
namespace {

// A line "name:   123 kB" of one of the system's status files, in bytes; 0 when absent.
std::uint64_t status_line(const char* file, const std::string& name) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (line.compare(0, name.size(), name) == 0 && line.size() > name.size() && line[name.size()] == ':') {
            return std::stoull(line.substr(name.size() + 1)) * 1024;
        }
    }
    return 0;
}

}    // namespace

std::uint64_t peak_resident() {
    if (const std::uint64_t bytes = status_line("/proc/self/status", "VmHWM")) return bytes;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::uint64_t resident_now() { return status_line("/proc/self/status", "VmRSS"); }

double processor_time() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double processor_time_of_children() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::uint64_t available_memory() { return status_line("/proc/meminfo", "MemAvailable"); }

disturbances disturbances_so_far() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt),
            static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

machine_time machine_time_so_far() {
    std::ifstream in("/proc/stat");
    std::string name;
    // user, nice, system, idle, waiting for disks, interrupts of two kinds, stolen
    double ticks[8] = {};
    in >> name;
    for (double& one : ticks) in >> one;
    if (!in || name != "cpu") return {};
    const auto second = static_cast<double>(sysconf(_SC_CLK_TCK));
    return {(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / second, ticks[7] / second};
}

}    // namespace headroom::lab
