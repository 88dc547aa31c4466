// SPDX-License-Identifier: MIT
// Processors whose calling convention keeps a chain of frame pointers (64-bit ARM): the chain is followed.
#include "unwind.hpp"

namespace headroom::profile {

bool set_up_unwinder() { return true; }

std::size_t unwind(const void* frame, std::uintptr_t (&to)[most_frames]) {
    constexpr std::uintptr_t largest_frame = std::uintptr_t{1} << 20;
    std::size_t count = 0;
    for (auto at = reinterpret_cast<std::uintptr_t>(frame); count < most_frames;) {
        const auto* const words = reinterpret_cast<const std::uintptr_t*>(at);
        if (words[1] == 0) break;
        to[count++] = words[1];
        const std::uintptr_t outer = words[0];
        if (outer <= at || outer - at > largest_frame || outer % 16 != 0) break;
        at = outer;
    }
    return count;
}

}    // namespace headroom::profile
