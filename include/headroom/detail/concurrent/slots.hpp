// SPDX-License-Identifier: MIT
// The slots of a concurrent_vector's elements: the range, the size, the appenders' claims, and the lock that guards them. Elements are
// relocated to their slots or built there under the lock, and published by a store to the size, which readers acquire. Memory is committed
// outside of the lock, except by grow_while_locked(): the thread that fills the middle of the last commit commits more, while others go on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

#include <headroom/detail/concurrent/append_lock.hpp>
#include <headroom/detail/concurrent/staging.hpp>
#include <headroom/detail/concurrent/claims.hpp>
#include <headroom/detail/vector/settled_store.hpp>
#include <headroom/reservation.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

HEADROOM_PADDED_BEGIN
template <class T, class Policy>
class concurrent_slots : protected settled_store_<T, Policy> {
protected:
    using store = settled_store_<T, Policy>;
    using store::begin_;
    using store::cap_;
    using store::control_;
    using store::end_;
    using size_type = std::size_t;

    static constexpr const char* reserving = "reserve address space for a concurrent_vector";
    static constexpr size_type no_waiter = SIZE_MAX;
    static constexpr size_type min_claim_step() noexcept { return sizeof(T) < 65536 ? 65536 / sizeof(T) : 1; }

    concurrent_slots() : store(store::make_default_(0, reserving)) { init_after_reserve(); }
    concurrent_slots(size_type most, const commit_policy& commit)
        : store(store::make_exact_(most, commit, reserving)), has_user_limit_(true) {
        init_after_reserve();
    }
    concurrent_slots(const concurrent_slots&) = delete;
    concurrent_slots& operator=(const concurrent_slots&) = delete;
    ~concurrent_slots() = default;

    [[nodiscard]] size_type size() const noexcept { return size_.load(std::memory_order_acquire); }
    [[nodiscard]] size_type max_size() const noexcept { return control_ == nullptr ? 0 : store::max_size(); }

    // Scope guard for elements built in their slots under the lock: destroys them and unlocks, unless publish_and_unlock() was called.
    struct publish_guard {
        concurrent_slots& owner;
        slots_locked& held;
        size_type first;
        size_type count = 0;

        publish_guard(concurrent_slots& whose, slots_locked& lock_held) noexcept
            : owner(whose), held(lock_held), first(whose.size_.load(std::memory_order_relaxed)) {}
        publish_guard(const publish_guard&) = delete;
        publish_guard& operator=(const publish_guard&) = delete;
        ~publish_guard() {
            if (!held.holds()) return;
            store::destroy_(owner.begin_ + first, owner.begin_ + first + count);
            owner.poison_after_size();
            held.unlock();
        }
        HEADROOM_ALWAYS_INLINE size_type publish_and_unlock() noexcept { return owner.publish_and_unlock(held, first, count); }
    };

    void init_after_reserve() noexcept {
        static_cast<void>(detail::threads_can_be_fenced());    // cheapest while there is one thread
        publish_capacity(static_cast<size_type>(cap_ - begin_), 0);
        cap_ = begin_;
    }

    // Updates end_ and cap_ of the store, which are stale otherwise, for settled_vector.
    void sync_store_fields() noexcept {
        unpoison_new_capacity();
        end_ = begin_ + size_.load(std::memory_order_relaxed);
        cap_ = begin_ + capacity_.load(std::memory_order_relaxed);
    }

    // Prepares handing the range to another owner, which poisons the rest itself. Call sync_store_fields() before.
    void disown_range() noexcept {
#if defined(HEADROOM_ASAN)
        if (this->annotates_()) detail::unpoison_all(begin_, cap_, end_);
#endif
        size_.store(0, std::memory_order_relaxed);
        capacity_.store(0, std::memory_order_relaxed);
        claimed_ = 0;
    }

    // --- Slots.

    // Returns the number of published and claimed elements.
    [[nodiscard]] size_type reserved_count(const slots_locked&) const noexcept {
        return size_.load(std::memory_order_relaxed) + claimed_;
    }
    // True if `count` more slots can be claimed without a commit.
    [[nodiscard]] bool has_room_for(const slots_locked& held, size_type count) const noexcept {
        return count <= unreserved_of(held, capacity_.load(std::memory_order_acquire));
    }
    // Returns how many of `all` slots are neither published nor claimed.
    [[nodiscard]] size_type unreserved_of(const slots_locked& held, size_type all) const noexcept {
        return all > reserved_count(held) ? all - reserved_count(held) : 0;
    }

