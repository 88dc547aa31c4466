#include <headroom/detail/concurrent/append_lock.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

#include "system/at_fork.hpp"
#include "system/calls.hpp"
#include "system/platform.hpp"
#include "system/uncancelled.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constinit std::atomic<std::uint32_t> process_generation{1};

void count_fork() noexcept {
    if (process_generation.fetch_add(1, std::memory_order_relaxed) == UINT32_MAX)
        process_generation.store(1, std::memory_order_relaxed);
}

[[maybe_unused]] const bool appending_survives_fork =
    at_fork(fork_place::concurrent_vectors, {[]() noexcept {}, []() noexcept {}, count_fork});

}    // namespace

const std::atomic<std::uint32_t>& fork_generation() noexcept { return process_generation; }

void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
    while (word.load(std::memory_order_acquire) == value) wait_while(word, value);
}
void announce_change(std::atomic<std::uint32_t>& word) noexcept {
    word.fetch_add(1, std::memory_order_release);
    wake_all(word);
}

// Looks again at once for a while, then lets others run, then sleeps for longer and longer, a millisecond at most.
void append_lock::wait() noexcept {
    constexpr unsigned looks = 100, yields = 200;
    constexpr std::chrono::microseconds shortest{20}, longest{1000};
    const kept_errno unchanged;      // a signal may end a sleep
    const uncancelled throughout;    // a sleep may be cancelled, and this may not throw
    auto pause = shortest;
    for (unsigned tries = 0; !try_lock(); ++tries) {
        if (tries < looks) continue;
        if (tries < looks + yields) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(pause);
            pause = std::min(2 * pause, longest);
        }
    }
}

}}}    // namespace headroom::detail
