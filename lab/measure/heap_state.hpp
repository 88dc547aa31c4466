// SPDX-License-Identifier: MIT
// The state that malloc is in when a measurement begins. P0089R0's global allocator ran on a heap that had been scrambled
// first, its local ones on a clean one; here it is an axis, for all alike.
#pragma once

#include <cstddef>

namespace headroom::lab {

// Fills the heap with blocks of many sizes and frees most of them in random order: what malloc hands out afterwards lies
// in holes all over. About `bytes` are handled; a sixteenth of that stays allocated for ever.
void scramble_heap(std::size_t bytes = std::size_t{64} << 20);

// Lets malloc give the top of its heap, and large blocks, back to the system as soon as they are free (the default), or
// keep them. Returns false where this malloc has no such setting.
bool set_trimming(bool on);

}    // namespace headroom::lab
