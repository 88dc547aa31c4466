// A vector that many threads append to while others read it.
//
// Its elements are contiguous and never move. Every element in [0, size()) is completely constructed and stays there for the vector's
// lifetime. So a thread that has read size(), or called published(), may read all those elements without a lock, then and later.
//
// Choose it where threads produce what others read meanwhile or afterwards as one array: parsed records, events, results of a parallel
// search. Give each thread an `appender`, which builds elements in a buffer and publishes them in batches. Where one thread appends and no
// other thread reads meanwhile, settled_vector costs less. An append by an appender costs about the same as one to a thread's own vector,
// a single append a short lock (without contention an atomic exchange). The vector takes a range and at least a page, like settled_vector.
//
// How it differs from std::vector:
//   - elements are appended only: none is erased, and the vector is neither copied, moved nor assigned; clear() requires that no other
//     thread uses it;
//   - appending functions return the index of their first element, and so do TBB's grow_by() and grow_to_at_least();
//   - max_size() is the reservation; past it appending throws std::length_error;
//   - a thread that changes a published element must itself keep readers away from that element.
//
// Threads: any number of threads may call all functions at the same time, except construction, destruction, take(), clear(), protect(),
// and the members of one appender, which are for one thread at a time.
//
// Where a constructor runs: an element is built before the lock is taken, from the caller's own arguments, and moved to its place under
// it. So a constructor may throw or append to the same vector, and its `this` is not yet the element's place. Elements whose move may
// throw, or that cannot be moved, and those of append_indexed() are built in their place under the lock: their constructors must not
// append to the same vector.
//
// A forked child may go on to use a vector that other threads of its parent were appending to: it has all published elements. Elements
// that those threads had built and not published are lost in the child, and so is their memory.
#pragma once

#include <headroom/detail/language.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

#include <headroom/detail/concurrent/staging.hpp>
#include <headroom/detail/concurrent/claims.hpp>
#include <headroom/detail/concurrent/slots.hpp>
#include <headroom/detail/hardened.hpp>
#include <headroom/detail/vector/iterator.hpp>
#include <headroom/detail/vector/ranges.hpp>
#include <headroom/settled_vector.hpp>

namespace headroom { inline namespace v0_1 {

template <class T, class Policy = settled_policy>
class HEADROOM_HARDENED_ABI concurrent_vector : detail::concurrent_slots<T, Policy> {
    using places = detail::concurrent_slots<T, Policy>;
    using places::begin_;
    using places::claims_;
    using places::control_;
    using places::has_user_limit_;
    using places::lock_;
    using places::memory_lock_;
    using places::size_;
    using typename places::publish_guard;
    using typename places::store;

public:
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = const T&;
    using pointer = T*;
    using const_pointer = const T*;
    using iterator = detail::element_iterator<T>;
    using const_iterator = detail::element_iterator<const T>;

    // --- Construction. Throws `refused` when the system refuses address space.

    // Reserves Policy::default_reservation bytes; if the system refuses, half, and so on down to Policy::smallest_reservation. O(1): a
    // system call, or 50 ns for a kept range.
    concurrent_vector() = default;

    // Reserves exactly `limit` elements: max_size() is limit.value. Throws std::length_error if no array can be that long.
    explicit concurrent_vector(max_elements limit, const commit_policy& commit = Policy::commit) : places(limit.value, commit) {}

    concurrent_vector(const concurrent_vector&) = delete;
    concurrent_vector& operator=(const concurrent_vector&) = delete;

    // Destroys the elements and releases the range. Precondition: no other thread is in a member function, and no appender is left.
    // O(size()) destructions. Invalidates: every element.
    ~concurrent_vector() {
        HEADROOM_EXPECT(this->appenders_left_() == 0, appenders_left, "the destructor", this->appenders_left_());
        this->sync_store_fields();
        this->destroy_and_release_();
    }

    // --- Reading. O(1), without a lock; any number of threads may read while others append.

