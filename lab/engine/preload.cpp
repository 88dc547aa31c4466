// SPDX-License-Identifier: MIT
#include "engine/preload.hpp"

#include <filesystem>
#include <sstream>

#include "engine/child.hpp"

namespace headroom::lab {
namespace {

constexpr const char* separator = " under ";

// Returns the loader's complaint about a library that it cannot preload; empty if there is none. The loader prints it on standard
// error and starts the program without the library, which would measure the system's own allocator.
std::string refusal(const std::string& file) {
    const child_result said =
        run_child({.program = "/bin/sh", .arguments = {"-c", ":"}, .environment = {{"LD_PRELOAD", file}}, .timeout = 10});
    return said.errors.find("LD_PRELOAD") == std::string::npos ? "" : said.errors.substr(0, said.errors.find('\n'));
}

// HEADROOM_LAB_PRELOADS is "name=file|name=file|...", as CMake found them; no file: not found.
std::vector<preload> found() {
    std::vector<preload> all;
    std::istringstream parts(HEADROOM_LAB_PRELOADS);
    for (std::string part; std::getline(parts, part, '|');) {
        const std::size_t sign = part.find('=');
        all.push_back(preload_from(part.substr(0, sign), part.substr(sign + 1)));
    }
#if defined(__GLIBC__)
    all.push_back({"hugetlb", "glibc.malloc.hugetlb=1", "", {{"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"}}});
#else
    all.push_back({"hugetlb", "", "this system's C library is not glibc", {}});
#endif
    return all;
}

}    // namespace

preload preload_from(const std::string& name, const std::string& file) {
    preload one;
    one.name = name;
    std::error_code error;
    if (file.empty()) {
        one.absent = "its library was not found when the lab was configured (lab/peers/README.md says how to get it)";
    } else if (const std::filesystem::path real = std::filesystem::canonical(file, error); error) {
        one.absent = file + ": " + error.message();
    } else if (file.find_first_of(" :") != std::string::npos) {
        one.absent = file + ": LD_PRELOAD takes no path with a space or a colon";
    } else if (const std::string why = refusal(file); !why.empty()) {
        one.absent = why;
    } else {
        one.version = real.filename().string();
        one.environment = {{"LD_PRELOAD", file}};
    }
    return one;
}

const std::vector<preload>& preloads() {
    static const std::vector<preload> all = found();
    return all;
}

const preload* preload_of(const std::string& contender) {
    const std::size_t at = contender.rfind(separator);
    if (at == std::string::npos) return nullptr;
    const std::string name = contender.substr(at + std::string(separator).size());
    for (const preload& one : preloads()) {
        if (one.name == name) return &one;
    }
    return nullptr;
}

std::string without_preload(const std::string& contender) { return contender.substr(0, contender.rfind(separator)); }

std::string with_preload(const std::string& contender, const preload& by) { return contender + separator + by.name; }

}    // namespace headroom::lab
