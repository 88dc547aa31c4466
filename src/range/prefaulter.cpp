// SPDX-License-Identifier: MIT
// The helper thread, which populates memory ahead of writers: one for the process, started at first need.
//
// The promise: while it is ahead, an append makes no system call that provides memory. A writer that catches up commits for itself or, if
// the helper is working on the very next pages, waits for that batch (a huge page, or 2 MiB of ordinary pages). Each range has a mutex of
// its own, so the helper's work on one range delays no other.
//
// It receives no signal, is not in a forked child (which starts its own), and ends before its code is unloaded or the
// program ends. On Windows its code stays loaded instead.
#include <algorithm>
#include <atomic>

#include "range/cache.hpp"
#include "range/extent.hpp"
#include "range/counters.hpp"
#include "range/process_policy.hpp"
#include "range/range.hpp"
#include "range/registry.hpp"
#include "system/at_fork.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

enum class helper_state : std::uint32_t { none, starting, running, ending };

// State shared by the helper and the writers; constant-initialised, so that initialisation order does not matter.
constinit std::atomic<helper_state> helper{helper_state::none};
// Incremented when there may be work.
constinit std::atomic<std::uint32_t> helper_wakeups{0};
// Number of requests for the helper while it did not run, since the process began or was forked. Changed only by the thread that set
// helper_state::starting, and in a forked child.
constinit std::uint32_t helper_requests = 0;

void wake_helper() noexcept {
    helper_wakeups.fetch_add(1, std::memory_order_release);
    wake_one(helper_wakeups);
}

bool is_ending() noexcept { return helper.load(std::memory_order_relaxed) == helper_state::ending; }

// Commits and populates [committed, to), for the helper or a writer that caught up.
std::error_code prefault_up_to(locked_range control, std::size_t to, populate_when how) noexcept {
    const commit_clock clock;
    advise_huge_rest(control);
    unmap_all_ranges(make_room_for(control, to));
    // Makes it accessible far ahead in one call, because each such call delays the other thread's page faults.
    const std::size_t wanted = std::min(control->prefault.target(), control->size());
    if (to > control->extent.accessible() && to < wanted) (void)make_accessible(control, wanted);
    return commit_up_to(control, to, how);
}

// Commits and populates one batch of a range, up to the next 2 MiB; nothing if its owner has reset the target. If refused, prefaulting of
// the range stops.
void prefault_batch(range* control) noexcept {
    const range_lock held(control);
    // Read again under the mutex: the owner may have reset it.
    const std::size_t wanted = control->prefault.target();
    const std::size_t there = control->extent.committed();
    if (wanted <= there) return;
    const std::size_t batch_end = (there + huge_page_alignment) / huge_page_alignment * huge_page_alignment;
    if (prefault_up_to(held, std::min(wanted, batch_end), populate_when::by_touch))
        control->prefault.stop();    // the writer's own commit reports the refusal
}

// Main function of the helper: populates a batch for each range that asks for more, sleeps when there is none, returns when told to.
void prefault_loop() {
    while (!is_ending()) {
        const std::uint32_t seen = helper_wakeups.load(std::memory_order_acquire);
        // One batch for each range that needs more.
        bool worked = false;
        for (range* each = first_of_all(); each != nullptr && !is_ending(); each = each->identity.next_of_all) {
            if (each->prefault.target() <= each->extent.committed()) continue;
            prefault_batch(each);
            worked = true;
        }
        if (!worked && !is_ending()) wait_while(helper_wakeups, seen);
    }
}

void prefaulter_at_fork(fork_moment now) noexcept {
    // The thread is not in the child, which starts a new one at need. Mutexes of ranges are reset by ranges_at_fork().
    if (now != fork_moment::in_child) return;
    if (!is_ending()) helper.store(helper_state::none, std::memory_order_relaxed);
    helper_requests = 0;
}

[[maybe_unused]] const bool prefaulter_forks = at_fork(fork_place::prefaulter, prefaulter_at_fork);

// Writers of static objects that are destroyed later commit for themselves.
void end_prefaulter() noexcept {
    if (!helper_thread_can_be_joined() || helper.exchange(helper_state::ending) != helper_state::running) return;
    wake_helper();
    join_helper_thread();
}

// Starts the helper at first need. True if it runs. A refusal may be temporary (thread limit, no memory for a stack), so it tries again at
// the second call, the fourth, the eighth, ... and each 64th. A caller has committed 2 MiB since its last call.
bool ensure_helper() noexcept {
    helper_state life = helper_state::none;
    // Holds no lock while it makes a thread, which runs code of the program, at least its malloc.
    if (!helper.compare_exchange_strong(life, helper_state::starting)) return life == helper_state::running;
    bool started = false;
    const std::uint32_t asked = ++helper_requests;
    if (((asked & (asked - 1)) == 0 || asked % 64 == 0) && intercept(page_call::other) == 0) {
        end_helper.store(end_prefaulter);
        started = start_helper_thread(prefault_loop);
        if (!started) count_refusal();
    }
    life = helper_state::starting;
    helper.compare_exchange_strong(life, started ? helper_state::running : helper_state::none);    // unless the program ends
    return started;
}

}    // namespace

// Commits under prefault_ahead, up to the end of the batch of `needed` at each call, so that the owner comes back and updates the helper's
// target.
std::size_t prefault_ahead_of(range* control, std::size_t needed, failure& why) noexcept {
    const errno_guard unchanged;    // making and waiting for a thread change it
    why = {};
    const std::size_t reserved = control->size();
    const std::size_t next = std::min(reserved, round_up(needed, huge_page_alignment));
    if (control->extent.committed_acquire() < needed) {
        const range_lock held(control);    // waits while the helper works on the very next batch, or the cache on the range
        // Caught up with the helper: populates one batch here, unless the helper has been faster.
        std::error_code error;
        if (control->extent.committed() < needed) error = prefault_up_to(held, next, populate_when::now);
        if (error) {
            release_unused();
            error = prefault_up_to(held, whole_pages(needed), populate_when::now);
        }
        why = failure_of(error);
        if (error) return 0;
    }
    // Without a helper, when no thread can be made or the program ends, writers commit for themselves.
    control->prefault.set_target(next + std::min({reserved - next, control->policy.ahead(), largest_step()}));
    if (ensure_helper()) wake_helper();
    const std::size_t given = std::min(control->extent.committed(), next);
    control->prefault.give_to_owner(given);
    return given;
}

}}}    // namespace headroom::detail
