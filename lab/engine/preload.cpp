#include "engine/preload.hpp"

#include <filesystem>
#include <sstream>

namespace headroom::lab {
namespace {

constexpr const char* separator = " under ";

// HEADROOM_LAB_PRELOADS is "name=file|name=file|...", as CMake found them; no file: not found.
std::vector<preload> found() {
    std::vector<preload> all;
    std::istringstream parts(HEADROOM_LAB_PRELOADS);
    for (std::string part; std::getline(parts, part, '|');) {
        const std::size_t sign = part.find('=');
        preload one;
        one.name = part.substr(0, sign);
        const std::string file = part.substr(sign + 1);
        std::error_code error;
        if (file.empty()) {
            one.absent = "its library was not found when the lab was configured (lab/peers/README.md says how to get it)";
        } else if (const std::filesystem::path real = std::filesystem::canonical(file, error); error) {
            one.absent = file + ": " + error.message();
        } else {
            one.version = real.filename().string();
            one.environment = {{"LD_PRELOAD", file}};
        }
        all.push_back(std::move(one));
    }
#if defined(__GLIBC__)
    all.push_back({"hugetlb", "glibc.malloc.hugetlb=1", "", {{"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"}}});
#else
    all.push_back({"hugetlb", "", "this system's C library is not glibc", {}});
#endif
    return all;
}

}    // namespace

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
