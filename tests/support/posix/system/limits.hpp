// SPDX-License-Identifier: MIT
// Resource limits of the process. An emulator may accept a limit and not enforce it.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstddef>

#include "system/in_child.hpp"

namespace headroom_test {

constexpr const char* limits_are_forgotten = "limits are accepted here, and not kept";

inline bool limit_addresses(std::size_t bytes) {
    rlimit wanted{};
    wanted.rlim_cur = wanted.rlim_max = bytes;
    return setrlimit(RLIMIT_AS, &wanted) == 0;
}

// True if a limit on addresses is enforced. Tried in a child, since a limit cannot be raised again.
inline bool limits_are_kept() {
    return in_child([] {
               constexpr std::size_t limit = std::size_t{256} << 20;
               if (!limit_addresses(limit)) return 1;
               return mmap(nullptr, 2 * limit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED ? 0
                                                                                                                            : 1;
           }) == 0;
}

}    // namespace headroom_test
