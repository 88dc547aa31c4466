// SPDX-License-Identifier: MIT
// The control block of a reserved range, shared by the registry, the cache, the helper thread and the range's own calls.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <utility>

#include <headroom/reservation.hpp>

#include "system/calls.hpp"
#include "system/constant_mutex.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// The functions that a policy holds pointers to.
struct policy_calls {
    [[nodiscard]] static auto prefault_call(const commit_policy& policy) noexcept { return policy.prefault_call_; }
    [[nodiscard]] static auto mapping(const commit_policy& policy) noexcept { return policy.premap_call_; }
};

inline constexpr std::size_t max_name_length = 79;    // bytes, as the kernel allows

enum class range_state : std::uint32_t { unused, live, cached };

struct range_list;

struct published_places;
class range_lock;
class locked_range;
// When pages get memory. by_touch: now, and where the system has no call for that, by writing to each page. by_owner: at first touch;
// counts as populated, since the owner mostly writes to all of them next.
enum class populate_when { now, by_touch, by_owner, at_first_touch };

// Control blocks are reused, never freed, because a lookup may hold a pointer to one whose range was unmapped.
//
//   base         committed        accessible       memory                       reserved
//   | in use ... | idle           | inaccessible,  | inaccessible, never        | guard
//   |            |                | memory is warm | touched                    |
//
// `accessible` and `memory` may be in either order: memory arrives at first touch, or is left by an earlier owner.

// Fields that owner_of() and other processes read at any time, without a lock. A seqlock: `version` is odd while an identity_writer changes
// base, size or label, so a reader that sees one even version before and after has a consistent snapshot.
struct range_identity {
    std::atomic<std::uint32_t> version{0};
    std::atomic<range_state> state{range_state::unused};
    std::atomic<std::byte*> base{nullptr};
    std::atomic<std::size_t> reserved{0};    // bytes, a multiple of the page size
    range* next_of_all = nullptr;            // list of all blocks; set before the block is published
};
// The name: 80 bytes of text; empty if it has none.
using range_label = std::array<std::atomic<std::size_t>, (max_name_length + 1) / sizeof(std::size_t)>;

// Extent in bytes from the base. Only the functions of extent.hpp change it, and the members here that are not const: under the range's
// mutex, or while no other thread can reach the range. Any thread may read `committed` and `memory`.
class range_extent {
public:
    // Given to the owner: in use.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t committed() const noexcept {
        return committed_.load(std::memory_order_relaxed);
    }
    // The same, and what was written before it was published.
    [[nodiscard]] std::size_t committed_acquire() const noexcept { return committed_.load(std::memory_order_acquire); }
    // Has memory, or had it from an earlier owner; idle past `committed`.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t memory() const noexcept { return memory_.load(std::memory_order_relaxed); }
    // Readable and writable for the system; at least `committed`.
    [[nodiscard]] std::size_t accessible() const noexcept { return accessible_; }
    // Charged for the owner; more than `committed` while it builds elements.
    [[nodiscard]] std::size_t charged() const noexcept { return charged_; }
    // Known to have been populated; memory past it may never have been touched.
    [[nodiscard]] std::size_t populated() const noexcept { return populated_; }
    // Bytes from the base up to which the cache released memory behind its owner; 0: none.
    [[nodiscard]] std::size_t lost() const noexcept { return lost_; }

    // Sets the extent of a new range: no memory; the first `premapped` bytes are accessible and committed.
    void reset(std::size_t premapped) noexcept {
        committed_.store(premapped, std::memory_order_release);
        memory_.store(0, std::memory_order_relaxed);
        accessible_ = premapped;
        charged_ = populated_ = lost_ = admitted_ = 0;
    }
    // The range gets an owner, to whom `committed` bytes are given.
    void begin_owner(std::size_t committed) noexcept {
        committed_.store(committed, std::memory_order_release);
        lost_ = 0;
    }
    // The owner is gone: nothing is committed or charged.
    void end_owner() noexcept {
        committed_.store(0, std::memory_order_release);
        charged_ = 0;
    }
    void set_charged(std::size_t bytes) noexcept { charged_ = bytes; }
    // Notes that memory up to its present end is about to be released behind the owner.
    void count_lost() noexcept { lost_ = lost_ < memory() ? memory() : lost_; }
    // Counts the first `bytes` as having memory, which they may have got without a commit.
    void assume_memory(std::size_t bytes) noexcept {
        if (memory() < bytes) memory_.store(bytes, std::memory_order_relaxed);
    }
    // All pages were moved to another range.
    void forget_memory() noexcept { memory_.store(0, std::memory_order_relaxed); }
    // Publishes the accessible bytes of a range into which a file is mapped.
    void set_mapped_bytes(std::size_t bytes) noexcept { committed_.store(bytes, std::memory_order_relaxed); }

