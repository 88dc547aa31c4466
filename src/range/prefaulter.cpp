// The helper thread that provides memory ahead of writers: one for the process, of low priority, started at first need.
//
// The promise: while it is ahead, an append makes no system call that provides memory. A writer that catches up provides
// for itself, or, where the helper has the very next pages in hand, waits for that one batch (a huge page, or 2 MiB of
// ordinary pages). Each range has a lock of its own for that: what the helper does to one range holds up no other.
//
// It is delivered no signal, does not come along into a forked child (which makes its own at need), and is gone before the
// code that it runs: when that is unloaded, or the program ends.
#include <algorithm>
#include <atomic>

#include "range/extent.hpp"
#include "range/counters.hpp"
#include "range/range_calls.hpp"
#include "range/registry.hpp"
#include "system/at_fork.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

enum class helper_state : std::uint8_t { none, starting, running, ending };

// What the helper and its askers share: constants until they are used, so that there is no order to be initialised in.
constinit std::atomic<helper_state> helper{helper_state::none};
// Changes whenever there may be something to do.
constinit std::atomic<std::uint32_t> helper_wakeups{0};
// How many have asked for a helper and found none. Only who holds helper_state::starting touches it.
constinit std::uint32_t failed_requests = 0;

void wake_helper() noexcept {
    helper_wakeups.fetch_add(1, std::memory_order_release);
    wake_one(helper_wakeups);
}

bool is_ending() noexcept { return helper.load(std::memory_order_relaxed) == helper_state::ending; }

// Provides [committed, to) of the range, as huge pages where possible. The helper's batch, and the writer's own when it has caught up.
// Under the range's `batch`.
std::error_code prefault_up_to(range* control, std::size_t to) noexcept {
    const commit_clock clock;
    advise_huge_once(control);
    // Access is granted far ahead in one call: each such call would hold up the other thread's page faults.
    const std::size_t wanted = std::min(control->prefault.target.load(std::memory_order_relaxed), control->size());
    if (to > control->extent.accessible && to < wanted) (void)make_accessible(control, wanted);
    return commit_up_to(control, to, populate_when::now);
}

// One batch.
void prefault_batch(range* control) noexcept {
    prefault_state& prefault = control->prefault;
    prefault.mutex.lock();
    // Asked again under the lock: the owner may have withdrawn meanwhile.
    const std::size_t wanted = prefault.target.load(std::memory_order_relaxed);
    const std::size_t there = committed_of(control);
    if (wanted > there &&
        prefault_up_to(control, std::min(wanted, (there + huge_page_alignment) / huge_page_alignment * huge_page_alignment)))
        prefault.target.store(0,
                              std::memory_order_relaxed);    // stops asking: the commit of the writer itself reports the refusal
    prefault.mutex.unlock();
    prefault.batch_count.fetch_add(1, std::memory_order_release);
    wake_all(prefault.batch_count);
}

void prefault_loop() {
    lower_thread_priority();
    while (!is_ending()) {
        const std::uint32_t seen = helper_wakeups.load(std::memory_order_acquire);
        // A batch for each that wants more than it has.
        bool worked = false;
        for (range* each = first_of_all(); each != nullptr && !is_ending(); each = each->identity.next_of_all) {
            if (each->prefault.target.load(std::memory_order_relaxed) <= committed_of(each)) continue;
            prefault_batch(each);
            worked = true;
        }
        if (!worked && !is_ending()) wait_while(helper_wakeups, seen);
    }
}

void prefaulter_at_fork(fork_moment now) noexcept {
    // The thread did not come along; a new one is made when the child asks. (The ranges' own part of this is the registry's.)
    if (now != fork_moment::in_child) return;
    if (!is_ending()) helper.store(helper_state::none, std::memory_order_relaxed);
    failed_requests = 0;
}

[[maybe_unused]] const bool prefaulter_forks = at_fork(fork_place::prefaulter, prefaulter_at_fork);

// Ends the helper when the code is unloaded, or the program ends. Ranges may live longer, in other static objects: their
// writers provide for themselves from then on.
struct helper_end {
    ~helper_end() {
        if (!helper_thread_can_be_joined() || helper.exchange(helper_state::ending) != helper_state::running) return;
        wake_helper();
        join_helper_thread();
    }
};
[[maybe_unused]] const helper_end end_helper;

// Whether there is a helper; makes it at first need. A refusal may be of the moment (as many threads as are allowed, or no memory
// for a stack), so it is tried again: when the second asks, the fourth, the eighth, ... and each 64th. An asker has provided 2 MiB since
// the last.
bool ensure_helper() noexcept {
    helper_state life = helper_state::none;
    // (No lock is held while a thread is made: that runs code of the program's, its malloc at least.)
    if (!helper.compare_exchange_strong(life, helper_state::starting)) return life == helper_state::running;
    bool started = false;
    const std::uint32_t asked = ++failed_requests;
    if (((asked & (asked - 1)) == 0 || asked % 64 == 0) && intercept(page_call::other) == 0) {
        started = start_helper_thread(prefault_loop);
        if (!started) count_refusal();
    }
    life = helper_state::starting;
    helper.compare_exchange_strong(life, started ? helper_state::running : helper_state::none);    // unless the program ends
    return started;
}

}    // namespace

// Hands out a batch of what the helper has provided at each call, so that the owner comes back and says anew how far it wants more.
std::size_t prefault_ahead_of(range* control, std::size_t needed, failure& why) noexcept {
    const errno_guard unchanged;    // making a thread, and waiting for one
    why = {};
    prefault_state& prefault = control->prefault;
    const std::size_t reserved = control->size();
    const std::size_t next = std::min(reserved, round_up(needed, huge_page_alignment));
    for (;;) {
        const std::uint32_t seen = prefault.batch_count.load(std::memory_order_acquire);
        if (control->extent.committed.load(std::memory_order_acquire) >= needed) break;
        if (!prefault.mutex.try_lock()) {
            wait_while(prefault.batch_count, seen);    // the helper has the very next batch in hand
            continue;
        }
        // Caught up, and nothing in hand: provide one batch here. (The helper may have been faster after all.)
        std::error_code error;
        if (committed_of(control) < needed) {
            error = prefault_up_to(control, next);
            if (error) {
                release_unused();
                error = prefault_up_to(control, whole_pages(needed));
            }
        }
        prefault.mutex.unlock();
        why = failure_of(error);
        if (error) return 0;
    }
    // (Without a helper, where no thread is to be had or the program ends, writers provide for themselves.)
    prefault.target.store(next + std::min(reserved - next, control->creation.policy.ahead()), std::memory_order_relaxed);
    if (ensure_helper()) wake_helper();
    return prefault.given_to_owner = std::min(committed_of(control), next);
}

}}}    // namespace headroom::detail
