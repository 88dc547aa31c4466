#include "system/waiting.hpp"

#include <atomic>

#include "system/at_fork.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {
namespace {

constexpr std::size_t most_waiting = 64;

constinit constant_mutex waiting_mutex;
constinit page_range waiting[most_waiting]{};
constinit std::atomic<std::size_t> waiting_count{0};    // written under the lock

void lock_waiting() noexcept { waiting_mutex.lock(); }
void unlock_waiting() noexcept { waiting_mutex.unlock(); }
[[maybe_unused]] const bool waiting_forks = at_fork(fork_place::waiting, {lock_waiting, unlock_waiting, unlock_waiting});

// The last of them, off the list; empty when there is none.
page_range take_one() noexcept {
    if (waiting_count.load(std::memory_order_relaxed) == 0) return {};
    waiting_mutex.lock();
    const std::size_t count = waiting_count.load(std::memory_order_relaxed);
    page_range taken{};
    if (count != 0) {
        taken = waiting[count - 1];
        waiting_count.store(count - 1, std::memory_order_relaxed);
    }
    waiting_mutex.unlock();
    return taken;
}

void let_wait(page_range mapping) noexcept {
    waiting_mutex.lock();
    const std::size_t count = waiting_count.load(std::memory_order_relaxed);
    if (count != most_waiting) {
        waiting[count] = mapping;
        waiting_count.store(count + 1, std::memory_order_relaxed);
    }
    waiting_mutex.unlock();
}

}    // namespace

void release_surely(page_range mapping) noexcept {
    // One given back may be all that the next one lacked.
    for (; mapping.data != nullptr; mapping = take_one()) {
        if (release(mapping) && release(mapping)) return let_wait(mapping);
    }
}

void retry_releases() noexcept { release_surely(take_one()); }

}}}    // namespace headroom::detail
