// How memory is taken back from the end of a living range.
#include <algorithm>

#include "range/cache.hpp"
#include "range/prefaulter.hpp"
#include "range/range_calls.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

std::size_t shrink(range* control, std::size_t kept) noexcept {
    kept = std::min(whole_pages(kept), control->size());
    const without_helper pause(control);
    control->wanted.store(0);
    control->set_memory(std::max(control->memory(), control->held == holding::open ? control->size() : committed_of(control)));
    cut_memory(control, kept);
    count_warm_in_use(control, committed_of(control));
    report(control, committed_of(control));
    if (control->ready.load(std::memory_order_relaxed) > kept) control->ready.store(kept, std::memory_order_release);
    if (control->handed != 0) control->handed = committed_of(control);
    return committed_of(control);
}

}}}    // namespace headroom::detail