    // Returns `count` or, if `to_reach`, the elements missing to a size of `count`.
    HEADROOM_ALWAYS_INLINE size_type count_to_append(const slots_locked&, size_type count, bool to_reach) const noexcept {
        const size_type there = to_reach ? size_.load(std::memory_order_relaxed) : 0;
        return count > there ? count - there : 0;
    }
    // Ensures committed, unclaimed slots for count_to_append(count, to_reach) elements; returns that number. Unlocks while it commits, and
    // if it throws.
    HEADROOM_ALWAYS_INLINE size_type make_room(slots_locked& held, size_type count, bool to_reach = false) {
        size_type more = count_to_append(held, count, to_reach);
        for (; HEADROOM_UNLIKELY(!has_room_for(held, more)); more = count_to_append(held, count, to_reach))
            held = wait_for_capacity(static_cast<slots_locked&&>(held), more);
        unpoison_new_capacity();
        unpoison_next(more);
        return more;
    }

    // Publishes the elements [first, first + count), which are built. Returns `first`. Unlocks.
    HEADROOM_ALWAYS_INLINE size_type publish_and_unlock(slots_locked& held, size_type first, size_type count) noexcept {
        const size_type last = first + count;
        size_.store(last, std::memory_order_release);
        if (HEADROOM_UNLIKELY(last >= wake_at_ || last + claimed_ >= commit_ahead_at_.load(std::memory_order_relaxed))) {
            unlock_slow(static_cast<slots_locked&&>(held), last);
        } else {
            held.unlock();
        }
        return first;
    }
    // Slow path of publish_and_unlock(): unlocks; then wakes waiters and commits ahead where due.
    HEADROOM_COLD void unlock_slow(slots_locked held, size_type size) noexcept {
        const bool awaited = size >= wake_at_;
        const size_type reached = size + claimed_;
        if (awaited) wake_at_ = no_waiter;
        held.unlock();
        if (awaited) detail::wake_all_of(wake_count_);
        if (reached >= commit_ahead_at_.load(std::memory_order_relaxed)) commit_ahead(reached);
    }

    // Appends elements that build_one(place) builds in their slots: count_to_append(count, to_reach) of them. Returns the index of the
    // first. If one throws, publishes none. Takes the lock, and builds under it.
    template <class BuildOne>
    HEADROOM_ALWAYS_INLINE size_type append_in_place(size_type count, bool to_reach, const BuildOne& build_one) {
        slots_locked held(lock_);
        const size_type added = make_room(held, count, to_reach);
        publish_guard built(*this, held);
        for (; built.count != added; ++built.count) build_one(begin_ + built.first + built.count);
        return built.publish_and_unlock();
    }
    // Moves the last count_to_append(count, to_reach) elements of `built`, which are complete, to their slots and publishes them. Returns
    // the index of the first. Takes the lock.
    template <class Built>
    HEADROOM_ALWAYS_INLINE size_type publish_staged(Built& built, size_type count, bool to_reach = false) {
        slots_locked held(lock_);
        const size_type added = make_room(held, count, to_reach);
        const size_type first = size_.load(std::memory_order_relaxed);
        built.relocate_to(begin_ + first, added);
        return publish_and_unlock(held, first, added);
    }

    template <class... Args>
    HEADROOM_ALWAYS_INLINE static void build(T* place, Args&&... args) {
        HEADROOM_CONVERSIONS_BEGIN
        ::new (static_cast<void*>(place)) T(static_cast<Args&&>(args)...);
        HEADROOM_CONVERSIONS_END
    }
    // Appends `count` equal elements or, if `to_reach`, those missing to a size of `count`. Returns the index of the first, or `count` if
    // none is missing. Takes the lock.
    template <bool ByNoCode, class BuildOne>
    size_type grow(size_type count, bool to_reach, BuildOne build_one) {
        const size_type there = to_reach ? size() : 0;
        if (to_reach && count <= there) return count;
        if (count > max_size()) throw_full();
        size_type first = 0;
        if constexpr (ByNoCode || !detail::nothrow_relocatable<T>) {
            first = append_in_place(count, to_reach, build_one);
        } else {
            detail::staging<T> built;
            built.reserve(count - there);
            while (built.size() != count - there) built.emplace_with(build_one);
            first = publish_staged(built, count, to_reach);    // fewer, if others have appended meanwhile
        }
        return to_reach && first > count ? count : first;
    }

