// The helper thread that provides memory ahead of writers: one for the process, of low priority, started at first need.
//
// The promise: while it is ahead, an append makes no system call that provides memory. A writer that catches up provides
// for itself, or, where the helper has the very next pages in hand, waits for that one batch (a huge page, or 2 MiB of
// ordinary pages). Each range has a lock of its own for that: what the helper does to one range holds up no other.
//
// It is delivered no signal, does not come along into a forked child (which makes its own at need), and is gone before the
// code that it runs: when that is unloaded, or the program ends.
#pragma once

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Keeps the helper out while the owner works on a range that it may be working on; waits for a batch in hand. Nothing where
// the range's policy asks for no helper.
class without_helper {
public:
    explicit without_helper(range* control) noexcept
        : control_(control->terms.policy.which() == commit_policy::kind::prefault_ahead ? control : nullptr) {
        if (control_ != nullptr) control_->ahead.batch.lock();
    }
    ~without_helper() {
        if (control_ != nullptr) control_->ahead.batch.unlock();
    }
    without_helper(const without_helper&) = delete;
    without_helper& operator=(const without_helper&) = delete;

private:
    range* control_;
};

}}}    // namespace headroom::detail
