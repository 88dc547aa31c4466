// SPDX-License-Identifier: MIT
// Uses Headroom once before a measurement, as the lab has used std::vector.
//
// The lab uses std::vector and malloc before it measures: their code is in memory, and the heap has begun. Without the same for
// Headroom, the first append of a process took 8 us more than std::vector's, which no user sees: in a program of thirty lines it is
// 0.3 us, and two page faults for three.
#pragma once

#include <headroom/vector.hpp>

namespace headroom::lab {

// Appends one byte to a headroom::vector, for all contenders alike. It lies on the heap: no range is made.
[[gnu::noinline]] inline void use_library_once() {
    vector<char> one;
    one.push_back('a');
    asm volatile("" : : "r"(one.data()) : "memory");
}

}    // namespace headroom::lab
