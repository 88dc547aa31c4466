// SPDX-License-Identifier: MIT
// Uses Headroom before a measurement as the lab has used std::vector.
//
// The lab uses std::vector and malloc before it measures: the code that grows one is in memory, and the heap has begun. Without the same for
// Headroom, the first vector of 1,000 ints in a process took 7 us more than std::vector's: one page fault, for the code that grows a
// block. No user sees that: a program of thirty lines takes 0.3 us more, and two page faults for three.
#pragma once

#include <headroom/vector.hpp>

namespace headroom::lab {

// Appends 1,000 bytes to a headroom::vector, one by one, for all contenders alike. They lie on the heap: no range is made.
[[gnu::noinline]] inline void use_library_once() {
    vector<char> bytes;
    for (int i = 0; i < 1000; ++i) bytes.push_back('a');
    asm volatile("" : : "r"(bytes.data()) : "memory");
}

}    // namespace headroom::lab
