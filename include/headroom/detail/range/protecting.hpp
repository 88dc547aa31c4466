// SPDX-License-Identifier: MIT
// The access of the program to a range's memory.
#pragma once

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/range/held_range.hpp>
#include <headroom/detail/range/page_access.hpp>
#include <headroom/detail/std_forward.hpp>    // error_code

namespace headroom { inline namespace v0_1 { namespace detail {

// Sets the access to the whole committed part. Returns the error if the system refuses; nothing has changed then.
HEADROOM_API std::error_code protect(range* control, access allowed) noexcept;
// Like protect(), but throws std::system_error.
HEADROOM_API void protect_or_throw(range* control, access allowed);
// Like protect(), but returns false if the system refuses.
HEADROOM_API bool try_protect(range* control, access allowed) noexcept;
// Returns the access that protect() set last; read_write before.
HEADROOM_API [[nodiscard]] access current_access(const range* control) noexcept;

}}}    // namespace headroom::detail
