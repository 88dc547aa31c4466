// Claims of a concurrent_vector's appenders: how many elements each may still publish.
//
// An appender claims slots, for a large batch step by step, before it builds elements for them, so that publishing cannot fail. Slots that
// it has claimed and not used are missing to others once the vector is nearly full, so they can be reclaimed. The appender announces how
// far it builds next (one element, or a few if exact counts do not matter), and checks that the claim still covers it; a reclaiming
// thread withdraws the claim and reads the announcement. Each of the two writes one word and reads the other's, so one must pass a memory
// fence in between. That is the reclaiming thread, which makes all threads pass one, where the system can do that; an append then costs no
// fence. Happens only when slots are short without the claimed ones.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/concurrent/append_lock.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// True if the system can make other threads pass a memory fence. Constant during the process's life.
HEADROOM_API bool threads_can_be_fenced() noexcept;

class claim {
public:
    // --- Called by the appender's thread.

    // Announces that up to `count` elements of this batch will be built. True if the claim covers them: they may be built, even if slots
    // are reclaimed meanwhile. Otherwise use announce_with_fence(), then the lock.
    HEADROOM_ALWAYS_INLINE bool announce(std::size_t count) noexcept {
        announced_.store(count, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return count <= visible_.load(std::memory_order_relaxed);
    }
    // Like announce(), with a full memory fence of its own. For systems where reclaim() cannot fence other threads.
    bool announce_with_fence(std::size_t count) noexcept {
        announced_.exchange(count);
        return count <= valid_.load();
    }
    void withdraw_announcement() noexcept { announced_.store(0, std::memory_order_relaxed); }

    // --- Called by any thread.

    // Returns the number of slots claimed.
    [[nodiscard]] std::size_t claimed(const slots_locked&) const noexcept { return claimed_; }
    // Sets it, and validates the claim.
    void set_claimed(const slots_locked&, std::size_t count) noexcept {
        claimed_ = count;
        valid_.store(count, std::memory_order_relaxed);
        visible_.store(needs_no_fence_ ? count : 0, std::memory_order_relaxed);
    }

private:
    friend class claim_list;

    // Withdraws the claim until set_claimed(). announce_with_fence() returns false from here on, announce() once its thread has passed the
    // fence.
    void withdraw(const slots_locked&) noexcept {
        valid_.store(0);
        visible_.store(0, std::memory_order_relaxed);
    }

    std::atomic<std::size_t> announced_{0};
    std::atomic<std::size_t> visible_{0};    // claim as announce() sees it; 0 if the appender must pass the fence
    std::atomic<std::size_t> valid_{0};      // claimed elements; 0 while they are being reclaimed
    // Claimed elements. Stays while reclaim() withdraws the claim, because a forked child may find a thread in the middle.
    std::size_t claimed_ = 0;
    claim* next_ = nullptr;           // in the vector's list
    std::uint32_t generation_ = 0;    // generation of the process that made it
    bool needs_no_fence_ = detail::threads_can_be_fenced();
};

// The claims of a vector's appenders.
class claim_list {
public:
    // Returns the number of appenders made in the process with this generation. A forked child has one thread of its parent and cannot
    // know whether the parent's appenders came along. O(appenders).
    [[nodiscard]] std::size_t count_of_generation(const slots_locked&, std::uint32_t generation) const noexcept {
        std::size_t count = 0;
        for (const claim* each = first_; each != nullptr; each = each->next_) count += each->generation_ == generation ? 1U : 0U;
        return count;
    }

    // Add and remove a claim. The list is intact at any moment, because a forked child may find a thread in the middle.
    void add(const slots_locked&, claim& added, std::uint32_t generation) noexcept {
        added.generation_ = generation;
        added.next_ = first_;
        first_ = &added;
    }
    void remove(const slots_locked&, claim& removed) noexcept {
        claim** link = &first_;
        while (*link != &removed) link = &(*link)->next_;
        *link = removed.next_;
    }

    // Reduces each claim to what its appender has announced; if the other threads cannot be fenced, all stay. Returns the elements that
    // stay claimed. O(appenders), and at most a system call.
    [[nodiscard]] HEADROOM_API std::size_t reclaim(const slots_locked&) noexcept;

private:
    claim* first_ = nullptr;
};

}}}    // namespace headroom::detail
