// Implements detail/range/moving.hpp.
#include <headroom/detail/range/moving.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "range/account.hpp"
#include "range/counters.hpp"
#include "range/extent.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

void move_contents(range* from, range* to, std::size_t bytes) noexcept {
    if (bytes == 0) return;
    const std::lock_guard pause_from(from->mutex);
    const std::lock_guard pause_to(to->mutex);
    const std::size_t whole = whole_pages(bytes);
    if (!remap(from->part(0, whole), to->part(0, whole))) {
        counts.bytes_remapped.fetch_add(whole, std::memory_order_relaxed);
        // The pages moved to `to`. Releases memory of `from` past them; otherwise all of it would count as warm.
        from->prefault.target.store(0, std::memory_order_relaxed);    // otherwise the helper would populate them again
        to->set_memory(std::max(to->memory(), whole));
        from->set_memory(std::max(from->memory(), committed_of(from)));
        (void)release_memory_after(from, whole);
        from->set_memory(0);
        update_account(from);
        update_account(to);
        return;
    }
    std::memcpy(to->start(), from->start(), bytes);
    add_bytes_copied(bytes);
}

}}}    // namespace headroom::detail
