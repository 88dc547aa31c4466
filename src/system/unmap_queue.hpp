// Queue of mappings that the system refused to unmap. Happens when a process has used up its mappings: adjacent ones were merged, and
// unmapping in the middle would make one more. They are tried again whenever another was unmapped or something is refused, so that a
// moment of scarcity leaves nothing behind; 32-bit addresses would soon be used up.
#pragma once

#include <headroom/pages.hpp>

#include "component_api.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Unmaps queued mappings until the system refuses.
void retry_unmaps() noexcept;

// Unmaps a mapping or a part of one, at the second try if tests refuse the first; queues it if refused. Beyond 64 the addresses are lost.
HEADROOM_FOR_COMPONENTS void unmap_or_queue(page_range mapping) noexcept;

}}}    // namespace headroom::detail
