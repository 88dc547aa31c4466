// SPDX-License-Identifier: MIT
// Operations at the end of a container: append, resize, remove the last. "Register cursor", a rule for all append functions: always
// inlined, they read the members once and pass them to the slow path by value. The address of a local container then does not escape, and
// the compiler keeps its members in registers.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/hardened.hpp>
#include <headroom/detail/vector/access.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/ranges.hpp>
#include <headroom/detail/vector/sources.hpp>
#include <headroom/relocatable.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Collects elements first, so that a throw leaves the target unchanged.
template <class Container>
struct scratch_container : Container {
    template <class From>
    constexpr explicit scratch_container(const From& from) noexcept : Container(from) {}
    scratch_container(const scratch_container&) = delete;
    scratch_container& operator=(const scratch_container&) = delete;
    constexpr ~scratch_container() { this->destroy_and_release_(); }
};

template <class Store>
class HEADROOM_HARDENED_ABI appending_ : public element_access_<Store> {
    using base_ = element_access_<Store>;

protected:
    using base_::base_;
    using base_::begin_;
    using base_::cap_;
    using base_::end_;
    using base_::expect_changeable_;
    using base_::is_full_;
    using base_::poison_removed_;
    using base_::raw_;
    using base_::unused_capacity_;

public:
    using base_::empty;
    using base_::max_size;
    using base_::size;
    using typename base_::difference_type;
    using typename base_::pointer;
    using typename base_::reference;
    using typename base_::size_type;
    using typename base_::value_type;

    // Makes capacity() at least `count`, and no larger than pages require. O(size()) where elements move. Throws std::length_error past
    // max_size(), std::bad_alloc when memory is refused; nothing has changed then. Invalidates: everything if elements moved.
    HEADROOM_ALWAYS_INLINE constexpr void reserve(size_type count) {
        if (count > max_size()) detail::throw_length_error("headroom: reserve() past max_size()");
        if (count > this->capacity()) {
            HEADROOM_UNPOISON_CAPACITY();
            this->reserve_exact_(count);
        }
    }

    // --- Append. Amortised O(1). Throw std::length_error past max_size(), std::bad_alloc when memory is refused, and what the element's
    // constructor throws; nothing has changed then. Where capacity doubles and elements are relocatable, one element past max_size()
    // throws std::bad_alloc instead. Invalidate: end(), and everything if elements moved. The constructor gets the caller's own arguments,
    // which may be or refer to elements, and builds the element in its final place, also when the container grows.

    HEADROOM_ALWAYS_INLINE constexpr void push_back(const value_type& value) { emplace_back(value); }
    HEADROOM_ALWAYS_INLINE constexpr void push_back(value_type&& value) { emplace_back(static_cast<value_type&&>(value)); }
    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr reference emplace_back(Args&&... args) {
        if constexpr (std::is_scalar_v<value_type> && can_construct_in_local_<Args...>) {
            // Both paths share the construction and the store of the end: GCC then keeps the end in a register over a loop.
            HEADROOM_CONVERSIONS_BEGIN
            const value_type made(static_cast<Args&&>(args)...);
            HEADROOM_CONVERSIONS_END
            if (HEADROOM_UNLIKELY(is_full_())) {
                HEADROOM_UNPOISON_CAPACITY();
                this->grow_by_one_();
            }
            return construct_at_end_(made);
        } else {
            if (HEADROOM_UNLIKELY(is_full_())) return *emplace_back_slow_<false>(static_cast<Args&&>(args)...);
            return construct_at_end_(static_cast<Args&&>(args)...);
        }
    }

    // Like emplace_back(), but returns null if full and unable to grow; the arguments are untouched then. Throws only as the constructor.
    template <class... Args>
    constexpr value_type* try_emplace_back(Args&&... args) {
        if (HEADROOM_UNLIKELY(is_full_())) return emplace_back_slow_<true>(static_cast<Args&&>(args)...);
        return std::addressof(construct_at_end_(static_cast<Args&&>(args)...));
    }
    constexpr value_type* try_push_back(const value_type& value) { return try_emplace_back(value); }
    constexpr value_type* try_push_back(value_type&& value) { return try_emplace_back(std::move(value)); }

