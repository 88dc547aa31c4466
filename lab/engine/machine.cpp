// SPDX-License-Identifier: MIT
#include "engine/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <string>

#include <headroom/pages.hpp>

#include "engine/commit.hpp"

namespace headroom::lab {
namespace {

using nlohmann::json;

std::string first_line(const char* path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

std::string processor() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
        if (line.rfind("model name", 0) == 0) {
            const std::size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
            if (start != std::string::npos) return line.substr(start);
        }
    }
    utsname system{};
    return uname(&system) == 0 ? system.machine : "unknown";
}

// "always [madvise] never" → "madvise"
std::string chosen(const std::string& line) {
    const std::size_t from = line.find('[');
    const std::size_t to = line.find(']');
    return from == std::string::npos || to == std::string::npos ? line : line.substr(from + 1, to - from - 1);
}

std::string or_unknown(std::string text) { return text.empty() ? "unknown" : text; }

// FNV-1a; 32 bits are plenty to tell a user's machines apart.
std::string short_hash(const std::string& text) {
    std::uint32_t hash = 2166136261U;
    for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
    static constexpr char digits[] = "0123456789abcdef";
    std::string result;
    for (int shift = 28; shift >= 0; shift -= 4) result += digits[hash >> shift & 15U];
    return result;
}

std::string now_text() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

}    // namespace

json describe_machine(const std::map<std::string, std::string>& flags, const std::map<std::string, std::string>& libraries,
                      const std::string& grid) {
    utsname system{};
    uname(&system);
    json machine{{"cpu", processor()},
                 {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
                 {"memory_bytes", sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE)},
                 {"kernel", std::string(system.sysname) + " " + system.release},
                 {"page_size", page_size()},
                 {"huge_page_size", huge_page_size()},
                 {"overcommit", or_unknown(first_line("/proc/sys/vm/overcommit_memory"))},
                 {"thp", or_unknown(chosen(first_line("/sys/kernel/mm/transparent_hugepage/enabled")))},
                 {"compiler", HEADROOM_LAB_COMPILER},
                 {"flags", flags},
                 {"libraries", libraries},
                 {"headroom", HEADROOM_LAB_VERSION},
                 {"library", HEADROOM_LAB_LIBRARY_HASH}};
    machine["id"] = short_hash(machine.dump());
    machine["commit"] = HEADROOM_LAB_COMMIT;    // the same library in another commit is measured once
    machine["v"] = 1;
    machine["kind"] = "machine";
    machine["started"] = now_text();
    machine["grid"] = grid;
    return machine;
}

}    // namespace headroom::lab
