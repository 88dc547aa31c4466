// Whether QEMU runs this program: ten to fifty times slower, most of all where much is reserved, because it notes each page.
#pragma once

#include <cstdlib>

namespace headroom_test {

// Set by CMake for the presets that use it.
inline bool emulated() { return std::getenv("HEADROOM_EMULATED") != nullptr; }

// How often to repeat what is as true of fewer.
template <class Count>
Count times(Count here, Count where_emulated) {
    return emulated() ? where_emulated : here;
}

}    // namespace headroom_test
