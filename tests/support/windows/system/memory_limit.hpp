// SPDX-License-Identifier: MIT
// The memory that the system can promise.
#pragma once

#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <cstdint>

namespace headroom_test {

// Bytes of memory and page files: the limit of the commit charge of all processes.
inline std::uint64_t memory_of_system() {
    MEMORYSTATUSEX about{};
    about.dwLength = sizeof about;
    return GlobalMemoryStatusEx(&about) ? about.ullTotalPageFile : 0;
}

}    // namespace headroom_test
