// Mappings that the system would not take back.
//
// Where a process has used up its mappings that happens: neighbours have grown into one, and taking one out of the middle
// would make one more. They wait, and are offered again whenever another was taken back or something is refused; so what a
// moment of scarcity left behind does not stay for good. (Where addresses have 32 bits they would soon be used up by that.)
#pragma once

#include <headroom/pages.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Releases what waits, until the system refuses again.
void retry_unmaps() noexcept;

// Gives a mapping back, or what is left of one: at once, at the second try (tests refuse the first), or later. Of more than 64 that
// wait the rest is lost.
void unmap_or_queue(page_range mapping) noexcept;

}}}    // namespace headroom::detail
