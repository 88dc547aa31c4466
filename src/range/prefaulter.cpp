#include "range/prefaulter.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "range/extent.hpp"
#include "range/range_calls.hpp"
#include "range/counters.hpp"
#include "system/at_fork.hpp"
#include "system/platform.hpp"
#include "system/uncancelled.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constexpr std::size_t batch_bytes = granule;
constexpr std::size_t most_asked = 64;

enum class helper_life : std::uint8_t { none, running, ending };

// What the helper and its askers share: constants until they are used, so that there is no order to be initialised in.
constinit constant_mutex queue_mutex;
// Under it:
constinit range* asked[most_asked]{};    // ranges with something wanted
constinit std::size_t asked_count = 0;
constinit helper_life helper = helper_life::none;
// Where no thread was to be had: how many askers go without until it is tried again, and how many went the last time.
constinit std::uint32_t asks_to_pass = 0;
constinit std::uint32_t asks_passed = 0;
// Changes whenever there may be something to do.
constinit std::atomic<std::uint32_t> calls_for_help{0};

struct queue_guard {
    queue_guard() noexcept { queue_mutex.lock(); }
    ~queue_guard() { queue_mutex.unlock(); }
    queue_guard(const queue_guard&) = delete;
    queue_guard& operator=(const queue_guard&) = delete;
};

void call_for_help() noexcept {
    calls_for_help.fetch_add(1, std::memory_order_release);
    wake_one(calls_for_help);
}

// The next range that wants something, round robin. Null when there is none.
range* next_asked() noexcept {
    const queue_guard guard;
    while (asked_count > 0) {
        range* const first = asked[0];
        std::copy(asked + 1, asked + asked_count, asked);
        // Sequentially consistent with ask_ahead: either this sees the new figure, or that sees it is not queued.
        first->ahead.queued.store(false);
        if (first->ahead.wanted.load() > first->ahead.ready.load()) {
            first->ahead.queued.store(true);
            asked[asked_count - 1] = first;    // to the end of the queue
            return first;
        }
        --asked_count;
    }
    return nullptr;
}

bool is_ending() noexcept {
    const queue_guard guard;
    return helper == helper_life::ending;
}

// Provides [ready, to) of the range, as huge pages where possible: commit, advise, populate. The helper's batch, and the
// writer's own when it has caught up. Under the range's `batch`. Sets `ready`.
std::error_code provide(range* control, std::size_t to) noexcept {
    const commit_clock clock;
    const std::size_t from = committed_of(control);
    if (to > from) {
        // Access is granted far ahead in one call: each such call would hold up the other thread's page faults.
        const std::size_t wanted = std::min(control->ahead.wanted.load(std::memory_order_relaxed), control->size());
        std::size_t further = std::max(to, wanted);
        if (further > control->extent.accessible) {
            std::error_code error = make_accessible(control, further);
            if (error && further > to) {
                further = to;
                error = make_accessible(control, to);
            }
            if (error) return error;
        }
        clear_stale(control, from, further);
        set_committed(control, further);
    }
    const std::size_t ready = control->ahead.ready.load(std::memory_order_relaxed);
    if (to > ready) {
        const std::error_code error = prefault(control->part(ready, to));
        if (error == std::errc::not_enough_memory) return error;
        if (!error) count_faults_avoided((to - ready) / page_size());
        control->set_memory(std::max(control->memory(), to));
        control->ahead.ready.store(to, std::memory_order_release);
    }
    return {};
}

// One batch. False when there was nothing to do.
bool work_once() noexcept {
    range* const control = next_asked();
    if (control == nullptr) return false;
    control->ahead.batch.lock();
    // Asked again under the lock: the owner may have withdrawn meanwhile.
    const std::size_t wanted = control->ahead.wanted.load(std::memory_order_relaxed);
    const std::size_t ready = control->ahead.ready.load(std::memory_order_relaxed);
    if (wanted > ready) {
        const std::size_t stop = std::min(wanted, (ready + batch_bytes) / batch_bytes * batch_bytes);
        if (provide(control, stop))
            control->ahead.wanted.store(0, std::memory_order_relaxed);    // the writer will meet the refusal
    }
    control->ahead.batch.unlock();
    return true;
}

void help() {
    lower_thread_priority();
    for (;;) {
        const std::uint32_t seen = calls_for_help.load(std::memory_order_acquire);
        bool worked = true;
        while (worked) {
            if (is_ending()) return;
            worked = work_once();
        }
        wait_while(calls_for_help, seen);
    }
}

