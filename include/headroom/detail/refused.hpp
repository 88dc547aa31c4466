// SPDX-License-Identifier: MIT
// Throws `refused` out of line: its header has those of std::string and std::error_code, which take as long to compile as <vector>.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/range/held_range.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Throws `refused`, for a request of `bytes` bytes. `what` names the operation in its message.
HEADROOM_API [[noreturn]] HEADROOM_COLD void throw_refused(const char* what, std::size_t bytes, const failure& why);

}}}    // namespace headroom::detail