    // Append without a check. Precondition: size() < capacity(). Throw only what the element's constructor throws. Invalidate: end().
    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr reference unchecked_emplace_back(Args&&... args) {
        HEADROOM_EXPECT(!is_full_(), no_room, "an unchecked append", 0);
        return construct_at_end_(static_cast<Args&&>(args)...);
    }
    HEADROOM_ALWAYS_INLINE constexpr reference unchecked_push_back(const value_type& value) {
        return unchecked_emplace_back(value);
    }
    HEADROOM_ALWAYS_INLINE constexpr reference unchecked_push_back(value_type&& value) {
        return unchecked_emplace_back(static_cast<value_type&&>(value));
    }

    template <compatible_range<value_type> R>
    constexpr void append_range(R&& values) {
        append_range_(cursor_over<R>(values));
    }

    // --- Size. O(difference), and O(size()) where elements move. Throw as appending does; nothing has changed then.
    // Invalidate: removed elements and end(); everything if elements moved.

    constexpr void resize(size_type count) { resize_from_(count, value_init_source{}); }
    constexpr void resize(size_type count, const value_type& value) { resize_from_(count, fill_source{value}); }
    // Default-initialises new elements: those of trivial types have the bytes that the memory held, in hardened builds zeros.
    constexpr void resize_default_init(size_type count) { resize_from_(count, default_init_source{}); }
    // Appends `count` default-initialised elements. Returns the address of the first, or of end() if count is 0.
    constexpr value_type* append_default_init(size_type count) {
        const size_type old = size();
        append_from_(count, default_init_source{});
        return raw_(begin_) + old;
    }
    // Resizes to `count` elements like resize_default_init(), calls operation(data(), count), and keeps as many elements as that returns.
    // Precondition: it returns at most `count`. If `operation` throws, no element is removed.
    template <class Operation>
    constexpr void resize_and_overwrite(size_type count, Operation operation) {
        expect_changeable_();
        if (count > size()) append_from_(count - size(), default_init_source{});
        const auto kept = static_cast<size_type>(std::move(operation)(this->data(), count));
        HEADROOM_EXPECT(kept <= count, too_many, "resize_and_overwrite()", kept);
        truncate_(kept);
    }

    // --- Removal at the end. Never throws, except file_error of a file_vector that may not be written to.

