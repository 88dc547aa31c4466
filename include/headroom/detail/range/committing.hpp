// SPDX-License-Identifier: MIT
// Committing memory of a range: for elements that are written next, for elements that are not, exactly, and charging only.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/range/held_range.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Commits at least the first `needed` bytes, and more as the policy says. Returns how many bytes the owner may use: the committed
// ones or, under prefault_ahead, those up to the end of the present batch. If refused, sets `why` and returns 0; nothing has changed then.
// Precondition: needed <= reserved.
HEADROOM_API std::size_t commit_to(range* control, std::size_t needed, failure& why) noexcept;

// Like commit_to(), but populates nothing: memory arrives at first touch.
HEADROOM_API std::size_t commit_unpopulated(range* control, std::size_t needed, failure& why) noexcept;

// Commits the first `needed` bytes, rounded up to pages, without a policy's steps, for reserve(). Populates nothing. Otherwise like
// commit_to().
HEADROOM_API std::size_t commit_exactly(range* control, std::size_t needed, failure& why) noexcept;

// Makes the first `needed` bytes accessible, so that they are charged and a later commit_to() is not refused: a request built in steps
// fails before it touches memory. Populates nothing; commits them only if an earlier owner left memory for all of them. If refused, sets
// `why`. Precondition: needed <= reserved.
HEADROOM_API void charge(range* control, std::size_t needed, failure& why) noexcept;

}}}    // namespace headroom::detail
