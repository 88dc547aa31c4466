// SPDX-License-Identifier: MIT
// Uses Headroom before a measurement as the lab has used std::vector.
//
// The lab uses std::vector and malloc before it measures: the code that grows a vector is in memory then, and the heap has begun. Without
// the same for Headroom its first vector would pay for that alone. In a program of thirty lines 1,000 ints take 0.3 us more than
// std::vector's, and two page faults for three.
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