    // Precondition: not empty. O(1). Invalidates: the last element and end().
    HEADROOM_ALWAYS_INLINE constexpr void pop_back() noexcept(!Store::can_refuse_changes_) {
        expect_changeable_();
        HEADROOM_EXPECT_ELEMENT(!empty(), empty, "pop_back()", 0);
        --end_;
        if constexpr (!std::is_trivially_destructible_v<value_type> || !Store::uses_default_construct_())
            this->destroy_one_(raw_(end_));
        poison_removed_(1);
    }
    // Returns false if the container is empty.
    constexpr bool try_pop_back() noexcept(!Store::can_refuse_changes_) {
        expect_changeable_();
        if (begin_ == end_) return false;
        pop_back();
        return true;
    }
    // O(size()). capacity() stays. Invalidates: every element.
    constexpr void clear() noexcept(!Store::can_refuse_changes_) {
        expect_changeable_();
        truncate_(0);
    }

protected:
    // Appends one element. Precondition: size() < capacity(). A container with capacity has memory, so end_ is not null.
    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr reference construct_at_end_(Args&&... args) {
        HEADROOM_UNPOISON_TAIL(1);
        value_type* const place = raw_(end_);
        this->construct_(place, static_cast<Args&&>(args)...);
        set_end_after_(place);
        return *place;
    }
    // Sets the end to behind the element at `last`. Does not load end_, which may alias what that element's constructor wrote.
    HEADROOM_ALWAYS_INLINE constexpr void set_end_after_(value_type* last) noexcept {
        if constexpr (std::is_pointer_v<pointer>) {
            end_ = last + 1;
        } else {
            ++end_;
        }
    }
    // True if the element may be built in a local before growing: at most 64 bytes, and built and copied without the program's code.
    template <class... Args>
    static constexpr bool can_construct_in_local_ = Store::template uses_default_construct_<Args...>() &&
                                                    sizeof(value_type) <= 64 && can_construct_as_bytes<value_type, Args...>;
    // Slow path of emplace_back(): appends to a full container in one of three ways. With `Quiet`, returns null if it cannot grow.
    template <bool Quiet, class... Args>
    HEADROOM_OPTIMISED_INLINE constexpr value_type* emplace_back_slow_(Args&&... args) {
        HEADROOM_UNPOISON_CAPACITY();
        if constexpr (Store::never_relocates_) {
            // 1. Grow, then construct: elements never move, and so do not the arguments that refer to them.
            return grow_then_construct_<Quiet>(static_cast<Args&&>(args)...);
        } else if constexpr (!Quiet && can_construct_in_local_<Args...>) {
            // 2. Construct in a local, then grow and copy.
            HEADROOM_CONVERSIONS_BEGIN
            const value_type made(static_cast<Args&&>(args)...);
            HEADROOM_CONVERSIONS_END
            return grow_then_construct_<false>(made);
        } else {
            if constexpr (!Quiet && Store::can_realloc_() && constructed_from_values<value_type, Args...>) {
                // 1. again, for arguments outside of the elements. Memory they point to is not checked (docs/reference/relocatable.md).
                if (!HEADROOM_CONSTANT_EVALUATED() && (detail::lies_outside(begin_, end_, args) && ...)) {
                    return grow_then_construct_<false>(static_cast<Args&&>(args)...);
                }
            }
            // 3. Construct in a larger block, then relocate the old elements.
            return this->template construct_in_new_block_<Quiet>(end_, static_cast<Args&&>(args)...);
        }
    }
    // Grows by one element, then constructs it at the end. With `Quiet`, returns null if it cannot grow.
    template <bool Quiet, class... Args>
    HEADROOM_OPTIMISED_INLINE constexpr value_type* grow_then_construct_(Args&&... args) {
        if constexpr (Quiet) {
            if (!this->try_grow_by_one_()) return nullptr;
        } else {
            this->grow_by_one_();
        }
        value_type* const place = raw_(end_);
        this->construct_(place, static_cast<Args&&>(args)...);
        set_end_after_(place);
        return place;
    }
    // Grows by `now` elements before any is built; returns true. Returns false if that was not safe: then the elements [skip, skip +
    // count) of the source were built at `index`, in a larger block.
    template <class Source>
    constexpr bool grow_for_(size_type index, size_type now, size_type count, const Source& source, size_type skip) {
        const size_type needed = checked_new_size_(now);
        HEADROOM_UNPOISON_CAPACITY();
        if constexpr (Store::never_relocates_ || Source::template grows_first<Store, value_type>) {
            this->grow_to_(needed);
            return true;
        } else {
            if constexpr (Store::can_realloc_()) {
                if ((base_::is_bytewise_() || index == size()) && can_grow_before_construct_(source, skip, count)) {
                    this->grow_to_(needed);
                    return true;
                }
            }
            if (this->try_expand_in_place_(needed)) return true;
            this->construct_many_in_new_block_(begin_ + static_cast<difference_type>(index), count, source, skip);
            return false;
        }
    }
    // True if growing first is safe: the store never relocates, or building the elements cannot throw and reads none that is moved.
    template <class Source>
    HEADROOM_OPTIMISED_INLINE constexpr bool can_grow_before_construct_([[maybe_unused]] const Source& source,
                                                                        [[maybe_unused]] size_type skip,
                                                                        [[maybe_unused]] size_type count) const noexcept {
        if constexpr (Store::never_relocates_) {
            return true;
        } else {
            if (HEADROOM_CONSTANT_EVALUATED() || !(Store::can_realloc_() || begin_ == pointer())) return false;
            return source.may_build_in_place(raw_(begin_), raw_(end_), skip, count);
        }
    }

    // Destroys the elements from `count` on. Precondition: count <= size().
    constexpr void truncate_(size_type count) noexcept {
        const size_type gone = size() - count;
        this->destroy_(raw_(begin_) + count, raw_(end_));
        end_ = begin_ + static_cast<difference_type>(count);
        poison_removed_(gone);
    }

    constexpr size_type checked_new_size_(size_type more) const {
        if (more > max_size() - size()) detail::throw_length_error("headroom: past max_size()");
        return size() + more;
    }