    // Commits memory for `count` more elements. Unlocks meanwhile: others may use the capacity up. Throws std::length_error or `refused`,
    // unlocked.
    [[nodiscard]] HEADROOM_COLD slots_locked wait_for_capacity(slots_locked held, size_type count) {
        if (count > unreserved_of(held, max_size())) claimed_ = claims_.reclaim(held);
        const bool never = count > unreserved_of(held, max_size());
        const size_type needed = reserved_count(held) + count;
        held.unlock();
        if (never) throw_full();
        commit_for(needed);
        return slots_locked(lock_);
    }
    [[noreturn]] HEADROOM_COLD static void throw_full() {
        detail::throw_length_error("headroom::concurrent_vector: past the reservation");
    }

    // Commits memory for the element at `index`, behind elements that were built in their slots and are not published.
    void grow_while_locked(const slots_locked& held, size_type index) {
        if (index + 1 + claimed_ > max_size()) claimed_ = claims_.reclaim(held);
        if (index + 1 + claimed_ > max_size()) throw_full();
        if (index + 1 + claimed_ > capacity_.load(std::memory_order_relaxed)) commit_for(index + 1 + claimed_);
        unpoison_new_capacity();
        unpoison_next(index + 1 - size_.load(std::memory_order_relaxed));
    }

    // For an appender that has built `built` elements of its batch and announced `wanted`, which its claim does not cover: extends the
    // claim, up to `batch`, and returns how many of the `wanted` it covers, more than `built`. Extends a large batch step by step, because
    // claimed slots have memory. If it throws, nothing is locked, and no slot was added to the claim; unused claims may have
    // been reclaimed. Takes the lock.
    HEADROOM_COLD size_type extend_claim(detail::claim& mine, size_type built, size_type wanted, size_type batch) {
        if (mine.announce_with_fence(wanted)) return wanted;
        slots_locked held(lock_);
        // The claim may cover it after all: a reclaiming thread withdraws claims for a moment.
        while (mine.claimed(held) <= built) {
            size_type most = unreserved_of(held, max_size());
            if (most == 0) {
                claimed_ = claims_.reclaim(held);
                // Few slots are left: shares them, because another appender may need what one claims and does not use.
                most = unreserved_of(held, max_size());
                if (most == 0) throw_full();
                const size_type shares = 2 * claims_.count_of_generation(held, lock_.generation()) + 1;
                most = most / shares + (most % shares != 0 ? 1 : 0);
            }
            if (const size_type step = min_claim_step() + built; most > step) most = step;
            if (const size_type rest = batch - built; most > rest) most = rest;
            if (const size_type there = unreserved_of(held, capacity_.load(std::memory_order_acquire)); there != 0) {
                const size_type granted = most < there ? most : there;
                claimed_ += granted;
                mine.set_claimed(held, mine.claimed(held) + granted);
                break;
            }
            const size_type needed = reserved_count(held);
            held.unlock();
            if (most == 1 || try_commit_for(needed + most)) commit_for(needed + 1);
            held = slots_locked(lock_);
        }
        const size_type claimed = mine.claimed(held);
        mine.set_claimed(held, claimed);    // a forked child may find it withdrawn by a thread of its parent
        return wanted < claimed ? wanted : claimed;
    }

    // Moves an appender's elements, which it has claimed, to their slots and publishes them. Claims a whole batch again, if there is
    // capacity for it; with a `batch` of 0 removes the claim. Takes the lock.
    HEADROOM_NOINLINE void publish_claimed(detail::claim& mine, T* built, size_type count, size_type batch) noexcept {
        slots_locked held(lock_);
        const size_type claimed = mine.claimed(held);
        const bool renewed = batch != 0 && has_room_for(held, batch - (claimed - count));
        claimed_ -= claimed < claimed_ ? claimed : claimed_;    // a forked child may find a thread between the two
        mine.set_claimed(held, renewed ? batch : 0);
        if (renewed) claimed_ += batch;
        if (batch == 0) claims_.remove(held, mine);
        unpoison_new_capacity();
        unpoison_next(count);
        const size_type first = size_.load(std::memory_order_relaxed);
        static_cast<void>(headroom::uninitialized_relocate(built, built + count, begin_ + first));
        mine.withdraw_announcement();
        publish_and_unlock(held, first, count);
    }

    // --- Memory. Commits take `memory_lock_`, mostly outside of `lock_`.

