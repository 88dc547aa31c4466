// The lock under which a concurrent_vector's elements get their place.
//
// It is held for as long as it takes to move a batch of finished elements, so whoever finds it taken looks again a few times
// before it lets others run, and only sleeps where that has not helped either (the holder may have been interrupted).
// Unlocking is a plain store: sleepers wake by themselves.
//
// Most vectors are appended to by one thread, or by one thread at first. An atomic exchange is what costs most then, so the
// first thread that locks becomes the lock's owner and does without one: it says that it is busy, and looks whether it still
// is the owner. The first other thread takes that away for good. It must know that the owner has seen it, or else that it sees
// the owner busy; for that it makes all threads of the process pass a memory fence, which the owner then needs none of. Where the
// system cannot do that, no thread ever is an owner.
//
// After a fork, what a thread of the parent held in the child is held by nobody. So who holds a lock leaves the number of its
// process (its *generation*), and a number of another process is ignored; threads have numbers too, which are never used again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Not zero, and another number in a forked child than in its parent.
HEADROOM_API const std::atomic<std::uint32_t>& fork_generation() noexcept;

// Whether other threads can be made to pass a fence; the same answer for the life of the process.
HEADROOM_API bool threads_can_be_fenced() noexcept;
// Makes them. False where the system refuses this time.
HEADROOM_API bool fence_threads() noexcept;

// Waits while `word` is `value`, without using the processor for long; wakes all that do.
HEADROOM_API void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;
HEADROOM_API void announce_change(std::atomic<std::uint32_t>& word) noexcept;

// The calling thread's number, or 0 while it has none.
HEADROOM_API extern constinit thread_local std::size_t number_of_thread;

// The plain lock: an atomic exchange to lock it, a store to unlock it. Not recursive.
class short_lock {
public:
    short_lock() noexcept : generation_(&detail::fork_generation()) {}
    short_lock(const short_lock&) = delete;
    short_lock& operator=(const short_lock&) = delete;

    HEADROOM_ALWAYS_INLINE void lock() noexcept {
        std::uint32_t held = 0;
        if (HEADROOM_UNLIKELY(!word_.compare_exchange_strong(held, generation(), std::memory_order_acquire))) wait();
    }
    [[nodiscard]] bool try_lock() noexcept {
        std::uint32_t held = word_.load(std::memory_order_relaxed);
        return held != generation() && word_.compare_exchange_strong(held, generation(), std::memory_order_acquire);
    }
    HEADROOM_ALWAYS_INLINE void unlock() noexcept { word_.store(0, std::memory_order_release); }

private:
    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_->load(std::memory_order_relaxed); }
    HEADROOM_API void wait() noexcept;

    std::atomic<std::uint32_t> word_{0};    // the generation of who holds it
    const std::atomic<std::uint32_t>* generation_;
};

// The lock that may have an owner.
class append_lock {
public:
    // True where the calling thread holds it as its owner: unlock() wants to know. Not recursive.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE bool lock() noexcept {
        const std::size_t me = detail::number_of_thread;
        if (owner_.load(std::memory_order_relaxed) == me && become_busy(me)) return true;
        lock_as_other(me);
        return false;
    }
    // The same for a thread that does not append, and so shall not become the owner.
    [[nodiscard]] bool lock_not_as_owner() noexcept {
        lock_as_other(none_yet);
        return false;
    }
    HEADROOM_ALWAYS_INLINE void unlock(bool as_owner) noexcept {
        if (as_owner) {
            busy_.store(0, std::memory_order_release);
        } else {
            others_.unlock();
        }
    }

    // Numbers that no thread has. (0 neither: a thread that has none must not be taken for the owner.)
    static constexpr std::size_t none_yet = 1, nobody = 2;

private:
    HEADROOM_ALWAYS_INLINE bool become_busy(std::size_t me) noexcept {
        busy_.store(1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);    // the processor may turn this round; see settle_owner()
        if (HEADROOM_UNLIKELY(owner_.load(std::memory_order_relaxed) != me)) {
            busy_.store(0, std::memory_order_release);
            return false;
        }
        return true;
    }
    HEADROOM_ALWAYS_INLINE void lock_as_other(std::size_t me) noexcept {
        others_.lock();
        if (HEADROOM_UNLIKELY(owner_.load(std::memory_order_relaxed) != nobody)) settle_owner(me);
    }

    HEADROOM_API void settle_owner(std::size_t me) noexcept;

    short_lock others_;
    std::atomic<std::size_t> owner_{none_yet};
    std::atomic<std::uint32_t> busy_{0};    // 1 while the owner holds the lock
};

// Holds a lock until the end of a block, or until unlock().
class append_section {
public:
    HEADROOM_ALWAYS_INLINE explicit append_section(append_lock& lock) noexcept : lock_(&lock), as_owner_(lock.lock()) {}
    HEADROOM_ALWAYS_INLINE ~append_section() {
        if (lock_ != nullptr) lock_->unlock(as_owner_);
    }
    struct not_as_owner {};
    append_section(append_lock& lock, not_as_owner) noexcept : lock_(&lock), as_owner_(lock.lock_not_as_owner()) {}
    append_section(const append_section&) = delete;
    append_section& operator=(const append_section&) = delete;

    HEADROOM_ALWAYS_INLINE void unlock() noexcept {
        lock_->unlock(as_owner_);
        lock_ = nullptr;
    }
    void lock_again(append_lock& lock) noexcept {
        as_owner_ = lock.lock();
        lock_ = &lock;
    }

private:
    append_lock* lock_;
    bool as_owner_;
};

}}}    // namespace headroom::detail
