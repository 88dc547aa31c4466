// How the elements of a concurrent_vector get their place: the range that they lie in, how many there are, what appenders have
// claimed, and the one lock under which that changes.
//
// Elements are relocated to their place or built in it under the lock, and published by a store to the size that whoever reads
// it acquires. Memory is provided outside of the lock: whoever fills the first half of what was provided last provides more,
// while others go on with the second half.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>    // lock_guard
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

#include <headroom/detail/concurrent/append_lock.hpp>
#include <headroom/detail/concurrent/staging.hpp>
#include <headroom/detail/concurrent/claims.hpp>
#include <headroom/detail/vector/settled_store.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

template <class T, class Policy>
class concurrent_slots : protected settled_store_<T, Policy> {
protected:
    using store = settled_store_<T, Policy>;
    using store::begin_;
    using store::cap_;
    using store::control_;
    using store::end_;
    using locked = std::lock_guard<append_lock>;
    using size_type = std::size_t;

    static constexpr const char* reserving = "reserve address space for a concurrent_vector";
    static constexpr size_type no_waiter = SIZE_MAX;
    static constexpr size_type min_claim_step = sizeof(T) < 65536 ? 65536 / sizeof(T) : 1;

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

    // Elements in their place that are not published, under the lock: destroyed again, and the lock released, unless they are
    // published.
    struct publish_guard {
        concurrent_slots& owner;
        size_type first;
        size_type count = 0;
        bool released = false;

        explicit publish_guard(concurrent_slots& whose) noexcept
            : owner(whose), first(whose.size_.load(std::memory_order_relaxed)) {}
        publish_guard(const publish_guard&) = delete;
        publish_guard& operator=(const publish_guard&) = delete;
        ~publish_guard() {
            if (released) return;
            store::destroy_(owner.begin_ + first, owner.begin_ + first + count);
            owner.poison_after_size();
            owner.lock_.unlock();
        }
        HEADROOM_ALWAYS_INLINE size_type publish() noexcept {
            released = true;
            return owner.publish(first, count);
        }
    };

    void init_after_reserve() noexcept {
        static_cast<void>(detail::threads_can_be_fenced());    // for claims: to prepare it takes least while there is one thread
        publish_capacity(static_cast<size_type>(cap_ - begin_), 0);
        cap_ = begin_;
    }

    // Makes the floor what settled_vector's is: its end and its capacity are up to date only then.
    void sync_store_fields() noexcept {
        unpoison_new_capacity();
        end_ = begin_ + size_.load(std::memory_order_relaxed);
        cap_ = begin_ + capacity_.load(std::memory_order_relaxed);
    }

    // After sync_store_fields(), before the range goes to another owner, who conceals what has no elements itself.
    void disown_range() noexcept {
#if defined(HEADROOM_ASAN)
        if (this->annotates_()) detail::unpoison_all(begin_, cap_, end_);
#endif
        size_.store(0, std::memory_order_relaxed);
        capacity_.store(0, std::memory_order_relaxed);
        claimed_ = 0;
    }

    // --- Under the lock.

    [[nodiscard]] size_type reserved_count() const noexcept { return size_.load(std::memory_order_relaxed) + claimed_; }
    [[nodiscard]] bool has_room_for(size_type count) const noexcept {
        return count <= unreserved_of(capacity_.load(std::memory_order_acquire));
    }
    // Of `all` elements, how many are neither published nor claimed.
    [[nodiscard]] size_type unreserved_of(size_type all) const noexcept {
        return all > reserved_count() ? all - reserved_count() : 0;
    }

    // `count` or, `to_reach` it, as many as are missing of that.
    HEADROOM_ALWAYS_INLINE size_type wanted(size_type count, bool to_reach) const noexcept {
        const size_type there = to_reach ? size_.load(std::memory_order_relaxed) : 0;
        return count > there ? count - there : 0;
    }
    // Takes the lock, with room from size_ on for as many elements, that nobody has claimed; returns how many. What throws holds no lock.
    HEADROOM_ALWAYS_INLINE size_type lock_for(size_type count, bool to_reach = false) {
        lock_.lock();
        size_type more = wanted(count, to_reach);
        for (; HEADROOM_UNLIKELY(!has_room_for(more)); more = wanted(count, to_reach)) reserve_slots(more);
        unpoison_new_capacity();
        unpoison_next(more);
        return more;
    }

    // Elements [first, first + count) are built: now they are published. Releases the lock.
    HEADROOM_ALWAYS_INLINE size_type publish(size_type first, size_type count) noexcept {
        const size_type last = first + count;
        size_.store(last, std::memory_order_release);
        if (HEADROOM_UNLIKELY(last >= wake_at_ || last + claimed_ >= commit_ahead_at_.load(std::memory_order_relaxed))) {
            unlock_slow(last);
        } else {
            lock_.unlock();
        }
        return first;
    }
    // Somebody waits for the `size` elements that there are, or more memory is wanted soon.
    HEADROOM_COLD void unlock_slow(size_type size) noexcept {
        const bool awaited = size >= wake_at_;
        const size_type reached = size + claimed_;
        if (awaited) wake_at_ = no_waiter;
        lock_.unlock();
        if (awaited) detail::wake_all_of(wake_count_);
        if (reached >= commit_ahead_at_.load(std::memory_order_relaxed)) commit_ahead(reached);
    }

