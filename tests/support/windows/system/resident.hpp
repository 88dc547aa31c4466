// How much memory is really there, as the system counts it.
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

// Resident bytes of the process; 0 where the system does not say.
inline std::size_t resident_bytes_of_process() {
    PROCESS_MEMORY_COUNTERS counters{};
    if (!GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)) return 0;
    return counters.WorkingSetSize;
}

// Whether that counts what this program uses and nothing else. Wine keeps a byte for each page reserved, in the program.
inline bool resident_bytes_of_process_are_its_own() {
    return GetProcAddress(GetModuleHandleA("ntdll.dll"), "wine_get_version") == nullptr;
}

// Resident bytes of [data, data + bytes), whose start lies on a page. All of it must be reserved, accessible or not.
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
