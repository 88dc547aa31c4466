// SPDX-License-Identifier: MIT
// The environment variable HEADROOM_OPTIONS (headroom/process_policy.hpp).
#pragma once

#include "range/control_block.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Reads the variable at its first call, and sets what it says and the program has not set. Call it before a limit is used or set. Returns
// ranges to be unmapped: kept ones of other threads.
[[nodiscard]] range_chain read_options_once() noexcept;

}}}    // namespace headroom::detail
