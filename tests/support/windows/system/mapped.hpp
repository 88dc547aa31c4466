// What lies at an address, as the system sees it.
#pragma once

#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

namespace headroom_test {

// Whether a file can be made shorter while somebody has it mapped.
inline constexpr bool mapped_files_are_cut = false;

// Whether anything, accessible or not, is reserved there.
inline bool is_mapped(const void* address) {
    MEMORY_BASIC_INFORMATION about{};
    return VirtualQuery(address, &about, sizeof about) != 0 && about.State != MEM_FREE;
}

}    // namespace headroom_test
