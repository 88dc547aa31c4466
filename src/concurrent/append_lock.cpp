#include <headroom/detail/concurrent/append_lock.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

#include "system/at_fork.hpp"
#include "system/calls.hpp"
#include "system/platform.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

constinit thread_local std::size_t number_of_thread = 0;

namespace {

constinit std::atomic<std::uint32_t> process_generation{1};
constinit std::atomic<std::size_t> next_thread{append_lock::nobody + 1};
constinit std::atomic<std::size_t> first_thread_of_process{append_lock::nobody + 1};

void no_thread_of_parent() noexcept {
    const std::uint32_t next = process_generation.load(std::memory_order_relaxed) + 1;
    process_generation.store(next == 0 ? 1 : next, std::memory_order_relaxed);
    // This thread too gets a new number, so that all smaller ones are of threads that are not here.
    first_thread_of_process.store(next_thread.load(std::memory_order_relaxed), std::memory_order_relaxed);
    number_of_thread = 0;
}

[[maybe_unused]] const bool appending_survives_fork =
    at_fork(fork_place::concurrent_vectors, {[]() noexcept {}, []() noexcept {}, no_thread_of_parent});

// Looks again at once for a while, then lets others run, then sleeps for longer and longer, a millisecond at most.
template <class Done>
void look_until(Done done) noexcept {
    constexpr unsigned looks = 100, yields = 200;
    constexpr std::chrono::microseconds shortest{20}, longest{1000};
    const kept_errno unchanged;    // a signal may end a sleep
    auto pause = shortest;
    for (unsigned tries = 0; !done(); ++tries) {
        if (tries < looks) continue;
        if (tries < looks + yields) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(pause);
            pause = std::min(2 * pause, longest);
        }
    }
}

}    // namespace

const std::atomic<std::uint32_t>& fork_generation() noexcept { return process_generation; }

bool threads_can_be_fenced() noexcept { return other_threads_can_be_fenced(); }
bool fence_threads() noexcept { return fence_other_threads(); }

void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
    while (word.load(std::memory_order_acquire) == value) wait_while(word, value);
}
void announce_change(std::atomic<std::uint32_t>& word) noexcept {
    word.fetch_add(1, std::memory_order_release);
    wake_all(word);
}

void short_lock::wait() noexcept {
    look_until([this] { return try_lock(); });
}

// Called by who holds the lock of the others, where there is an owner or has not been one yet.
void append_lock::settle_owner(std::size_t me) noexcept {
    const std::size_t owner = owner_.load(std::memory_order_relaxed);
    // (Of a thread that did not come along when the process forked nothing is left.)
    if (owner == none_yet || (owner != nobody && owner < first_thread_of_process.load(std::memory_order_relaxed))) {
        busy_.store(0, std::memory_order_relaxed);
        if (me == 0) me = number_of_thread = next_thread.fetch_add(1, std::memory_order_relaxed);
        // From the next time on. (A thread that shall not become the owner calls itself none_yet.)
        owner_.store(threads_can_be_fenced() ? me : nobody, std::memory_order_relaxed);
        return;
    }
    owner_.store(nobody, std::memory_order_relaxed);
    // Refused though it was possible: then time must do, as no processor keeps a store to itself for so long.
    const kept_errno unchanged;
    if (!fence_threads()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    look_until([this] { return busy_.load(std::memory_order_acquire) == 0; });
}

}}}    // namespace headroom::detail
