// SPDX-License-Identifier: MIT
// The environment variable HEADROOM_OPTIONS (headroom/process_policy.hpp).
#pragma once

#include "component_api.hpp"
#include "range/control_block.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Reads the variable at its first call, and sets what it says and the program has not set. Call it before a limit is used or set. Returns
// ranges to be unmapped: kept ones of other threads.
[[nodiscard]] range_chain read_options_once() noexcept;

// False if the process allows no huge pages, by HEADROOM_OPTIONS or set_process_policy(). For components: what process_policy.hpp has
// inline would be a copy of their own.
[[nodiscard]] HEADROOM_FOR_COMPONENTS bool process_allows_huge_pages() noexcept;

}}}    // namespace headroom::detail
