// SPDX-License-Identifier: MIT
// The memory that the system can promise.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace headroom_test {

// Bytes of memory and swap; 0 if unknown.
inline std::uint64_t memory_of_system() {
    std::ifstream file("/proc/meminfo");
    std::uint64_t bytes = 0;
    std::string name, unit;
    for (std::uint64_t number = 0; file >> name >> number; std::getline(file, unit)) {
        if (name == "MemTotal:" || name == "SwapTotal:") bytes += number * 1024;
    }
    return bytes;
}

}    // namespace headroom_test