    // Number of published elements. Their construction happens before what follows this call.
    [[nodiscard]] size_type size() const noexcept { return places::size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    // Returns the elements published now. The span stays valid, and keeps its length, while others append.
    [[nodiscard]] std::span<const T> published() const noexcept { return {begin_, size()}; }

    // Preconditions: index < size().
    [[nodiscard]] reference operator[](size_type index) noexcept {
        HEADROOM_EXPECT_ELEMENT(index < size(), past_the_end, "operator[]", index);
        return begin_[index];
    }
    [[nodiscard]] const_reference operator[](size_type index) const noexcept {
        HEADROOM_EXPECT_ELEMENT(index < size(), past_the_end, "operator[]", index);
        return begin_[index];
    }
    // Throws std::out_of_range if index >= size().
    [[nodiscard]] reference at(size_type index) {
        if (index >= size()) detail::throw_out_of_range("headroom: at() past the end");
        return begin_[index];
    }
    [[nodiscard]] const_reference at(size_type index) const {
        if (index >= size()) detail::throw_out_of_range("headroom: at() past the end");
        return begin_[index];
    }
    [[nodiscard]] T* data() noexcept { return begin_; }
    [[nodiscard]] const T* data() const noexcept { return begin_; }
    // Two calls of end() may differ while others append: call it once, or use published().
    [[nodiscard]] iterator begin() noexcept { return iterator(begin_); }
    [[nodiscard]] const_iterator begin() const noexcept { return const_iterator(begin_); }
    [[nodiscard]] const_iterator cbegin() const noexcept { return begin(); }
    [[nodiscard]] iterator end() noexcept { return iterator(begin_ + size()); }
    [[nodiscard]] const_iterator end() const noexcept { return const_iterator(begin_ + size()); }
    [[nodiscard]] const_iterator cend() const noexcept { return end(); }

    // Waits until size() >= count; other threads must append the elements. Sleeps meanwhile. Throws std::length_error if count >
    // max_size(), because it would wait for ever.
    void wait_for(size_type count) const {
        if (size() >= count) return;
        if (count > max_size()) detail::throw_length_error("headroom::concurrent_vector: waiting past the reservation");
        this->wait_for_size(count);
    }

    // --- Appending. Amortised O(elements appended). Throw std::length_error past max_size(), `refused` (a std::bad_alloc) when the system
    // refuses memory, std::bad_alloc when the heap does, and what an element's constructor or the range throws: nothing is appended then,
    // but the arguments may have been moved from. Invalidate: nothing. Return the index of the first element appended. The arguments may
    // be elements of the vector.

    template <class... Args>
    HEADROOM_ALWAYS_INLINE size_type emplace_back(Args&&... args) {
        // Builds in place if no code of the program runs.
        if constexpr (detail::constructed_without_code<T, Args&&...> || !detail::nothrow_relocatable<T>) {
            return this->append_in_place(1, false, [&](T* place) { places::build(place, static_cast<Args&&>(args)...); });
        } else {
            this->ensure_slot();
            std::conditional_t<sizeof(T) <= max_on_stack, detail::single_staging<T>, detail::staging<T>> built;
            built.emplace_back(static_cast<Args&&>(args)...);
            return this->publish_staged(built, 1);
        }
    }
    HEADROOM_ALWAYS_INLINE size_type push_back(const T& value) { return emplace_back(value); }
    HEADROOM_ALWAYS_INLINE size_type push_back(T&& value) { return emplace_back(static_cast<T&&>(value)); }

    // Appends all elements of the range, one after the other, or none. If T's move may throw, the range is read under the lock:
    // it must not append here.
    template <detail::compatible_range<T> R>
    size_type append_range(R&& values) {
        detail::cursor_over<R> ends(values);
        auto& each = ends.first;
        const auto& last = ends.last;
        using iterator_of_range = detail::range_iterator<R>;
        using source = detail::copy_source<iterator_of_range>;
        if constexpr (detail::cursor_over<R>::is_sized && source::template constructs_bytewise<store, T>()) {
            const auto count = static_cast<size_type>(last - each);
            const T* const from = count == 0 ? nullptr : detail::contiguous_source<iterator_of_range>::address(each);
            detail::slots_locked held(lock_);
            this->make_room(held, count);
            const size_type first = size_.load(std::memory_order_relaxed);
            detail::copy_bytewise(begin_ + first, from, count);
            return this->publish_and_unlock(held, first, count);
        } else if constexpr (detail::nothrow_relocatable<T>) {
            detail::staging<T> built;
            if constexpr (detail::cursor_over<R>::is_sized) built.reserve(static_cast<size_type>(last - each));
            for (; each != last; ++each) built.emplace_back(*each);
            return this->publish_staged(built, built.size());
        } else {
            detail::slots_locked held(lock_);
            this->make_room(held, 0);
            publish_guard built(*this, held);
            for (; each != last; ++each) {
                this->grow_while_locked(held, built.first + built.count);
                HEADROOM_CONVERSIONS_BEGIN
                ::new (static_cast<void*>(begin_ + built.first + built.count)) T(*each);
                HEADROOM_CONVERSIONS_END
                ++built.count;    // counted at once: the step to the next one may throw
            }
            return built.publish_and_unlock();
        }
    }
    size_type append_range(std::initializer_list<T> values) { return append_range<const std::initializer_list<T>&>(values); }

    // Appends `count` elements, each a T() or a copy of `value`: all of them or none, one after the other.
    size_type grow_by(size_type count) {
        return this->template grow<detail::constructed_without_code<T>>(count, false, [](T* place) { places::build(place); });
    }
    size_type grow_by(size_type count, const T& value) {
        return this->template grow<detail::constructed_without_code<T, const T&>>(count, false,
                                                                                  [&](T* place) { places::build(place, value); });
    }
    // Appends the elements from `first` to `last`, like append_range().
    template <std::input_iterator It, std::sentinel_for<It> End>
    size_type grow_by(It first, End last) {
        struct between {
            It first;
            End last;
            It begin() { return std::move(first); }
            End end() { return std::move(last); }
        };
        return append_range(between{std::move(first), std::move(last)});
    }

    // Makes size() at least `count`: appends the elements that are missing when the lock is taken, each a T() or a copy of `value`, all of
    // them or none. Returns the index of the first, or `count` if none is missing.
    size_type grow_to_at_least(size_type count) {
        return this->template grow<detail::constructed_without_code<T>>(count, true, [](T* place) { places::build(place); });
    }
    size_type grow_to_at_least(size_type count, const T& value) {
        return this->template grow<detail::constructed_without_code<T, const T&>>(count, true,
                                                                                  [&](T* place) { places::build(place, value); });
    }

    // Appends a T made of the result of make(index), where `index` is the element's own; or `count` such elements, one after the other,
    // all or none. `make` runs under the lock, and its result is built in its place: other appends wait meanwhile, and `make` must not
    // append to the same vector.
    template <class Make>
    size_type append_indexed(Make&& make) {
        return append_indexed(1, make);
    }
    template <class Make>
    size_type append_indexed(size_type count, Make&& make) {
        return this->append_in_place(count, false, [&](T* place) {
            HEADROOM_CONVERSIONS_BEGIN
            ::new (static_cast<void*>(place)) T(make(static_cast<size_type>(place - begin_)));
            HEADROOM_CONVERSIONS_END
        });
    }

    // --- Capacity, in elements.

    // Upper limit of size().
    [[nodiscard]] size_type max_size() const noexcept { return places::max_size(); }
    // Number of elements with committed memory.
    [[nodiscard]] size_type capacity() const noexcept { return this->capacity_.load(std::memory_order_acquire); }
    // Makes capacity() at least `count`. Throws std::length_error past max_size(), `refused` when the system refuses. O(1) in elements; a
    // system call or a few. Invalidates: nothing. Thread-safe.
    void reserve(size_type count) {
        if (count > max_size()) detail::throw_length_error("headroom: reserve() past max_size()");
        this->commit_for(count);
    }

    // --- The vector as a whole.

    // Moves the elements to a settled_vector; this vector then owns nothing, and max_size() is 0. O(1). Precondition: no other thread uses
    // this vector, and no appender is left. Invalidates: nothing; the elements change owners.
    [[nodiscard]] settled_vector<T, Policy> take() && noexcept {
        HEADROOM_EXPECT(this->appenders_left_() == 0, appenders_left, "take()", this->appenders_left_());
        this->sync_store_fields();
        this->disown_range();
        return settled_vector<T, Policy>(this->extract_(), 0);
    }

    // Destroys all elements and keeps their memory. Precondition: no other thread uses this vector. Appenders may be left; their
    // unpublished elements stay. O(size()). Invalidates: every element.
    void clear() noexcept {
        const size_type count = size_.load(std::memory_order_relaxed);
        if (count == 0) return;
        size_.store(0, std::memory_order_relaxed);
        store::destroy_(begin_, begin_ + count);
        this->poison_after_size();
    }

    // Sets the access to the elements, for a vector that is only read from now on: a write to a read-only vector faults, and so does
    // appending to it. Precondition: no other thread appends or asks for access. Costs a system call, more where much memory is resident.
    // Throws std::system_error when the system refuses. Invalidates: nothing; a forbidden access faults.
    void protect(access allowed) {
        if (const std::error_code error = try_protect(allowed)) detail::throw_system_error(error, "headroom: protect()");
    }
    // Like protect(), but returns the system's error.
    [[nodiscard]] std::error_code try_protect(access allowed) noexcept {
        const detail::memory_locked held(memory_lock_);
        return control_ == nullptr ? std::error_code{} : detail::protect(control_, allowed);
    }
    [[nodiscard]] access current_access() const noexcept {
        const detail::memory_locked held(memory_lock_);
        return control_ == nullptr ? access::read_write : detail::current_access(control_);
    }

    // Names the reservation for owner_of(), reservations() and the system's list of mappings; cut to 79 bytes. Thread-safe.
    void name(const char* text) noexcept {
        const detail::memory_locked held(memory_lock_);
        if (control_ != nullptr) detail::set_name(control_, text);
    }

    // Builds elements for one thread, and publishes them in batches.
    class appender;

private:
    static constexpr size_type max_on_stack = 1024;    // bytes

    [[nodiscard]] size_type appenders_left_() const noexcept {
        return claims_.count_of_generation(detail::slots_locked(lock_), lock_.generation());
    }

    static constexpr const char* container_name_() noexcept { return "concurrent_vector"; }
};

// Builds elements for one thread, and publishes them in batches: when `batch` are built, at flush(), and in the destructor.
//
// An appender claims slots before it builds an element, so publishing cannot fail. When no other slots are left, the vector reclaims those
// that appenders have claimed and not used: to the element if max_elements was given, so that max_size() elements fit, with any number of
// appenders. With the default reservation, an appender with unpublished elements keeps up to 512 bytes more, and appending is faster.
//
// T must be relocatable, or its move must not throw. The vector must outlive the appender. One thread at a time may use an appender. It
// takes memory for a batch from the heap.
template <class T, class Policy>
class concurrent_vector<T, Policy>::appender {
    static_assert(detail::nothrow_relocatable<T>,
                  "an appender moves finished elements to their place when that must not fail: T's move may throw");

public:
    using value_type = T;

