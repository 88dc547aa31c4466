// The lock of a concurrent_vector, under which elements get their places.
//
// Held only to move a batch of finished elements. A thread that finds it taken spins a few times with pauses, then yields, then sleeps for
// a limited time, because the holder may have been interrupted. Unlocking is a plain store: sleepers wake by themselves.
//
// In a forked child, locks held by other threads of the parent are free: the lock's word is the number of the process that took it (its
// *generation*), and another process's number counts as free. Each copy of the library counts forks for itself; a lock uses the copy that
// made it, whichever module takes it.
#pragma once

#include <atomic>
#include <cstdint>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Returns the process's generation: not zero, and another number in a forked child than in its parent. One for each copy of the library.
HEADROOM_API const std::atomic<std::uint32_t>& fork_generation() noexcept;

// Wait while `word` is `value`, sleeping; change `word` and wake all threads that wait on it.
HEADROOM_API void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;
HEADROOM_API void wake_all_of(std::atomic<std::uint32_t>& word) noexcept;

// A spin lock that is not recursive. Free in a forked child.
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

    // The generation of the calling process.
    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_->load(std::memory_order_relaxed); }

private:
    HEADROOM_API void wait() noexcept;

    std::atomic<std::uint32_t> word_{0};    // generation of the holder; 0: free
    const std::atomic<std::uint32_t>* generation_;
};

// The two locks of a concurrent_vector, each a type of its own, so that neither is taken for the other.
class slots_lock : public append_lock {};     // places of elements, size, claims
class memory_lock : public append_lock {};    // the range: its committed memory, access and name. Taken after slots_lock

// Holds a lock until unlock() or the end of its scope. What requires a lock takes one of these: only who has locked has it.
template <class Lock>
class locked {
public:
    HEADROOM_ALWAYS_INLINE explicit locked(Lock& lock) noexcept : lock_(&lock) { lock.lock(); }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;
    HEADROOM_ALWAYS_INLINE locked(locked&& from) noexcept : lock_(from.lock_) { from.lock_ = nullptr; }
    HEADROOM_ALWAYS_INLINE locked& operator=(locked&& from) noexcept {
        if (lock_ != nullptr) lock_->unlock();
        lock_ = from.lock_;
        from.lock_ = nullptr;
        return *this;
    }
    HEADROOM_ALWAYS_INLINE ~locked() {
        if (lock_ != nullptr) lock_->unlock();
    }

    // Takes the lock if no thread holds it; otherwise the result holds nothing.
    [[nodiscard]] static locked if_free(Lock& lock) noexcept { return locked(lock.try_lock() ? &lock : nullptr); }
    [[nodiscard]] bool holds() const noexcept { return lock_ != nullptr; }

    // Holds nothing from here on. Precondition: holds().
    HEADROOM_ALWAYS_INLINE void unlock() noexcept {
        lock_->unlock();
        lock_ = nullptr;
    }

private:
    explicit locked(Lock* taken) noexcept : lock_(taken) {}

    Lock* lock_;    // null: none is held
};
using slots_locked = locked<slots_lock>;
using memory_locked = locked<memory_lock>;

}}}    // namespace headroom::detail