    // Commits memory for `count` elements in all. Throws `refused`.
    HEADROOM_COLD void commit_for(size_type count) {
        if (const std::error_code error = try_commit_for(count)) {
            detail::throw_refused("commit memory for a concurrent_vector", count * sizeof(T), error);
        }
    }
    // Like commit_for(), but returns the error.
    std::error_code try_commit_for(size_type count) noexcept {
        const memory_locked held(memory_lock_);
        return commit_to_count(held, count);
    }
    // Commits memory for `count` elements in all. Returns the system's error if refused.
    std::error_code commit_to_count(const memory_locked&, size_type count) noexcept {
        const size_type before = capacity_.load(std::memory_order_relaxed);
        if (count <= before) return {};
        std::error_code error;
        const std::size_t committed = detail::commit_to(control_, store::end_offset_(begin_, count), error);
        if (!error) publish_capacity(store::capacity_of_(begin_, committed, max_size()), before);
        return error;
    }
    // Publishes the new capacity. The thread that fills the middle of the new part commits more, while others go on with its second half.
    void publish_capacity(size_type room, size_type before) noexcept {
        const bool last = room == max_size();
        capacity_.store(room, std::memory_order_release);
        commit_ahead_at_.store(last ? SIZE_MAX : room - (room - before) / 2, std::memory_order_relaxed);
    }
    // Commits one step more if `reached`, the number of published and claimed elements, is at the threshold. Does
    // nothing while another thread commits. Ignores a refusal: a later append meets it.
    HEADROOM_COLD void commit_ahead(size_type reached) noexcept {
        const memory_locked held = memory_locked::try_lock(memory_lock_);
        if (!held.holds()) return;
        const size_type room = capacity_.load(std::memory_order_relaxed);
        if (reached >= commit_ahead_at_.load(std::memory_order_relaxed) && room != max_size())
            static_cast<void>(commit_to_count(held, room + 1));
    }

    // Waits until the size is at least `count`.
    HEADROOM_COLD void wait_for_size(size_type count) const noexcept {
        for (;;) {
            std::uint32_t seen;
            {
                const slots_locked held(lock_);
                if (size() >= count) return;
                if (count < wake_at_) wake_at_ = count;
                seen = wake_count_.load(std::memory_order_relaxed);
            }
            detail::wait_for_change(wake_count_, seen);
        }
    }

    // Commits memory for one element before the arguments are used: a refusal leaves them untouched, unless others use the memory first.
    HEADROOM_ALWAYS_INLINE void ensure_slot() {
        if (HEADROOM_UNLIKELY(size_.load(std::memory_order_relaxed) >= capacity_.load(std::memory_order_relaxed))) {
            if (size_.load(std::memory_order_relaxed) >= max_size()) throw_full();
            commit_for(size_.load(std::memory_order_relaxed) + 1);
        }
    }

    // --- AddressSanitizer's annotations. cap_ is the annotated capacity.

    void unpoison_new_capacity() noexcept {
#if defined(HEADROOM_ASAN)
        T* const limit = begin_ + capacity_.load(std::memory_order_relaxed);
        if (limit == cap_ || !this->annotates_()) return;
        T* const end = begin_ + size_.load(std::memory_order_relaxed);
        detail::unpoison_all(begin_, cap_, end);
        cap_ = limit;
        detail::move_poison_boundary(begin_, cap_, cap_, end);
#endif
    }
    void poison_after_size() noexcept {
#if defined(HEADROOM_ASAN)
        if (this->annotates_()) detail::move_poison_boundary(begin_, cap_, cap_, begin_ + size_.load(std::memory_order_relaxed));
#endif
    }
    // Makes the `count` elements after the published size writable.
    void unpoison_next([[maybe_unused]] size_type count) noexcept {
#if defined(HEADROOM_ASAN)
        if (!this->annotates_()) return;
        T* const end = begin_ + size_.load(std::memory_order_relaxed);
        detail::move_poison_boundary(begin_, cap_, end, end + count);
#endif
    }

    // Fields that an append reads and writes, on a cache line of their own.
    alignas(64) mutable slots_lock lock_{};
    std::atomic<size_type> size_{0};
    size_type claimed_ = 0;                    // by appenders (claims.hpp); under the lock
    mutable size_type wake_at_ = no_waiter;    // smallest size that a thread waits for; under the lock

    alignas(64) mutable memory_lock memory_lock_{};
    std::atomic<size_type> capacity_{0};                  // elements with committed memory
    std::atomic<size_type> commit_ahead_at_{0};           // threshold of published and claimed elements for committing more
    mutable std::atomic<std::uint32_t> wake_count_{0};    // incremented to wake waiting threads
    detail::claim_list claims_{};                         // under the lock
    const bool has_user_limit_ = false;                   // true if the user chose max_size() and may rely on its last element
};
HEADROOM_PADDED_END

}}}    // namespace headroom::detail