private:
    friend struct published_places;
    friend std::error_code make_accessible(locked_range, std::size_t to) noexcept;
    friend std::error_code commit_up_to(locked_range, std::size_t to, populate_when) noexcept;
    friend bool release_memory_after(locked_range, std::size_t kept) noexcept;
    friend bool protect_memory(locked_range) noexcept;
    friend void settle_range(locked_range, std::size_t bytes) noexcept;

    std::atomic<std::size_t> committed_{0};
    std::atomic<std::size_t> memory_{0};
    std::size_t accessible_ = 0;
    std::size_t charged_ = 0;
    std::size_t populated_ = 0;
    std::size_t lost_ = 0;
    std::size_t admitted_ = 0;    // admitted by set_min_available_memory(), neither written nor given back as far as is known
    std::uint32_t admitted_period_ = 0;    // when
};

// How many bytes of a range its copy of the library counts. Only set_account() changes it.
class account_entry {
    friend void set_account(locked_range, std::size_t used, std::size_t idle) noexcept;
    std::size_t used_ = 0;
    std::size_t idle_ = 0;
};

// How the bytes in use rose and fell lately (account.cpp).
struct recent_demand {
    std::atomic<std::int64_t> period_start{0};    // of the current period, a reading of steady_clock
    std::atomic<std::size_t> peak{0};             // most bytes in use in the current period
    std::atomic<std::size_t> high{0};             // the same, but of the previous period as well
    std::atomic<std::size_t> low{0};              // fewest bytes in use since they reached the high
    std::atomic<std::size_t> regained{0};         // largest rise from the low, up to the high, in the current period
    std::atomic<std::size_t> missed{0};           // bytes released behind owners that then committed there, in the current period
    std::atomic<std::size_t> previous_peak{0};
    std::atomic<std::size_t> previous_regained{0};
    std::atomic<std::size_t> previous_missed{0};
};

// The copy of the library that a range belongs to, and the only one that unmaps it. Modules linked with a copy each may share containers,
// and template functions: a loader takes those of the first module.
struct library_copy {
    void (*release_range)(range* control, std::size_t used) noexcept;
    std::atomic<std::size_t> used_bytes{0};    // committed by owners, and in ranges in thread slots
    std::atomic<std::size_t> idle_bytes{0};    // memory that the cache may release
    recent_demand demand{};
};
extern constinit library_copy this_copy;

// Set when reserved; unchanged when the range is reused from the cache (range.cpp).
struct range_creation {
    library_copy* home = &this_copy;    // never changes
    page_range mapping;                 // the whole reservation, with its guards
    std::size_t usable = 0;             // bytes from the base to the guard; an owner may have reserved fewer
    holding held = holding::guarded;
};

// Protection and advice that its owner asked for. Changed under the range's mutex.
class range_protection {
public:
    [[nodiscard]] access allowed() const noexcept { return allowed_; }
    // Bytes from the base protected so; memory committed later is writable.
    [[nodiscard]] std::size_t protected_bytes() const noexcept { return protected_bytes_; }
    // Bytes from the base up to which huge pages were asked for; 0: nowhere.
    [[nodiscard]] std::size_t huge_until() const noexcept { return huge_until_; }
    // True if it declined the huge pages that the system gives unasked.
    [[nodiscard]] bool huge_declined() const noexcept { return huge_declined_; }

