// SPDX-License-Identifier: MIT
// Premapped ranges: readable and writable throughout, with a guard at either end.
#include "range/range.hpp"
#include "system/platform.hpp"
#include "system/unmap_queue.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Maps `reserved` writable bytes between two guards for the range. False, and nothing has changed, if refused, or if mappings are locked:
// all of it would be resident at once.
bool premap(range* control, std::size_t reserved) noexcept {
    if (mappings_are_locked()) return false;
    std::error_code error;
    const page_range mapping = reserve(mapping_bytes_for(reserved), page_size(), error, access::read_write);
    if (error) return false;
    std::byte* const base = aligned_start_of(mapping);
    error = guard({base - guard_bytes, guard_bytes});
    if (!error) error = guard({base + reserved, guard_bytes});
    if (error) {
        unmap_or_queue(mapping);
        return false;
    }
    control->creation.mapping = mapping;
    return true;
}

}}}    // namespace headroom::detail
