// SPDX-License-Identifier: MIT
// Queries the reservation at an address.
#pragma once

#include <string>

#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

namespace headroom_test {

// True if a file can be truncated while it is mapped.
inline constexpr bool mapped_files_are_cut = false;

// True if the address is reserved, accessible or not.
inline bool is_mapped(const void* address) {
    MEMORY_BASIC_INFORMATION about{};
    return VirtualQuery(address, &about, sizeof about) != 0 && about.State != MEM_FREE;
}

// There are no such flags.
inline std::string mapping_flags(const void*) { return " nh"; }

}    // namespace headroom_test
