#include "range/prefaulter.hpp"

#include <algorithm>

#include "system/at_fork.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constexpr std::size_t batch_bytes = granule;
constexpr std::size_t most_asked = 64;

enum class helper_life : std::uint8_t { none, running, not_to_be_had, ending };

// What the helper and its askers share: constants until they are used, so that there is no order to be initialised in.
constinit constant_mutex queue_mutex;
// Under it:
constinit range* asked[most_asked]{};    // ranges with something wanted
constinit std::size_t asked_count = 0;
constinit helper_life helper = helper_life::none;
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
        first->queued.store(false);
        if (first->wanted.load() > first->ready.load()) {
            first->queued.store(true);
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

// One batch. False when there was nothing to do.
bool work_once() noexcept {
    range* const control = next_asked();
    if (control == nullptr) return false;
    control->batch.lock();
    // Asked again under the lock: the owner may have withdrawn meanwhile.
    const std::size_t wanted = control->wanted.load(std::memory_order_relaxed);
    const std::size_t ready = control->ready.load(std::memory_order_relaxed);
    if (wanted > ready) {
        const std::size_t stop = std::min(wanted, (ready + batch_bytes) / batch_bytes * batch_bytes);
        if (provide(control, stop)) control->wanted.store(0, std::memory_order_relaxed);    // the writer will meet the refusal
    }
    control->batch.unlock();
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

// Whether there is a helper; makes it at first need. Where none is to be had, it is not tried at every append.
bool have_helper() noexcept {
    if (helper == helper_life::none) {
        helper = start_helper_thread(help) ? helper_life::running : helper_life::not_to_be_had;
    }
    return helper == helper_life::running;
}

}    // namespace

void ask_ahead(range* control, std::size_t bytes) noexcept {
    control->wanted.store(bytes);
    if (control->queued.load()) return;    // the helper will find the new figure
    {
        const queue_guard guard;
        if (control->queued.load()) return;
        // (So many writers at once have no use for one helper.)
        if (asked_count == most_asked || !have_helper()) return;
        control->queued.store(true);
        asked[asked_count++] = control;
    }
    call_for_help();
}

void stop_asking(range* control) noexcept {
    const without_helper pause(control);
    control->wanted.store(0, std::memory_order_relaxed);
}

}}}    // namespace headroom::detail
