// SPDX-License-Identifier: MIT
// Tells whether threads keep small ranges in slots of their own.
#pragma once

namespace headroom_test {

// True if a function can be called at a thread's end after the destructors of its local variables, which the slots require.
inline constexpr bool threads_have_slots = false;

}    // namespace headroom_test