    static constexpr size_type default_batch = sizeof(T) < 2048 ? 2048 / sizeof(T) : 1;

    // A batch of 0 counts as one of 1. Throws std::bad_alloc, and std::length_error for a batch that no array can have.
    HEADROOM_ALWAYS_INLINE explicit appender(concurrent_vector& to, size_type batch = default_batch)
        : to_(std::addressof(to)), batch_(batch == 0 ? 1 : batch), claim_(begin_claim(to, batch_)),
          at_once_(to.has_user_limit_ ? 1 : uncounted_) {}
    appender(const appender&) = delete;
    appender& operator=(const appender&) = delete;

    // Publishes the unpublished elements.
    HEADROOM_ALWAYS_INLINE ~appender() {
        to_->publish_claimed(*claim_, first(), built_, 0);
        block::deallocate(claim_);
    }

    // Builds an element. Amortised O(1), O(batch) when that completes a batch, which it publishes. Throws std::length_error if neither
    // vector nor claim has a slot, `refused`, and what the constructor throws; nothing has changed then. Invalidates: nothing.
    template <class... Args>
    HEADROOM_ALWAYS_INLINE void emplace_back(Args&&... args) {
        const size_type count = built_ + 1;
        // At most a batch is announced, so one comparison shows both that the slot is claimed and that the batch is not complete. Both
        // branches build the element, so that a batch size known only at run time costs nothing.
        if (HEADROOM_USUALLY(count < announced_)) {
            places::build(first() + built_, static_cast<Args&&>(args)...);
            built_ = count;
        } else {
            if (count > announced_) announced_ = announce(to_, *claim_, built_, (std::min)(built_ + at_once_, batch_), batch_);
            places::build(first() + built_, static_cast<Args&&>(args)...);
            built_ = count;
            if (HEADROOM_UNLIKELY(count == batch_)) flush();
        }
    }
    HEADROOM_ALWAYS_INLINE void push_back(const T& value) { emplace_back(value); }
    HEADROOM_ALWAYS_INLINE void push_back(T&& value) { emplace_back(static_cast<T&&>(value)); }