    void set(access allowed, std::size_t bytes) noexcept {
        allowed_ = allowed;
        protected_bytes_ = bytes;
    }
    // Protection ends where memory was returned to the system.
    void limit_to(std::size_t bytes) noexcept { protected_bytes_ = protected_bytes_ < bytes ? protected_bytes_ : bytes; }
    void set_huge_until(std::size_t bytes) noexcept { huge_until_ = bytes; }
    void set_huge_declined(bool declined) noexcept { huge_declined_ = declined; }

private:
    friend struct published_places;
    access allowed_ = access::read_write;
    std::size_t protected_bytes_ = 0;
    std::size_t huge_until_ = 0;
    bool huge_declined_ = false;
};

// Link in a range_chain.
class chain_link {
    friend class range_chain;
    range* next_ = nullptr;
};

// State in the cache. Its place in a list is changed only by the list, under the registry's lock; the rest by the range's owner, or under
// the range's mutex.
class cache_entry {
public:
    // Reuses from the cache. Any thread may read it.
    [[nodiscard]] std::uint64_t hits() const noexcept { return hits_.load(std::memory_order_relaxed); }
    // True if the slow path gave its owner a kept range, from the lists or from a slot.
    [[nodiscard]] bool is_reused() const noexcept { return reused_; }
    // True if it may be released to a thread's slot.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE bool fits_thread_slot() const noexcept { return fits_thread_slot_; }
    // True if the system refused to take its memory back: it is unmapped when released.
    [[nodiscard]] bool is_unfit() const noexcept { return unfit_; }
    [[nodiscard]] bool is_listed() const noexcept { return list_ != nullptr; }
    [[nodiscard]] bool is_in(const range_list& list) const noexcept { return list_ == &list; }

    void reset() noexcept { fits_thread_slot_ = unfit_ = false; }
    void count_hit() noexcept { hits_.store(hits() + 1, std::memory_order_relaxed); }
    void set_reused(bool reused) noexcept { reused_ = reused; }
    void set_fits_thread_slot(bool fits) noexcept { fits_thread_slot_ = fits; }
    void set_unfit(bool unfit) noexcept { unfit_ = unfit; }

private:
    friend struct published_places;
    friend struct range_list;
    std::atomic<std::uint64_t> hits_{0};
    bool reused_ = false;
    bool fits_thread_slot_ = false;
    bool unfit_ = false;
    range_list* list_ = nullptr;    // null if in none
    range* newer_ = nullptr;        // its neighbours there
    range* older_ = nullptr;
    std::size_t number_ = 0;    // greater numbers were released, or acquired, later
};

// What its owner and the helper thread share.
class prefault_state {
public:
    // Bytes from the base that the helper should populate. Any thread may read it.
    [[nodiscard]] std::size_t target() const noexcept { return target_.load(std::memory_order_relaxed); }
    // Populated bytes from the base given to the owner, who alone may ask; 0 without prefault_ahead.
    [[nodiscard]] std::size_t given_to_owner() const noexcept { return given_to_owner_; }

    // Sets the target. The helper reads it again under the range's mutex.
    void set_target(std::size_t bytes) noexcept { target_.store(bytes, std::memory_order_relaxed); }
    // Stops the helper's work on the range.
    void stop() noexcept { set_target(0); }
    void give_to_owner(std::size_t bytes) noexcept { given_to_owner_ = bytes; }
    // Gives all of `bytes`, if any were given.
    void update_given(std::size_t bytes) noexcept { given_to_owner_ = given_to_owner_ != 0 ? bytes : 0; }

private:
    std::atomic<std::size_t> target_{0};
    std::size_t given_to_owner_ = 0;
};

