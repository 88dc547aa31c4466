// SPDX-License-Identifier: MIT
// Calls of a range's owner that give memory back without ending the range.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/range/held_range.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Decommits what lies past `kept` bytes, rounded up to pages, and returns its memory to the system. Returns the committed bytes in total.
// A premapped range only returns memory. Cannot fail: what the system refuses to take back stays committed.
HEADROOM_API std::size_t shrink(range* control, std::size_t kept) noexcept;

// Advises the system to keep small pages in the range: it would otherwise fill huge pages of which a part was discarded. Huge pages that
// are there stay; memory committed later gets them as the policy says.
HEADROOM_API void withdraw_huge_advice(range* control) noexcept;

}}}    // namespace headroom::detail