    // Builds each element of the range. Elements before one that throws stay: built, and published where they completed a batch.
    template <detail::compatible_range<T> R>
    void append_range(R&& values) {
        detail::cursor_over<R> ends(values);
        auto& each = ends.first;
        const auto& last = ends.last;
        using iterator_of_range = detail::range_iterator<R>;
        using source = detail::copy_source<iterator_of_range>;
        if constexpr (detail::cursor_over<R>::is_sized && source::template constructs_bytewise<store, T>()) {
            auto left = static_cast<size_type>(last - each);
            const T* from = left == 0 ? nullptr : detail::contiguous_source<iterator_of_range>::address(each);
            while (left != 0) {
                const size_type wanted = built_ + (std::min)(left, batch_ - built_);
                if (wanted > announced_) announced_ = announce(to_, *claim_, built_, wanted, batch_);
                const size_type some = (std::min)(wanted, announced_) - built_;
                detail::copy_bytewise(first() + built_, from, some);
                built_ += some;
                if (built_ == batch_) flush();
                from += some;
                left -= some;
            }
        } else {
            for (; each != last; ++each) emplace_back(*each);
        }
    }
    void append_range(std::initializer_list<T> values) { append_range<const std::initializer_list<T>&>(values); }

    // Publishes the unpublished elements, then appends a T made of the result of make(index) to the vector, like the vector's
    // append_indexed(). Returns its index. An index is known only once the element has its place; for a batch of such elements call the
    // vector's append_indexed() with their number.
    template <class Make>
    size_type append_indexed(Make&& make) {
        flush();
        return to_->append_indexed(make);
    }

