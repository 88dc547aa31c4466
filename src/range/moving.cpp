// SPDX-License-Identifier: MIT
// Implements detail/range/moving.hpp.
#include <headroom/detail/range/moving.hpp>

#include <cstring>

#include "range/account.hpp"
#include "range/counters.hpp"
#include "range/extent.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

void move_contents(range* from, range* to, std::size_t bytes) noexcept {
    if (bytes == 0) return;
    const range_lock held_from(from);
    const range_lock held_to(to);
    const std::size_t whole = whole_pages(bytes);
    if (remap(from->part(0, whole), to->part(0, whole))) {
        std::memcpy(to->start(), from->start(), bytes);
        add_bytes_copied(bytes);
        return;
    }
    counts.bytes_remapped.fetch_add(whole, std::memory_order_relaxed);
    // The pages moved to `to`. Releases memory of `from` past them; otherwise all of it would count as warm.
    from->prefault.stop();    // otherwise the helper would populate them again
    to->extent.assume_memory(whole);
    settle_range(held_to, whole);
    settle_range(held_from, SIZE_MAX);
    from->extent.assume_memory(from->extent.committed());
    (void)release_memory_after(held_from, whole);
    from->extent.forget_memory();
    update_account(held_from);
    update_account(held_to);
}

}}}    // namespace headroom::detail
