// SPDX-License-Identifier: MIT
// Detection of QEMU, which runs tests 10 to 50 times slower. Large reservations are slowest, since it tracks each page.
#pragma once

#include <cstdlib>

namespace headroom_test {

// True if the environment variable is set, which CMake does in the presets that use QEMU.
inline bool emulated() { return std::getenv("HEADROOM_EMULATED") != nullptr; }

// Returns the number of repetitions: fewer under QEMU.
template <class Count>
Count times(Count here, Count where_emulated) {
    return emulated() ? where_emulated : here;
}

}    // namespace headroom_test