    // Number of unpublished elements: less than a batch.
    [[nodiscard]] size_type size() const noexcept { return built_; }

    // Publishes the unpublished elements, at consecutive indices. Never throws. O(batch).
    HEADROOM_ALWAYS_INLINE void flush() noexcept {
        if (built_ != 0) {
            to_->publish_claimed(*claim_, first(), built_, batch_);
        } else if (announced_ != 0) {
            claim_->withdraw_announcement();    // a constructor threw
        }
        built_ = announced_ = 0;
    }

    // Destroys the unpublished elements. O(batch).
    HEADROOM_ALWAYS_INLINE void discard() noexcept {
        store::destroy_(first(), first() + built_);
        built_ = announced_ = 0;
        claim_->withdraw_announcement();
    }

private:
    // On a cache line of its own, with the elements behind it: besides the appender, only a thread that reclaims slots reads it.
    HEADROOM_PADDED_BEGIN
    struct alignas(64) head : detail::claim {};
    HEADROOM_PADDED_END
    using block = detail::staging_block<head, T>;

    // Allocates a batch, and adds its empty claim to the vector's list.
    static head* begin_claim(concurrent_vector& to, size_type batch) {
        head* const made = block::allocate(batch);
        const detail::slots_locked held(to.lock_);
        to.claims_.add(held, *made, to.lock_.generation());
        return made;
    }

    [[nodiscard]] HEADROOM_ALWAYS_INLINE T* first() const noexcept { return block::elements(claim_); }

    // Announces that the batch will hold `wanted` elements, of which `built` exist. Returns how many the claim allows: more than `built`.
    HEADROOM_ALWAYS_INLINE static size_type announce(concurrent_vector* to, head& mine, size_type built, size_type wanted,
                                                     size_type batch) {
        if (HEADROOM_UNLIKELY(!mine.announce(wanted))) return to->extend_claim(mine, built, wanted, batch);
        return wanted;
    }

    // Functions that are not inlined get these by value, so that a local appender's address does not escape and the compiler keeps them in
    // registers through a loop of appends.
    concurrent_vector* to_;
    size_type batch_;
    head* claim_;
    // Number of elements announced at a time: one if the limit counts each, else 512 bytes' worth, because a store for each costs as much
    // as building an element of a few bytes.
    static constexpr size_type uncounted_ = (std::max)(size_type{1}, 512 / sizeof(T));
    size_type at_once_;
    size_type built_ = 0;
    size_type announced_ = 0;    // elements of this batch that other threads know of: see claims.hpp
};

}}    // namespace headroom
