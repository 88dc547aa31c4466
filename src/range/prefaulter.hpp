// The helper thread that provides memory ahead of writers: one for the process, of low priority, started at first need.
//
// The promise: while it is ahead, an append makes no system call that provides memory. A writer that catches up provides
// for itself, or, where the helper has the very next pages in hand, waits for that one batch (a huge page, or 2 MiB of
// ordinary pages).
#pragma once

#include <mutex>

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// Asks the helper to provide [ready, bytes) of the range. Never fails: without a helper (no thread to be had, or a forked
// child) writers provide for themselves.
void ask_ahead(range* control, std::size_t bytes) noexcept;

// Withdraws what was asked, and waits for a batch in hand: afterwards the helper does not touch the range.
void stop_asking(range* control) noexcept;

// Locks the helper out while the owner works on a range that it may be working on.
class helper_pause {
public:
    helper_pause() noexcept;                        // waits for a batch in hand
    explicit helper_pause(std::try_to_lock_t) noexcept;
    ~helper_pause();
    helper_pause(const helper_pause&) = delete;
    helper_pause& operator=(const helper_pause&) = delete;

    // False when try_to_lock found a batch in hand.
    [[nodiscard]] explicit operator bool() const noexcept { return paused_; }

private:
    std::mutex* locked_ = nullptr;    // null while there is no helper to lock out
    bool paused_ = true;
};

// Provides [ready, to) of the range, as huge pages where possible: commit, advise, populate. The helper's batch, and the
// writer's own when it has caught up. Only while the helper is paused, or in the helper. Sets `ready`.
std::error_code provide(range* control, std::size_t to) noexcept;

}}}  // namespace headroom::detail
