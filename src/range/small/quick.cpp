// The beginning and the end of a life that needs no more than a slot of the thread's own.
#include "range/range_calls.hpp"
#include "range/small/small_ranges.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

// What relinquish_slowly() does for a range of whose life nothing is left but a little memory: what is said of it in the
// control block, and a slot of the thread's own. False where that is not enough.
HEADROOM_ALWAYS_INLINE bool end_quickly(range* control) noexcept {
    const std::size_t committed = committed_of(control);
    const std::size_t memory = control->memory();
    if (!control->quick || control->warm != 0 || (std::max)(committed, memory) > small_memory) return false;
    // (Whether it is kept is seen last, and what was written before is right either way.)
    control->stale = (std::max)(memory, committed);
    control->provided = memory;
    const std::size_t start = (std::min)(control->accessible, warm_start);
    if (committed != start) control->committed.store(start, std::memory_order_release);
    return keep_own(control);
}

}    // namespace

held_range acquire(std::size_t bytes, bool exact, std::size_t floor_bytes, const commit_policy& policy, failure& why) noexcept {
    why = {};
    constexpr std::size_t smallest_page = 4096;
    range* const mine = take_own([bytes, &policy](const range* each) noexcept {
        return each->size() - bytes < smallest_page && each->policy == policy;    // rounded up to pages
    });
    if (mine != nullptr) return {mine, mine->start(), committed_of(mine), mine->size()};
    keep_small_ranges();
    return acquire_slowly(bytes, exact, floor_bytes, policy, why);
}

held_range take_warm(std::size_t bytes) noexcept {
    // (What was asked for was rounded up to pages, and a little more room does nobody harm.)
    constexpr std::size_t largest_page = std::size_t{64} << 10;
    range* const mine = take_own([bytes](const range* each) noexcept { return each->default_size - bytes < largest_page; });
    return mine == nullptr ? held_range{} : held_range{mine, mine->start(), committed_of(mine), bytes};
}

void relinquish(range* control, std::size_t used) noexcept {
    if (control == nullptr || end_quickly(control)) return;
    relinquish_slowly(control, used);
}

}}}    // namespace headroom::detail
