// The lock under which a concurrent_vector's elements get their place.
//
// It is held for as long as it takes to move a batch of finished elements. A thread that finds it taken looks again a few
// times, pausing in between, then lets others run, and then sleeps for a limited time (the holder may have been
// interrupted). Unlocking is a plain store: sleepers wake by themselves.
//
// After a fork, what a thread of the parent held in the child is held by nobody. So the lock's word is the number of the process
// that took it (its *generation*), and the number of another process counts as free. Each copy of the library counts forks for
// itself: a lock asks the copy that made it, whatever module takes it.
#pragma once

#include <atomic>
#include <cstdint>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Not zero, and another number in a forked child than in its parent. Of this copy of the library.
HEADROOM_API const std::atomic<std::uint32_t>& fork_generation() noexcept;

// Waits while `word` is `value`, without using the processor for long; wakes all that do.
HEADROOM_API void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;
HEADROOM_API void wake_all_of(std::atomic<std::uint32_t>& word) noexcept;

// Not recursive.
class append_lock {
public:
    append_lock() noexcept : generation_(&detail::fork_generation()) {}
    append_lock(const append_lock&) = delete;
    append_lock& operator=(const append_lock&) = delete;

    HEADROOM_ALWAYS_INLINE void lock() noexcept {
        std::uint32_t held = 0;
        if (HEADROOM_UNLIKELY(!word_.compare_exchange_strong(held, generation(), std::memory_order_acquire))) wait();
    }
    [[nodiscard]] bool try_lock() noexcept {
        std::uint32_t held = word_.load(std::memory_order_relaxed);
        return held != generation() && word_.compare_exchange_strong(held, generation(), std::memory_order_acquire);
    }
    HEADROOM_ALWAYS_INLINE void unlock() noexcept { word_.store(0, std::memory_order_release); }

    // The number of the calling process.
    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_->load(std::memory_order_relaxed); }

private:
    HEADROOM_API void wait() noexcept;

    std::atomic<std::uint32_t> word_{0};    // the generation of who holds it
    const std::atomic<std::uint32_t>* generation_;
};

}}}    // namespace headroom::detail