// Held while the extent changes: by the owner, the helper thread, or the cache, which releases idle memory. Locked by range_lock.
class range_mutex {
public:
    // Unlocks in a forked child, where the holder may be a thread of the parent.
    void reset_in_child() noexcept { mutex_.reset_in_child(); }

private:
    friend class range_lock;
    constant_mutex mutex_;
};

// Frequently used fields come first: offsets below 128 take one byte of an instruction, others four.
struct range {
    range_identity identity;
    range_mutex mutex;
    range_extent extent;
    commit_policy policy;    // its owner's
    cache_entry cache;
    prefault_state prefault;
    range_protection protection;
    account_entry account;
    range_creation creation;
    chain_link chained;
    range_label label{};
    // Links in the address table (registry.hpp), changed under the registry's lock; readers follow them without it.
    std::array<std::atomic<range*>, 2> next_at{};

    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::byte* start() const noexcept {
        return identity.base.load(std::memory_order_relaxed);
    }
    [[nodiscard]] HEADROOM_ALWAYS_INLINE std::size_t size() const noexcept {
        return identity.reserved.load(std::memory_order_relaxed);
    }
    [[nodiscard]] page_range part(std::size_t from, std::size_t to) const noexcept { return {start() + from, to - from}; }
};

// A range whose mutex the caller holds. Functions that require the mutex take it; only range_lock makes one.
class locked_range {
public:
    [[nodiscard]] HEADROOM_ALWAYS_INLINE range* get() const noexcept { return control_; }
    [[nodiscard]] HEADROOM_ALWAYS_INLINE range* operator->() const noexcept { return control_; }

private:
    friend class range_lock;
    explicit locked_range(range* control) noexcept : control_(control) {}
    range* control_;
};

// Holds a range's mutex until its end. Movable; a moved-from one, or a failed attempt, holds none.
class range_lock {
public:
    range_lock() noexcept = default;
    explicit range_lock(range* control) noexcept : control_(control) { control->mutex.mutex_.lock(); }
    // Holds nothing if another thread holds the mutex.
    range_lock(range* control, std::try_to_lock_t) noexcept : control_(control->mutex.mutex_.try_lock() ? control : nullptr) {}
    range_lock(range_lock&& from) noexcept : control_(std::exchange(from.control_, nullptr)) {}
    range_lock& operator=(range_lock&& from) noexcept {
        if (this != &from) {
            unlock();
            control_ = std::exchange(from.control_, nullptr);
        }
        return *this;
    }
    ~range_lock() { unlock(); }

    [[nodiscard]] explicit operator bool() const noexcept { return control_ != nullptr; }
    // The range; null if it holds no mutex.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE range* get() const noexcept { return control_; }
    // Precondition of both: it holds a mutex.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE operator locked_range() const noexcept { return locked_range(control_); }
    [[nodiscard]] HEADROOM_ALWAYS_INLINE range* operator->() const noexcept { return control_; }

    // Unlocks the mutex, if it holds one. Returns the range, or null.
    range* unlock() noexcept {
        if (control_ != nullptr) control_->mutex.mutex_.unlock();
        return std::exchange(control_, nullptr);
    }

private:
    range* control_ = nullptr;
};

// Ranges without an owner that are to be unmapped, or unused control blocks. Needs no memory; a range is in one chain at most.
class [[nodiscard]] range_chain {
public:
    void push(range* control) noexcept {
        control->chained.next_ = first_;
        first_ = control;
    }
    // Removes and returns one; null if there is none.
    [[nodiscard]] range* pop() noexcept {
        range* const taken = first_;
        if (taken != nullptr) first_ = std::exchange(taken->chained.next_, nullptr);
        return taken;
    }

private:
    range* first_ = nullptr;
};

// Size of a huge page on machines that have them.
inline constexpr std::size_t huge_page_alignment = std::size_t{2} << 20;

}}}    // namespace headroom::detail
