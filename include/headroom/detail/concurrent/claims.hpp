// How many elements each appender may still publish.
//
// An appender claims room for a batch before it builds the first element of it, so that publishing cannot fail. What it has
// claimed and not built stands in the way of others once the vector is nearly full, so it can be taken back: the appender says
// how far it builds next (one element, or a few where a few more or less do not count), and looks whether it still may; who
// takes back withdraws the claim, and sees what the appender said. That is two threads which each write one word and read the
// other's, and one of them must pass a memory fence in between. It is the one that takes back, by making all threads pass one,
// where the system can do that; an append then costs none. That happens only when a vector is full but for what is claimed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Whether other threads can be made to pass a fence; the same answer for the life of the process.
HEADROOM_API bool threads_can_be_fenced() noexcept;

class claim {
public:
    // --- For the appender's thread.

    // Says that up to `count` elements of this batch will be built, and returns whether that many are surely claimed: then
    // they may be built, whatever is taken back meanwhile. If not, ask announce_with_fence(), and then under the lock.
    HEADROOM_ALWAYS_INLINE bool announce(std::size_t count) noexcept {
        announced_.store(count, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return count <= visible_.load(std::memory_order_relaxed);
    }
    // The same where the appender must pass the fence.
    bool announce_with_fence(std::size_t count) noexcept {
        announced_.exchange(count);
        return count <= valid_.load();
    }
    void announce_none() noexcept { announced_.store(0, std::memory_order_relaxed); }

    // --- Under the vector's lock.

    [[nodiscard]] std::size_t claimed() const noexcept { return claimed_; }
    void set_claimed(std::size_t count) noexcept {
        claimed_ = count;
        valid_.store(count, std::memory_order_relaxed);
        visible_.store(needs_no_fence_ ? count : 0, std::memory_order_relaxed);
    }

    claim* next = nullptr;

private:
    friend class claim_list;

    // Withdraws the claim: announce() and announce_with_fence() then see that nothing is claimed.
    void withdraw() noexcept {
        valid_.store(0);
        visible_.store(0, std::memory_order_relaxed);
    }

    std::atomic<std::size_t> announced_{0};
    std::atomic<std::size_t> visible_{0};    // what announce() sees: nothing where the appender must pass the fence
    std::atomic<std::size_t> valid_{0};      // what is claimed; nothing while it is being taken back
    // What is claimed. (Taking back leaves it alone until it is known what stays: a forked child may find a thread in the middle.)
    std::size_t claimed_ = 0;
    std::uint32_t generation_ = 0;    // the process, by its generation
    bool needs_no_fence_ = detail::threads_can_be_fenced();
};

// The claims of a vector's appenders. All under the vector's lock.
class claim_list {
public:
    // How many are left of appenders that were made in the process with this generation. (Those of another process are not
    // known to be here: a forked child has one of its parent's threads, and an appender may go from thread to thread.)
    // O(appenders).
    [[nodiscard]] std::size_t count_of_generation(std::uint32_t generation) const noexcept {
        std::size_t count = 0;
        for (const claim* each = first_; each != nullptr; each = each->next) count += each->generation_ == generation ? 1U : 0U;
        return count;
    }

    // Each leaves the list whole at any moment: a forked child may find a thread in the middle of it.
    void add(claim& added, std::uint32_t generation) noexcept {
        added.generation_ = generation;
        added.next = first_;
        first_ = &added;
    }
    void remove(claim& removed) noexcept {
        claim** link = &first_;
        while (*link != &removed) link = &(*link)->next;
        *link = removed.next;
    }

    // Takes back what was claimed and will not be built; returns how many elements stay claimed. O(appenders), and a system
    // call.
    [[nodiscard]] HEADROOM_API std::size_t reclaim() noexcept;

private:
    claim* first_ = nullptr;
};

}}}    // namespace headroom::detail
