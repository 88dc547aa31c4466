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

// Asks the helper to provide [ready, bytes) of the range. Never fails: without a helper (no thread to be had, or a program
// that ends) writers provide for themselves.
void ask_ahead(range* control, std::size_t bytes) noexcept;

// Withdraws what was asked, and waits for a batch in hand: afterwards the helper does not touch the range.
void stop_asking(range* control) noexcept;

// Keeps the helper out while the owner works on a range that it may be working on; waits for a batch in hand. Nothing where
// the range's policy asks for no helper.
class without_helper {
public:
    explicit without_helper(range* control) noexcept
        : control_(control->policy.which() == commit_policy::kind::prefault_ahead ? control : nullptr) {
        if (control_ != nullptr) control_->batch.lock();
    }
    ~without_helper() {
        if (control_ != nullptr) control_->batch.unlock();
    }
    without_helper(const without_helper&) = delete;
    without_helper& operator=(const without_helper&) = delete;

private:
    range* control_;
};

// Provides [ready, to) of the range, as huge pages where possible: commit, advise, populate. The helper's batch, and the
// writer's own when it has caught up. Under the range's `batch`. Sets `ready`.
std::error_code provide(range* control, std::size_t to) noexcept;

}}}    // namespace headroom::detail
