// SPDX-License-Identifier: MIT
// Calls of a range's owner besides committing: decommit, protect, name.
#pragma once

#include <cstddef>
#include <system_error>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/range/held_range.hpp>
#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Decommits what lies past `kept` bytes, rounded up to pages, and returns its memory to the system. Returns the committed bytes in total.
// A premapped range only returns memory. Cannot fail: what the system refuses to take back stays committed.
HEADROOM_API std::size_t shrink(range* control, std::size_t kept) noexcept;

// Advises the system to keep small pages in the range: it would otherwise fill huge pages of which a part was discarded. Huge pages that
// are there stay; memory committed later gets them as the policy says.
HEADROOM_API void withdraw_huge_advice(range* control) noexcept;

// Sets the access to the whole committed part. Returns the error if the system refuses; nothing has changed then.
HEADROOM_API std::error_code protect(range* control, access allowed) noexcept;
// Returns the access that protect() set last; read_write before.
HEADROOM_API [[nodiscard]] access current_access(const range* control) noexcept;

// Names the range, cut to 79 bytes; null or empty removes the name.
HEADROOM_API void set_name(range* control, const char* text) noexcept;
// Gives `to` the name of `from`, if that has one.
HEADROOM_API void copy_name(const range* from, range* to) noexcept;

}}}    // namespace headroom::detail
