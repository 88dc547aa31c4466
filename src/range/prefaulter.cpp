#include "range/prefaulter.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "system/at_fork.hpp"
#include "system/platform.hpp"
#include "range/registry.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constexpr std::size_t batch_bytes = granule;

// What the helper and its askers share. Made at first need and never destroyed: the helper outlives main.
struct helper_state {
    std::mutex batch;                       // held during a batch, and by owners that must not meet one
    std::mutex queue;                       // guards what follows
    std::condition_variable work;
    static constexpr std::size_t most_asked = 64;
    range* asked[most_asked] = {};          // ranges with something wanted
    std::size_t count = 0;
    bool running = false;                   // whether there is a helper thread in this process
};

constinit std::atomic<helper_state*> state{nullptr};

// One batch of the first range that still wants something, round robin. False when there was nothing to do.
bool work_once(helper_state& helper) noexcept {
    range* control = nullptr;
    {
        const std::lock_guard lock(helper.queue);
        while (helper.count > 0) {
            range* const first = helper.asked[0];
            std::copy(helper.asked + 1, helper.asked + helper.count, helper.asked);
            // Sequentially consistent with ask_ahead: either this sees the new figure, or that sees it is not queued.
            first->queued.store(false);
            if (first->wanted.load() > first->ready.load()) {
                first->queued.store(true);
                helper.asked[helper.count - 1] = first;    // to the end of the queue
                control = first;
                break;
            }
            --helper.count;
        }
    }
    if (control == nullptr) return false;
    const std::lock_guard batch(helper.batch);
    // Asked again under the lock: the owner may have withdrawn meanwhile.
    const std::size_t wanted = control->wanted.load(std::memory_order_relaxed);
    const std::size_t ready = control->ready.load(std::memory_order_relaxed);
    if (wanted > ready) {
        const std::size_t stop = std::min(wanted, (ready + batch_bytes) / batch_bytes * batch_bytes);
        if (provide(control, stop)) control->wanted.store(0, std::memory_order_relaxed);    // the writer will meet the refusal
    }
    return true;
}

void help(helper_state* helper) noexcept {
    lower_thread_priority();
    for (;;) {
        while (work_once(*helper)) {
        }
        std::unique_lock lock(helper->queue);
        helper->work.wait(lock, [=] { return helper->count > 0; });
    }
}

// A fork while the helper works must find no lock held in the child, and the child has no helper.
void before_fork_of_helper() noexcept {
    if (helper_state* const helper = state.load()) {
        helper->batch.lock();
        helper->queue.lock();
    }
}
void after_fork_of_helper() noexcept {
    if (helper_state* const helper = state.load()) {
        helper->queue.unlock();
        helper->batch.unlock();
    }
}
void child_of_helper() noexcept {
    if (helper_state* const helper = state.load()) {
        std::for_each(helper->asked, helper->asked + helper->count, [](range* each) { each->queued.store(false); });
        helper->queue.unlock();
        helper->batch.unlock();
        state.store(nullptr);    // the thread did not come along; a new one is made when the child asks
    }
}

helper_state* the_helper() noexcept {
    helper_state* helper = state.load(std::memory_order_acquire);
    if (helper != nullptr) return helper;
    const registry_guard guard;
    helper = state.load(std::memory_order_acquire);
    if (helper != nullptr) return helper;
    helper = new (std::nothrow) helper_state;
    if (helper == nullptr) return nullptr;
    try {
        std::thread(help, helper).detach();
        helper->running = true;
    } catch (...) {
        // No thread to be had. Writers provide for themselves; the state stays, so that it is not tried at every append.
    }
    state.store(helper, std::memory_order_release);
    return helper;
}

// Set before main, so that forks before the first range are covered as well.
[[maybe_unused]] const bool helper_forks =
    at_fork(fork_place::prefaulter, {before_fork_of_helper, after_fork_of_helper, child_of_helper});

}  // namespace

void ask_ahead(range* control, std::size_t bytes) noexcept {
    helper_state* const helper = the_helper();
    if (helper == nullptr || !helper->running) return;
    control->wanted.store(bytes);
    if (control->queued.load()) return;    // the helper will find the new figure
    {
        const std::lock_guard lock(helper->queue);
        if (control->queued.load()) return;
        if (helper->count == helper_state::most_asked) return;    // so many writers at once have no use for one helper
        control->queued.store(true);
        helper->asked[helper->count++] = control;
    }
    helper->work.notify_one();
}

void stop_asking(range* control) noexcept {
    helper_state* const helper = state.load(std::memory_order_acquire);
    if (helper == nullptr) return;
    const std::lock_guard batch(helper->batch);
    control->wanted.store(0, std::memory_order_relaxed);
}

helper_pause::helper_pause() noexcept {
    if (helper_state* const helper = state.load(std::memory_order_acquire)) {
        locked_ = &helper->batch;
        locked_->lock();
    }
}

helper_pause::helper_pause(std::try_to_lock_t) noexcept {
    if (helper_state* const helper = state.load(std::memory_order_acquire)) {
        if (helper->batch.try_lock())
            locked_ = &helper->batch;
        else
            paused_ = false;
    }
}

helper_pause::~helper_pause() {
    if (locked_ != nullptr) locked_->unlock();
}

}}}  // namespace headroom::detail
