// SPDX-License-Identifier: MIT
// Resident memory, as counted by the system.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <vector>

#include <headroom/pages.hpp>

namespace headroom_test {

// Resident bytes of the process; 0 if unknown.
inline std::size_t resident_bytes_of_process() {
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    file >> total >> resident;
    return resident * headroom::page_size();
}

// True if that counts only memory used by this program.
inline bool resident_bytes_of_process_are_its_own() { return true; }

// Resident bytes of the pages that hold [data, data + bytes), which must be mapped, accessible or not.
inline std::size_t resident_bytes(const void* data, std::size_t bytes) {
    const std::size_t page = headroom::page_size();
    const std::size_t before = reinterpret_cast<std::uintptr_t>(data) % page;
    bytes += before;
    std::vector<unsigned char> state((bytes + page - 1) / page);
    if (mincore(static_cast<char*>(const_cast<void*>(data)) - before, bytes, state.data()) != 0) return SIZE_MAX;
    std::size_t resident = 0;
    for (const unsigned char s : state) resident += (s & 1U) != 0 ? page : 0;
    return resident;
}

}    // namespace headroom_test