    // The two ways to append, for `count` and `to_reach` as lock_for() takes them; both return the index of the first element.
    // Elements that `build_one` builds in their place, under the lock.
    template <class BuildOne>
    HEADROOM_ALWAYS_INLINE size_type append_in_place(size_type count, bool to_reach, const BuildOne& build_one) {
        const size_type added = lock_for(count, to_reach);
        publish_guard built(*this);
        for (; built.count != added; ++built.count) build_one(begin_ + built.first + built.count);
        return built.publish();
    }
    // The last ones of what was built aside.
    template <class Built>
    HEADROOM_ALWAYS_INLINE size_type publish_staged(Built& built, size_type count, bool to_reach = false) {
        const size_type added = lock_for(count, to_reach);
        const size_type first = size_.load(std::memory_order_relaxed);
        built.relocate_to(begin_ + first, added);
        return publish(first, added);
    }

    template <class... Args>
    HEADROOM_ALWAYS_INLINE static void build(T* place, Args&&... args) {
        HEADROOM_CONVERSIONS_BEGIN
        ::new (static_cast<void*>(place)) T(static_cast<Args&&>(args)...);
        HEADROOM_CONVERSIONS_END
    }
    // Appends `count` elements or, `to_reach` it, as many as are missing of that, all alike.
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
            first = publish_staged(built, count, to_reach);    // fewer, perhaps, where others have appended meanwhile
        }
        return to_reach && first > count ? count : first;
    }

    // Called with the lock held, and returns with it; waits for memory without it, so that there may be no room again.
    HEADROOM_COLD void reserve_slots(size_type count) {
        if (count > unreserved_of(max_size())) claimed_ = claims_.reclaim();
        const bool never = count > unreserved_of(max_size());
        const size_type needed = reserved_count() + count;
        lock_.unlock();
        if (never) throw_full();
        commit_for(needed);
        lock_.lock();
    }
    [[noreturn]] HEADROOM_COLD static void throw_full() {
        detail::throw_length_error("headroom::concurrent_vector: past the reservation");
    }

    // For an element at `index`, after others that were built in their place and are not published.
    void grow_while_locked(size_type index) {
        if (index + 1 + claimed_ > max_size()) claimed_ = claims_.reclaim();
        if (index + 1 + claimed_ > max_size()) throw_full();
        if (index + 1 + claimed_ > capacity_.load(std::memory_order_relaxed)) commit_for(index + 1 + claimed_);
        unpoison_new_capacity();
        unpoison_next(index + 1 - size_.load(std::memory_order_relaxed));
    }

    // For an appender that has built `built` elements of its batch and finds that `wanted`, which it has announced, may not be claimed:
    // returns how many are, at least one more. Makes the claim larger where it must, up to `batch` where that can be had; for a large
    // batch step by step, as it is built, since what is claimed has memory. What throws holds no lock, and nothing has changed.
    HEADROOM_COLD size_type extend_claim(detail::claim& mine, size_type built, size_type wanted, size_type batch) {
        if (mine.announce_with_fence(wanted)) return wanted;
        lock_.lock();
        // (It may be larger than it seemed: who takes claims back withdraws them for a moment.)
        while (mine.claimed() <= built) {
            size_type most = unreserved_of(max_size());
            if (most == 0) {
                claimed_ = claims_.reclaim();
                // Little is left: what one appender claims and does not need another will want.
                most = unreserved_of(max_size());
                if (most == 0) {
                    lock_.unlock();
                    throw_full();
                }
                const size_type shares = 2 * claims_.count_of_generation(lock_.generation()) + 1;
                most = most / shares + (most % shares != 0 ? 1 : 0);
            }
            if (const size_type step = min_claim_step + built; most > step) most = step;
            if (const size_type rest = batch - built; most > rest) most = rest;
            if (const size_type there = unreserved_of(capacity_.load(std::memory_order_acquire)); there != 0) {
                const size_type granted = most < there ? most : there;
                claimed_ += granted;
                mine.set_claimed(mine.claimed() + granted);
                break;
            }
            const size_type needed = reserved_count();
            lock_.unlock();
            if (most == 1 || try_commit_for(needed + most)) commit_for(needed + 1);
            lock_.lock();
        }
        const size_type claimed = mine.claimed();
        mine.set_claimed(claimed);    // (in a forked child it may have been withdrawn by a thread that did not come along)
        lock_.unlock();
        return wanted < claimed ? wanted : claimed;
    }

    // What an appender has built gets its place, for which it has a claim. Of the claim's rest it makes one for a whole batch
    // again, where there is room for that at once; a `batch` of 0 says that this is the appender's end.
    HEADROOM_NOINLINE void publish_claimed(detail::claim& mine, T* built, size_type count, size_type batch) noexcept {
        lock_.lock();
        const size_type claimed = mine.claimed();
        const bool renewed = batch != 0 && has_room_for(batch - (claimed - count));
        claimed_ -= claimed < claimed_ ? claimed : claimed_;    // (a forked child may have found a thread between the two)
        mine.set_claimed(renewed ? batch : 0);
        if (renewed) claimed_ += batch;
        if (batch == 0) claims_.remove(mine);
        unpoison_new_capacity();
        unpoison_next(count);
        const size_type first = size_.load(std::memory_order_relaxed);
        static_cast<void>(headroom::uninitialized_relocate(built, built + count, begin_ + first));
        mine.announce_none();
        publish(first, count);
    }

    // --- Memory. Outside of the lock, but for what is built in its place.

    // Makes room for `count` elements. Throws `refused`.
    HEADROOM_COLD void commit_for(size_type count) {
        if (const std::error_code error = try_commit_for(count)) {
            detail::throw_refused("commit memory for a concurrent_vector", count * sizeof(T), error);
        }
    }
    std::error_code try_commit_for(size_type count) noexcept {
        const locked held(range_lock_);
        return commit_locked(count);
    }
    // Precondition: the range's lock is held.
    std::error_code commit_locked(size_type count) noexcept {
        const size_type before = capacity_.load(std::memory_order_relaxed);
        if (count <= before) return {};
        std::error_code error;
        const std::size_t committed = detail::commit_to(control_, store::bytes_to_(begin_, count), error);
        if (!error) publish_capacity(store::capacity_of_(begin_, committed, max_size()), before);
        return error;
    }
    // Whoever fills the first half of what was provided last provides more, while the others go on with the second half.
    void publish_capacity(size_type room, size_type before) noexcept {
        const bool last = room == max_size();
        capacity_.store(room, std::memory_order_release);
        commit_ahead_at_.store(last ? SIZE_MAX : room - (room - before) / 2, std::memory_order_relaxed);
    }
    // `reached` elements are published or claimed. Nobody waits for this, so a refusal is for those to meet who cannot do
    // without.
    HEADROOM_COLD void commit_ahead(size_type reached) noexcept {
        if (!range_lock_.try_lock()) return;
        const size_type room = capacity_.load(std::memory_order_relaxed);
        if (reached >= commit_ahead_at_.load(std::memory_order_relaxed) && room != max_size())
            static_cast<void>(commit_locked(room + 1));
        range_lock_.unlock();
    }

    HEADROOM_COLD void wait_for_size(size_type count) const noexcept {
        for (;;) {
            std::uint32_t seen;
            {
                const locked held(lock_);
                if (size() >= count) return;
                if (count < wake_at_) wake_at_ = count;
                seen = wake_count_.load(std::memory_order_relaxed);
            }
            detail::wait_for_change(wake_count_, seen);
        }
    }

    // Asks for memory before the arguments are used, so that a refusal finds them as they were (unless others were faster).
    HEADROOM_ALWAYS_INLINE void ensure_slot() {
        if (HEADROOM_UNLIKELY(size_.load(std::memory_order_relaxed) >= capacity_.load(std::memory_order_relaxed))) {
            if (size_.load(std::memory_order_relaxed) >= max_size()) throw_full();
            commit_for(size_.load(std::memory_order_relaxed) + 1);
        }
    }

    // --- AddressSanitizer is told which elements are there. The floor's capacity is what it has been told of.

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
    // The next `count` elements may be written.
    void unpoison_next([[maybe_unused]] size_type count) noexcept {
#if defined(HEADROOM_ASAN)
        if (!this->annotates_()) return;
        T* const end = begin_ + size_.load(std::memory_order_relaxed);
        detail::move_poison_boundary(begin_, cap_, end, end + count);
#endif
    }

    // What an append reads and writes, on a line of its own.
    alignas(64) mutable detail::append_lock lock_;
    std::atomic<size_type> size_{0};
    size_type claimed_ = 0;                    // by appenders: see claims.hpp; under the lock
    mutable size_type wake_at_ = no_waiter;    // the size that somebody waits for; under the lock

    alignas(64) mutable detail::append_lock range_lock_;    // taken after lock_ where both are
    std::atomic<size_type> capacity_{0};                    // elements for which there is memory
    std::atomic<size_type> commit_ahead_at_{0};             // when so many are published or claimed, more memory should come
    mutable std::atomic<std::uint32_t> wake_count_{0};      // counts how often those who wait were woken
    detail::claim_list claims_;                             // under the lock
    const bool has_user_limit_ =
        false;    // whether somebody chose the most that it can hold, and may count on the last element of that
};

}}}    // namespace headroom::detail
