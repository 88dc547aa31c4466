// SPDX-License-Identifier: MIT
// Memory that the machine really has.
//
// A virtual machine tells its host which memory is free, and the host takes it back, in large blocks. The first process to
// touch such a block waits for the host (6 ms for a huge page, where it takes 0.24 ms otherwise), and which contender meets
// it is chance. So a process of its own touches memory first, before each contender alike, and gives it back: for a while
// the system still has it.
#pragma once

#include <cstdint>

namespace headroom::lab {

// Touches `bytes` of memory, in huge pages where there are any, and gives it all back. Less where memory is refused.
void warm_machine(std::uint64_t bytes);

}    // namespace headroom::lab
