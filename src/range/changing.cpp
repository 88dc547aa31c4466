// SPDX-License-Identifier: MIT
// Implements detail/range/changing.hpp.
#include <headroom/detail/range/changing.hpp>

#include <algorithm>

#include "range/account.hpp"
#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

std::size_t shrink(range* control, std::size_t kept) noexcept {
    kept = std::min(whole_pages(kept), control->size());
    const range_lock held(control);
    control->prefault.stop();
    control->extent.assume_memory(control->extent.accessible());    // premapped: all of it
    control->extent.set_charged(0);
    (void)release_memory_after(held, kept);
    update_account(held);
    const std::size_t committed = control->extent.committed();
    report_to_heap_profiler(control, committed);
    control->prefault.update_given(committed);
    return committed;
}

void withdraw_huge_advice(range* control) noexcept {
    const range_lock held(control);
    if (!advise_huge(control->part(0, control->creation.usable), false)) set_huge_until(held, 0);
}

}}}    // namespace headroom::detail
