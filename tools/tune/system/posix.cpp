#include "system.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <sstream>

namespace headroom::tools::tune {
namespace {

double seconds_of(const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; }

}    // namespace

std::optional<std::uint64_t> page_faults() noexcept {
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(usage.ru_minflt) + static_cast<std::uint64_t>(usage.ru_majflt);
}

double thread_seconds() noexcept {
    timespec time{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

bool own_time_known() noexcept {
    timespec time{};
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0;
}

std::optional<processor_use> machine_busy() {
    // Linux has a file for it: "cpu user nice system idle iowait irq softirq steal ...", in ticks, all processors together.
    std::ifstream file("/proc/stat");
    std::string line;
    if (!std::getline(file, line)) return std::nullopt;
    std::istringstream words(line);
    std::string name;
    words >> name;
    double ticks[8] = {};
    for (double& each : ticks) words >> each;
    rusage usage{};
    const auto rate = static_cast<double>(sysconf(_SC_CLK_TCK));
    if (name != "cpu" || !words || rate <= 0 || getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
    const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
    return processor_use{busy / rate, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("model name", 0) != 0) continue;
        const std::size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
        if (start != std::string::npos) return line.substr(start);
    }
    utsname system{};
    return uname(&system) >= 0 ? system.machine : "unknown";
}

std::string kernel_name() {
    utsname system{};
    return uname(&system) >= 0 ? std::string(system.sysname) + " " + system.release : "unknown";
}

bool may_write(const std::string& path) noexcept { return access(path.c_str(), W_OK) == 0; }

bool synced(std::FILE* file) noexcept { return fsync(fileno(file)) == 0; }

}    // namespace headroom::tools::tune
