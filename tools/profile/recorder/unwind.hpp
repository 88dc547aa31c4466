// SPDX-License-Identifier: MIT
// The call stack of the running thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ring.hpp"

namespace headroom::profile {

// Loads the unwinder, unless it is there. False if the system does not have it.
bool set_up_unwinder();

// Writes the return addresses of the calling thread's stack into `to` and returns how many: innermost first, beginning with the caller of
// the function whose __builtin_frame_address(0) is `frame`. Takes locks for code that was not met before; does not call malloc after the
// first call of a thread.
std::size_t unwind(const void* frame, std::uintptr_t (&to)[most_frames]);

// Where a function that called __builtin_frame_address(0) returns to.
inline std::uintptr_t caller_of(const void* frame) { return static_cast<const std::uintptr_t*>(frame)[1]; }

}    // namespace headroom::profile