void lock_queue() noexcept { queue_mutex.lock(); }
void unlock_queue() noexcept { queue_mutex.unlock(); }
void child_of_prefaulter() noexcept {
    // The thread did not come along; a new one is made when the child asks. (The ranges' own part of this is the registry's.)
    asked_count = 0;
    if (helper == helper_life::running) helper = helper_life::none;
    asks_to_pass = asks_passed = 0;
    queue_mutex.unlock();
}

[[maybe_unused]] const bool prefaulter_forks = at_fork(fork_place::prefaulter, {lock_queue, unlock_queue, child_of_prefaulter});

// Ends the helper when the code is unloaded, or the program ends. Ranges may live longer, in other static objects: their
// writers provide for themselves from then on.
struct helper_end {
    ~helper_end() {
        if (!helper_thread_can_be_joined()) return;
        bool running;
        {
            const queue_guard guard;
            running = helper == helper_life::running;
            helper = helper_life::ending;
        }
        if (!running) return;
        call_for_help();
        join_helper_thread();
    }
};
[[maybe_unused]] const helper_end end_helper;

// Whether there is a helper; makes it at first need. A refusal may be of the moment (as many threads as are allowed, or no memory
// for a stack), so it is tried again: after one asker more, two, four, up to 64. An asker has provided 2 MiB since the last.
bool have_helper() noexcept {
    if (helper != helper_life::none) return helper == helper_life::running;
    if (asks_to_pass != 0) {
        --asks_to_pass;
        return false;
    }
    if (intercept(page_call::other) == 0) {
        if (start_helper_thread(help)) {
            helper = helper_life::running;
            asks_passed = 0;
            return true;
        }
        note_refusal();
    }
    constexpr std::uint32_t most_to_pass = 64;
    asks_to_pass = asks_passed = std::clamp<std::uint32_t>(2 * asks_passed, 1, most_to_pass);
    return false;
}

// Asks the helper to provide [ready, bytes) of the range. Never fails: without a helper (no thread to be had, or a program
// that ends) writers provide for themselves.
void ask_ahead(range* control, std::size_t bytes) noexcept {
    control->ahead.wanted.store(bytes);
    if (control->ahead.queued.load()) return;    // the helper will find the new figure
    {
        const queue_guard guard;
        if (control->ahead.queued.load()) return;
        // (So many writers at once have no use for one helper.)
        if (asked_count == most_asked || !have_helper()) return;
        control->ahead.queued.store(true);
        asked[asked_count++] = control;
    }
    call_for_help();
}

// The helper is at the batch that its writer waits for. Instead of waiting the writer provides one that the helper will come
// to: not the very next, at which both would then be. False when that is past what is wanted.
bool help_ahead(range* control, std::size_t ready, std::size_t ahead) noexcept {
    const std::size_t from = ready / granule * granule + 2 * granule;
    const std::size_t to = from + granule;
    if (to > std::min(ahead, committed_of(control)) || to <= control->ahead.helped) return false;
    control->ahead.helped = to;
    return !prefault(control->part(from, to));    // a refusal is the helper's to meet
}

std::size_t extend_ahead(range* control, std::size_t needed, std::error_code& error) noexcept {
    const kept_errno unchanged;      // a signal may end a sleep
    const uncancelled throughout;    // a sleep may be cancelled, and this may not throw
    const std::size_t reserved = control->size();
    const std::size_t next = std::min(reserved, round_up(needed, granule));
    const std::size_t ahead = next + std::min(reserved - next, control->terms.policy.ahead());
    if (control->ahead.ready.load(std::memory_order_relaxed) == 0) {
        const without_helper pause(control);
        advise_huge_once(control);
        control->ahead.ready.store(committed_of(control), std::memory_order_release);
    }
    for (unsigned tries = 0;; ++tries) {
        const std::size_t ready = control->ahead.ready.load(std::memory_order_acquire);
        if (ready >= needed) {
            ask_ahead(control, ahead);
            return control->ahead.handed = std::min(ready, round_up(needed, granule));
        }
        if (control->ahead.batch.try_lock()) {
            // Caught up, and nothing in hand: provide one batch here. (The helper may have been faster after all.)
            if (control->ahead.ready.load(std::memory_order_relaxed) < needed) {
                error = provide(control, std::min(reserved, round_up(needed, granule)));
                if (error) error = provide(control, whole_pages(needed));
            }
            control->ahead.batch.unlock();
            if (error) return 0;
            continue;
        }
        if (tries == 0 && help_ahead(control, ready, ahead)) continue;
        if (tries < 100) std::this_thread::yield();
        else std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

}    // namespace

// What the helper has provided is handed out a batch at a time, so that it keeps being told.
std::size_t fill_ahead(range* control, std::size_t needed, failure& why) noexcept {
    std::error_code error;
    const std::size_t committed = extend_ahead(control, needed, error);
    why = failure_of(error);
    return committed;
}

}}}    // namespace headroom::detail
