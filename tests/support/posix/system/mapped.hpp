// SPDX-License-Identifier: MIT
// Queries the mapping at an address.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "support/emulated.hpp"

namespace headroom_test {

// True if a file can be truncated while it is mapped.
inline constexpr bool mapped_files_are_cut = true;

// True if the address is in a mapping, accessible or not, and where /proc has no list. Also true under QEMU, whose list omits
// some inaccessible mappings.
inline bool is_mapped(const void* address) {
    std::ifstream maps("/proc/self/maps");
    if (!maps || emulated()) return true;
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t first = 0, last = 0;
        char dash = 0;
        std::istringstream(line) >> std::hex >> first >> dash >> last;
        if (reinterpret_cast<std::uintptr_t>(address) - first < last - first) return true;
    }
    return false;
}

// Returns the flags of the mapping at the address, as /proc/self/smaps has them ("rd wr nh ..."); " nh" where there is no such list.
inline std::string mapping_flags(const void* address) {
    std::ifstream maps("/proc/self/smaps");
    if (!maps || emulated()) return " nh";
    bool here = false;
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t first = 0, last = 0;
        char dash = 0;
        if (std::istringstream(line) >> std::hex >> first >> dash >> last && dash == '-')
            here = reinterpret_cast<std::uintptr_t>(address) - first < last - first;
        if (here && line.rfind("VmFlags:", 0) == 0) return line.substr(8);
    }
    return "";
}

}    // namespace headroom_test
