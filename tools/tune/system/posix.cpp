#include "system.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>

namespace headroom::tools::tune {
namespace {

// The number that a file of the system's holds; empty where it is not there, or holds a word ("max").
std::optional<std::uint64_t> number_in(const std::string& path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    if (!(file >> number)) return std::nullopt;
    return number;
}

// What a control group may still take: `limit` and `used` are files of its folder.
void consider_group(const std::string& folder, const char* limit, const char* used, std::optional<std::uint64_t>& least) {
    const auto most = number_in(folder + limit);
    const auto now = number_in(folder + used);
    if (!most || !now) return;
    const std::uint64_t left = *most > *now ? *most - *now : 0;
    least = std::min(least.value_or(left), left);
}

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
    std::size_t processors = 0;
    while (std::getline(file, line) && line.rfind("cpu", 0) == 0) ++processors;
    return processor_use{busy / rate, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
                         std::max<std::size_t>(processors, 1)};
}

std::optional<std::size_t> allowed_processors() {
    // "Cpus_allowed_list: 0-2,5"
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("Cpus_allowed_list:", 0) != 0) continue;
        std::istringstream list(line.substr(line.find(':') + 1));
        std::size_t count = 0;
        for (std::string part; std::getline(list, part, ',');) {
            unsigned first = 0;
            unsigned last = 0;
            const int numbers = std::sscanf(part.c_str(), "%u-%u", &first, &last);
            if (numbers == 1) ++count;
            if (numbers == 2 && last >= first) count += last - first + 1;
        }
        if (count != 0) return count;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> available_memory() {
    std::optional<std::uint64_t> least;
    std::ifstream system("/proc/meminfo");
    for (std::string word; system >> word;) {
        std::uint64_t kilobytes = 0;
        if (word == "MemAvailable:" && system >> kilobytes) least = kilobytes * 1024;
    }
    // Lines of the form number:controllers:path. The path is one below the mount, or in a container one that cannot be seen:
    // then the mount itself is the group. Groups above it may have limits of their own.
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const bool all = second == first + 1;
        if (!all && line.substr(first, second - first).find("memory") == std::string::npos) continue;
        for (std::string path = line.substr(second + 1);; path.erase(path.rfind('/'))) {
            if (!path.empty() && path.back() == '/') path.pop_back();
            if (all) consider_group("/sys/fs/cgroup" + path, "/memory.max", "/memory.current", least);
            else consider_group("/sys/fs/cgroup/memory" + path, "/memory.limit_in_bytes", "/memory.usage_in_bytes", least);
            if (path.rfind('/') == std::string::npos) break;
        }
    }
    return least;
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