    // True if the library writes the elements of the source: see bulk_elements.hpp.
    template <class Source>
    static constexpr bool is_bulk_() noexcept {
        return Store::has_bulk_() && Source::template is_bulk<Store, value_type>;
    }
    // True if it writes copies of one T().
    template <class Source>
    static constexpr bool is_bulk_zero_() noexcept {
        return Store::has_bulk_() && std::is_same_v<Source, value_init_source> &&
               value_init_source::is_repeatable<Store, value_type>;
    }
    // Appends the elements [skip, skip + count) of the source. Inline while the capacity suffices: the compiler still knows the size.
    template <class Source>
    HEADROOM_ALWAYS_INLINE constexpr void append_from_(size_type count, const Source& source, size_type skip = 0) {
        expect_changeable_();
        if constexpr (is_bulk_<Source>()) {
            HEADROOM_IF_RUN_TIME {
                if (count <= unused_capacity_() || this->allocate_short_(count, true)) {
                    append_within_capacity_(count, source, skip);
                } else {
                    HEADROOM_UNPOISON_CAPACITY();
                    this->template append_bulk_<Source::repeats>(source.template bulk_elements<value_type>(skip), count);
                }
                return;
            }
        } else if constexpr (is_bulk_zero_<Source>()) {
            HEADROOM_IF_RUN_TIME {
                if (std::is_scalar_v<value_type> && (count <= unused_capacity_() || this->allocate_short_(count, true))) {
                    append_within_capacity_(count, source, skip);
                } else {
                    const value_type zero = value_type();
                    append_from_(count, fill_source{zero});
                }
                return;
            }
        }
        if (count > unused_capacity_()) {
            if constexpr (Store::never_relocates_ || is_trivially_relocatable_v<value_type>) {
                if (begin_ == pointer() && count <= step_size_() && can_grow_before_construct_(source, skip, count)) {
                    HEADROOM_UNPOISON_CAPACITY();
                    this->grow_to_(count);
                    append_within_capacity_(count, source, skip);
                    return;
                }
            }
            append_with_growth_(count, source, skip);
        } else {
            append_within_capacity_(count, source, skip);
        }
    }
    // Appends the elements [skip, skip + count) of the source. Precondition: they fit in the capacity.
    template <class Source>
    constexpr void append_within_capacity_(size_type count, const Source& source, size_type skip) {
        HEADROOM_UNPOISON_TAIL(count);
        const auto from = end_;    // end_ is not read again: the compiler cannot know that it did not change
        source.construct_(this->as_store_(), raw_(from), skip, count);
        end_ = from + static_cast<difference_type>(count);
    }

    // Resizes to `count` elements; new ones come from the source.
    template <class Source>
    HEADROOM_ALWAYS_INLINE constexpr void resize_from_(size_type count, const Source& source) {
        expect_changeable_();
        if (count <= size()) {
            truncate_(count);
        } else {
            append_from_(count - size(), source);
        }
    }

    // Elements to build between two commits when many are appended. The system zeroes fresh pages, and 128 KiB of them are still in the
    // second-level cache when elements are built there.
    static constexpr size_type step_size_() noexcept {
        constexpr size_type bytes = size_type{128} << 10;
        return sizeof(value_type) < bytes ? bytes / sizeof(value_type) : 1;
    }

    // Scope guard: truncates to the size that it was made with unless `committed` was set, and releases memory that was committed or
    // charged since.
    struct append_rollback_ {
        appending_& to;
        size_type old_capacity = to.capacity();
        size_type old = to.size();
        bool committed = false;
        constexpr explicit append_rollback_(appending_& of) noexcept : to(of) {}
        append_rollback_(const append_rollback_&) = delete;
        append_rollback_& operator=(const append_rollback_&) = delete;
        constexpr ~append_rollback_() {
            if (!committed) to.undo_append_(old, old_capacity);
        }
    };
    HEADROOM_COLD constexpr void undo_append_(size_type old, size_type old_capacity) noexcept {
        truncate_(old);
        HEADROOM_UNPOISON_CAPACITY();
        this->restore_capacity_(old_capacity);
    }

    // Returns how many of `count` more elements to build at a time: one step if the memory of all could be charged in place, else all.
    // Charging first makes an oversized request fail before it touches memory.
    HEADROOM_NOINLINE constexpr size_type elements_per_step_(size_type count) {
        return !HEADROOM_CONSTANT_EVALUATED() && this->charge_(checked_new_size_(count), step_size_()) ? step_size_() : count;
    }
    // Slow path of append_from_(): appends more elements than the capacity holds, in steps if the source allows it.
    template <class Source>
    HEADROOM_NOINLINE constexpr void append_with_growth_(size_type count, const Source& source, size_type skip) {
        append_rollback_ guard(*this);
        if constexpr (!Store::never_relocates_) {
            if constexpr (!Store::can_realloc_()) {
                HEADROOM_UNPOISON_CAPACITY();
                this->append_in_steps_(count, source, skip, Source::can_build_in_steps ? step_size_() : count);
                guard.committed = true;
                return;
            }
        }
        size_type most = Source::can_build_in_steps && count > step_size_() ? elements_per_step_(count) : count;
        if constexpr (Source::template writes_nothing<Store, value_type>) {
            // Elements that are not written to here are not populated either. In place that needs no geometric growth.
            if (most != count) {
                HEADROOM_UNPOISON_CAPACITY();
                this->reserve_exact_(size() + count);
            }
            most = count;
        }
        while (count != 0) {
            // Fills the capacity before it grows: a step that lacks only a few elements would be taken for a push_back, and a long copy in
            // one go passes by the processor's cache.
            const size_type now = (std::min)(count, most != count && unused_capacity_() != 0 ? unused_capacity_() : most);
            if (now > unused_capacity_() && !grow_for_(size(), now, count, source, skip)) break;
            append_within_capacity_(now, source, skip);
            count -= now;
            skip += now;
        }
        guard.committed = true;
    }

