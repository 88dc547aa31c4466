// SPDX-License-Identifier: MIT
// What a program has done before the first vector that it waits for.
//
// The lab uses std::vector and malloc before it measures: their code is in memory, and the heap has begun. Without the same for
// Headroom, the first append of a process took 8 us more than std::vector's, which no user sees: in a program of thirty lines it is
// 0.3 us, and two page faults for three.
#pragma once

#include <headroom/vector.hpp>

namespace headroom::lab {

// Makes a std::vector's counterpart of one byte, on the heap, for all contenders alike. No range is made by it.
[[gnu::noinline]] inline void use_library_once() {
    vector<char> one;
    one.push_back('a');
    asm volatile("" : : "r"(one.data()) : "memory");
}

}    // namespace headroom::lab
