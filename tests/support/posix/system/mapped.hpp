// What lies at an address, as the system sees it.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "support/emulated.hpp"

namespace headroom_test {

// Whether a file can be made shorter while somebody has it mapped.
inline constexpr bool mapped_files_are_cut = true;

// Whether anything, accessible or not, is mapped there; true where the system does not say. (QEMU's list leaves some of what
// is inaccessible out.)
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

}    // namespace headroom_test