    // Appends a single-pass range. If it throws or memory is refused, nothing has changed: collects elements past the capacity elsewhere.
    template <class It, class End>
    constexpr void append_single_pass_(It first, End last) {
        append_rollback_ guard(*this);
        for (; first != last; ++first) {
            if constexpr (!Store::never_relocates_) {
                if (is_full_() && guard.old != 0) {
                    scratch_container<appending_> rest(this->store_argument_());
                    // Fails before it collects an element that cannot fit in the end.
                    for (; first != last; ++first) {
                        checked_new_size_(rest.size() + 1);
                        rest.emplace_back(*first);
                    }
                    append_from_(rest.size(), detail::move_source(rest.data()));
                    break;
                }
            }
            emplace_back(*first);
        }
        guard.committed = true;
    }

    // Appends the elements of a cursor. A multi-pass one is counted first; of another, the size hint is reserved.
    template <class Cursor>
    constexpr void append_range_(Cursor cursor) {
        expect_changeable_();
        if constexpr (Cursor::multi_pass) {
            const size_type count = cursor.count();    // before the iterator is moved from
            append_from_(count, copy_source<typename Cursor::iterator>{std::move(cursor.first)});
        } else {
            // Grows geometrically, so that appending many short ranges moves elements no more often than appending one by one.
            if (cursor.size_hint > unused_capacity_()) {
                const size_type needed = checked_new_size_(cursor.size_hint);
                HEADROOM_UNPOISON_CAPACITY();
                this->grow_to_(needed);
            }
            append_single_pass_(std::move(cursor.first), std::move(cursor.last));
        }
    }

    // Constructs the elements of a new vector.
    template <class Source>
    HEADROOM_ALWAYS_INLINE constexpr void construct_initial_(size_type count, const Source& source) {
        if constexpr (is_bulk_<Source>()) {
            HEADROOM_IF_RUN_TIME {
                if (this->allocate_short_(count, false)) return append_within_capacity_(count, source, 0);
                HEADROOM_UNPOISON_CAPACITY();
                this->template construct_bulk_<Source::repeats>(source.template bulk_elements<value_type>(0), count);
                return;
            }
        } else if constexpr (is_bulk_zero_<Source>()) {
            HEADROOM_IF_RUN_TIME {
                if (std::is_scalar_v<value_type> && this->allocate_short_(count, false)) {
                    return append_within_capacity_(count, source, 0);
                }
                const value_type zero = value_type();
                construct_initial_(count, fill_source{zero});
                return;
            }
        }
        if (count != 0) construct_in_steps_(count, source);
    }
    // Constructs the elements of a new vector in steps, so that their pages are still in the cache. If that throws, those built stay.
    template <class Source>
    constexpr void construct_in_steps_(size_type count, const Source& source) {
        HEADROOM_UNPOISON_CAPACITY();
        size_type step = this->allocate_for_steps_(count, Source::can_build_in_steps ? step_size_() : count);
        while (this->build_in_steps_(source, 0, count, step) != count) {
            this->start_over_(count);
            step = count;
        }
    }
    // Constructs the elements of a new vector from a cursor.
    template <class Cursor>
    constexpr void construct_range_(Cursor cursor) {
        if constexpr (Cursor::multi_pass) {
            const size_type count = cursor.count();    // before the iterator is moved from
            construct_initial_(count, copy_source<typename Cursor::iterator>{std::move(cursor.first)});
        } else {
            reserve(cursor.size_hint);
            append_single_pass_(std::move(cursor.first), std::move(cursor.last));
        }
    }
};

}}}    // namespace headroom::detail
