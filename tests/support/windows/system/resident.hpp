// SPDX-License-Identifier: MIT
// Resident memory, as counted by the system.
#pragma once

#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <psapi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <headroom/pages.hpp>

namespace headroom_test {

// Resident bytes of the process; 0 if unknown.
inline std::size_t resident_bytes_of_process() {
    PROCESS_MEMORY_COUNTERS counters{};
    if (!GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)) return 0;
    return counters.WorkingSetSize;
}

// True if that counts only memory used by this program. Wine adds a byte for each reserved page.
inline bool resident_bytes_of_process_are_its_own() {
    return GetProcAddress(GetModuleHandleA("ntdll.dll"), "wine_get_version") == nullptr;
}

// Resident bytes of the pages from `data` on, which must be page-aligned and reserved.
inline std::size_t resident_bytes(const void* data, std::size_t bytes) {
    const std::size_t page = headroom::page_size();
    std::vector<PSAPI_WORKING_SET_EX_INFORMATION> state((bytes + page - 1) / page);
    for (std::size_t i = 0; i < state.size(); ++i)
        state[i].VirtualAddress = const_cast<char*>(static_cast<const char*>(data)) + i * page;
    if (!QueryWorkingSetEx(GetCurrentProcess(), state.data(), static_cast<DWORD>(state.size() * sizeof state[0])))
        return SIZE_MAX;
    std::size_t resident = 0;
    for (const auto& each : state) resident += each.VirtualAttributes.Valid ? page : 0;
    return resident;
}

}    // namespace headroom_test
