// The environment variable HEADROOM_OPTIONS (headroom/process_policy.hpp).
#pragma once

namespace headroom { inline namespace v0_1 { namespace detail {

// Reads the variable at its first call, and sets what it says. Call it before a limit is used or set.
void read_options_once() noexcept;

}}}    // namespace headroom::detail
