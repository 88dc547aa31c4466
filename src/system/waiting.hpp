// Mappings that the system would not take back.
//
// Where a process has used up its mappings that happens: neighbours have grown into one, and taking one out of the middle
// would make one more. They wait, and are offered again whenever another was taken back or something is refused; so what a
// moment of scarcity left behind does not stay for good. (Where addresses have 32 bits they would soon be used up by that.)
#pragma once

#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Remembers a mapping, or a part of one, that was to be released. Of more than 64 the rest is lost.
void let_wait(page_range mapping) noexcept;

// Releases what waits, until the system refuses again.
void retry_releases() noexcept;

// Gives a whole mapping back: at once, at the second try (tests refuse the first), or later.
void release_surely(page_range mapping) noexcept;

}}}    // namespace headroom::detail
