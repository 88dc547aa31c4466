// What happens at the end of a container: appending one element or many, resizing, removing the last.
//
// A rule for the append functions: they are inlined always, read the members once, and hand them to the slow path by value,
// so that the compiler may keep the members of a local container in registers ("register cursor").
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

namespace headroom { inline namespace v0_1 { namespace detail {

// A container of its own, for elements that must not be in another one before all of them are there.
template <class Container>
struct gathered : Container {
    template <class From>
    constexpr explicit gathered(const From& from) noexcept : Container(from) {}
    gathered(const gathered&) = delete;
    gathered& operator=(const gathered&) = delete;
    constexpr ~gathered() { this->give_up_(); }
};

template <class Store>
class HEADROOM_HARDENED_ABI appending_ : public element_access_<Store> {
    using base_ = element_access_<Store>;

protected:
    using base_::base_;
    using base_::begin_;
    using base_::cap_;
    using base_::end_;
    using base_::raw_;
    using base_::retreated_;
    using base_::spare_;

public:
    using base_::empty;
    using base_::max_size;
    using base_::size;
    using typename base_::difference_type;
    using typename base_::pointer;
    using typename base_::reference;
    using typename base_::size_type;
    using typename base_::value_type;

    // Makes capacity() at least `count`, and no more than the granularity of memory asks for. O(size()) where elements move.
    // Throws std::length_error past max_size(), std::bad_alloc when memory is refused; nothing has changed then.
    // Invalidates: everything if elements moved (see the container's header), else nothing.
    // (Inlined, so that no call takes the container's address: a loop of appends would then store its end each time.)
    HEADROOM_ALWAYS_INLINE constexpr void reserve(size_type count) {
        if (count > max_size()) detail::throw_length_error("headroom: reserve() past max_size()");
        if (count > this->capacity()) {
            HEADROOM_OPEN_TAIL();
            this->reserve_room_(count);
        }
    }

    // --- Append. Amortised O(1). Throw std::length_error past max_size() (std::bad_alloc for one more of relocatable elements whose
    // capacity doubles), std::bad_alloc when memory is refused, and what the element's constructor throws; nothing has changed
    // then. Invalidates: end(), and everything if elements moved.
    // The constructor is given the caller's own arguments, which may be or refer to elements, and builds the element in its final
    // place, whether the container must grow or not.

    HEADROOM_ALWAYS_INLINE constexpr void push_back(const value_type& value) { emplace_back(value); }
    HEADROOM_ALWAYS_INLINE constexpr void push_back(value_type&& value) { emplace_back(static_cast<value_type&&>(value)); }
    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr reference emplace_back(Args&&... args) {
        if (HEADROOM_UNLIKELY(end_ == cap_)) return *append_when_full_<false>(static_cast<Args&&>(args)...);
        return append_here_(static_cast<Args&&>(args)...);
    }

    // The same, but null instead of an exception when there is no room and none can be had; the arguments are untouched then.
    // What the element's constructor throws still propagates.
    template <class... Args>
    constexpr value_type* try_emplace_back(Args&&... args) {
        if (HEADROOM_UNLIKELY(end_ == cap_)) return append_when_full_<true>(static_cast<Args&&>(args)...);
        return std::addressof(append_here_(static_cast<Args&&>(args)...));
    }
    constexpr value_type* try_push_back(const value_type& value) { return try_emplace_back(value); }
    constexpr value_type* try_push_back(value_type&& value) { return try_emplace_back(std::move(value)); }

    // The same without a check. Precondition: size() < capacity(). Throw only what the element's constructor throws.
    // Invalidate: end().
    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr reference unchecked_emplace_back(Args&&... args) {
        HEADROOM_EXPECT(end_ != cap_, no_room, "an unchecked append", 0);
        return append_here_(static_cast<Args&&>(args)...);
    }
    HEADROOM_ALWAYS_INLINE constexpr reference unchecked_push_back(const value_type& value) {
        return unchecked_emplace_back(value);
    }
    HEADROOM_ALWAYS_INLINE constexpr reference unchecked_push_back(value_type&& value) {
        return unchecked_emplace_back(static_cast<value_type&&>(value));
    }

    template <compatible_range<value_type> R>
    constexpr void append_range(R&& values) {
        append_along_(way_through<R>(values));
    }

    // --- Size. O(difference), and O(size()) where elements move. Throw as appending does; nothing has changed then.
    // Invalidate: removed elements and end(); everything if elements moved.

    constexpr void resize(size_type count) { resize_from_(count, defaults{}); }
    constexpr void resize(size_type count, const value_type& value) { resize_from_(count, repeated{value}); }
    // New elements are default-initialised: for trivial types, whatever the memory held (hardened: zero bytes).
    constexpr void resize_default_init(size_type count) { resize_from_(count, unspecified{}); }
    // Appends `count` default-initialised elements, and returns where the first of them is (or would be).
    constexpr value_type* append_default_init(size_type count) {
        const size_type old = size();
        append_from_(count, unspecified{});
        return raw_(begin_) + old;
    }
    // Makes the size `count` as resize_default_init does, calls `operation(data(), count)`, and keeps as many elements as it
    // returns. Precondition: at most `count`. If `operation` throws, `count` elements stay.
    template <class Operation>
    constexpr void resize_and_overwrite(size_type count, Operation operation) {
        if (count > size()) append_from_(count - size(), unspecified{});
        const auto kept = static_cast<size_type>(std::move(operation)(this->data(), count));
        HEADROOM_EXPECT(kept <= count, too_many, "resize_and_overwrite()", kept);
        truncate_(kept);
    }

    // --- Removal at the end. Never throws.

    // Precondition: not empty. O(1). Invalidates: the last element and end().
    HEADROOM_ALWAYS_INLINE constexpr void pop_back() noexcept {
        HEADROOM_EXPECT_ELEMENT(!empty(), empty, "pop_back()", 0);
        --end_;
        if constexpr (!std::is_trivially_destructible_v<value_type> || !Store::plain_()) this->destroy_one_(raw_(end_));
        retreated_(1);
    }
    // False, and nothing done, when empty.
    constexpr bool try_pop_back() noexcept {
        if (begin_ == end_) return false;
        pop_back();
        return true;
    }
    // O(size()). capacity() stays. Invalidates: every element.
    constexpr void clear() noexcept { truncate_(0); }

protected:
    // One element behind the last, where there is room. (A container with room has memory, so its end is a plain place.)
    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr reference append_here_(Args&&... args) {
        HEADROOM_TAIL_WINDOW(1);
        value_type* const place = raw_(end_);
        this->construct_(place, static_cast<Args&&>(args)...);
        ++end_;
        return *place;
    }
    // Whether an element made from these may be made aside first: it is a few bytes, and no constructor of the program's sees that it
    // is copied.
    template <class... Args>
    static constexpr bool made_aside_ =
        Store::template plain_<Args...>() && sizeof(value_type) <= 64 && made_as_bytes<value_type, Args...>;
    // One element when there is no room, in one of three ways. Null only where `Quiet` and there is none to be had.
    template <bool Quiet, class... Args>
    HEADROOM_ALWAYS_INLINE constexpr value_type* append_when_full_(Args&&... args) {
        HEADROOM_OPEN_TAIL();
        if constexpr (Store::stable_) {
            // 1. Room first: the elements stay where they are, and so does all that the new one is built from.
            return built_in_new_room_<Quiet>(static_cast<Args&&>(args)...);
        } else if constexpr (!Quiet && made_aside_<Args...>) {
            // 2. The element first, aside.
            HEADROOM_CONVERSIONS_BEGIN
            const value_type made(static_cast<Args&&>(args)...);
            HEADROOM_CONVERSIONS_END
            return built_in_new_room_<false>(made);
        } else {
            if constexpr (!Quiet && Store::moves_as_bytes_() && made_of_values<value_type, Args...>) {
                // 1. again: they are seen to lie elsewhere. (What a T points to is not asked about: docs/reference/relocatable.md.)
                if (!HEADROOM_CONSTANT_EVALUATED() && (detail::lies_outside(begin_, end_, args) && ...)) {
                    return built_in_new_room_<false>(static_cast<Args&&>(args)...);
                }
            }
            // 3. A larger block first: the new element is built there, and then the old ones follow.
            return this->template build_one_<Quiet>(end_, static_cast<Args&&>(args)...);
        }
    }
    template <bool Quiet, class... Args>
    HEADROOM_ALWAYS_INLINE constexpr value_type* built_in_new_room_(Args&&... args) {
        if constexpr (Quiet) {
            if (!this->try_grow_room_for_one_()) return nullptr;
        } else {
            this->grow_room_for_one_();
        }
        value_type* const place = raw_(end_);
        this->construct_(place, static_cast<Args&&>(args)...);
        ++end_;
        return place;
    }
    // Room for `now` elements more, where there is none, before any is built. False where there was no such room: then all
    // `count` of the source but its first `skip` have been built at `index`, in a larger block.
    template <class Source>
    constexpr bool room_for_many_(size_type index, size_type now, size_type count, const Source& source, size_type skip) {
        const size_type needed = checked_sum_(now);
        HEADROOM_OPEN_TAIL();
        if constexpr (Store::stable_) {
            this->grow_room_(needed);
            return true;
        } else {
            if constexpr (Store::moves_as_bytes_()) {
                if ((base_::bytewise_() || index == size()) && may_grow_first_(source, skip, count)) {
                    this->grow_room_(needed);
                    return true;
                }
            }
            if (this->widen_(needed)) return true;
            this->build_many_(begin_ + static_cast<difference_type>(index), count, source, skip);
            return false;
        }
    }
    // Whether room may be made before elements are built from the source: nothing can fail then, and nothing they are built from moves.
    template <class Source>
    HEADROOM_ALWAYS_INLINE constexpr bool may_grow_first_([[maybe_unused]] const Source& source, [[maybe_unused]] size_type skip,
                                                          [[maybe_unused]] size_type count) const noexcept {
        if constexpr (Store::stable_) {
            return true;
        } else {
            if (HEADROOM_CONSTANT_EVALUATED() || !(Store::moves_as_bytes_() || begin_ == pointer())) return false;
            return source.lies_outside(raw_(begin_), raw_(end_), skip, count);
        }
    }

    // Destroys the elements from `count` on.
    constexpr void truncate_(size_type count) noexcept {
        const size_type gone = size() - count;
        this->destroy_(raw_(begin_) + count, raw_(end_));
        end_ = begin_ + static_cast<difference_type>(count);
        retreated_(gone);
    }

    constexpr size_type checked_sum_(size_type more) const {
        if (more > max_size() - size()) detail::throw_length_error("headroom: past max_size()");
        return size() + more;
    }

    // Appends `count` elements from the source, whose first `skip` are not wanted. (Inline, as far as there is room or the vector is
    // empty: then the compiler still knows its size behind this.)
    template <class Source>
    HEADROOM_ALWAYS_INLINE constexpr void append_from_(size_type count, const Source& source, size_type skip = 0) {
        if (count > spare_()) {
            if (begin_ != pointer() || count > step_() || !may_grow_first_(source, skip, count)) {
                append_beyond_(count, source, skip);
                return;
            }
            HEADROOM_OPEN_TAIL();
            this->grow_room_(count);
        }
        append_into_room_(count, source, skip);
    }
    template <class Source>
    constexpr void append_into_room_(size_type count, const Source& source, size_type skip) {
        HEADROOM_TAIL_WINDOW(count);
        const auto from = end_;    // (not read again when all is built: the compiler cannot know that it is the same)
        source.construct_(this->floor_(), raw_(from), skip, count);
        end_ = from + static_cast<difference_type>(count);
    }

    template <class Source>
    HEADROOM_ALWAYS_INLINE constexpr void resize_from_(size_type count, const Source& source) {
        if (count <= size()) {
            truncate_(count);
        } else {
            append_from_(count - size(), source);
        }
    }

    // As many elements as fill what is committed at a time when many are appended: fresh pages are zeroed by the system, and
    // elements go into them while they are still in the second-level cache.
    static constexpr size_type step_() noexcept {
        constexpr size_type bytes = size_type{128} << 10;
        return sizeof(value_type) < bytes ? bytes / sizeof(value_type) : 1;
    }

    // What was appended goes again, unless all of it was.
    struct appended_ {
        appending_& to;
        size_type old;
        bool all = false;
        constexpr ~appended_() {
            if (!all) to.truncate_(old);
        }
    };

    // Returns how many of `count` more elements to build at a time: one step, if the memory of all could be charged in place, else all.
    // Charging first makes an oversized request fail before it touches memory.
    HEADROOM_NOINLINE constexpr size_type elements_per_step_(size_type count) {
        return !HEADROOM_CONSTANT_EVALUATED() && this->try_charge_(checked_sum_(count), step_()) ? step_() : count;
    }
    // The same for more than there is room for: in steps, where the source allows it, else at once.
    template <class Source>
    constexpr void append_beyond_(size_type count, const Source& source, size_type skip) {
        size_type most = Source::in_steps && count > step_() ? elements_per_step_(count) : count;
        if constexpr (Source::template touches_nothing<Store, value_type>) {
            // Elements that are not written to here are not populated either. In place that needs no room for growth.
            if (most != count) {
                HEADROOM_OPEN_TAIL();
                this->reserve_room_(size() + count);
            }
            most = count;
        }
        appended_ guard{*this, size()};
        while (count != 0) {
            size_type now = (std::min)(count, most);
            // (Spare capacity is filled before the vector grows: a step that lacks a few elements only would be taken for a push_back.)
            if (now != count && spare_() != 0) now = (std::min)(now, spare_());
            if (now > spare_() && !room_for_many_(size(), now, count, source, skip)) break;
            append_into_room_(now, source, skip);
            count -= now;
            skip += now;
        }
        guard.all = true;
    }

    // A range that can be walked but once. Where memory is refused in the middle of it, or the range throws, everything is as
    // it was, and where it was: what is beyond the capacity is gathered elsewhere first.
    template <class It, class End>
    constexpr void append_each_(It first, End last) {
        appended_ guard{*this, size()};
        for (; first != last; ++first) {
            if constexpr (!Store::stable_) {
                if (end_ == cap_ && guard.old != 0) {
                    gathered<appending_> rest(this->fresh_());
                    // (What cannot come here in the end is not gathered: memory might be refused before that is found out.)
                    for (; first != last; ++first) {
                        checked_sum_(rest.size() + 1);
                        rest.emplace_back(*first);
                    }
                    append_from_(rest.size(), detail::given_away(rest.data()));
                    break;
                }
            }
            emplace_back(*first);
        }
        guard.all = true;
    }

    template <class Way>
    constexpr void append_along_(Way way) {
        if constexpr (Way::often) {
            const size_type count = way.count();    // (before the iterator is given away)
            append_from_(count, taken_from<typename Way::iterator>{std::move(way.first)});
        } else {
            // (As appending grows: where short ranges are appended one after the other, the elements move no more often than if
            // they came one by one.)
            if (way.guess > spare_()) {
                const size_type needed = checked_sum_(way.guess);
                HEADROOM_OPEN_TAIL();
                this->grow_room_(needed);
            }
            append_each_(std::move(way.first), std::move(way.last));
        }
    }

    // The first elements of a new vector.
    template <class Source>
    constexpr void fill_(size_type count, const Source& source) {
        // Elements that cannot even be moved may be built in place: no path that grows is asked to compile for them.
        if constexpr (std::is_move_constructible_v<value_type>) {
            if (count > step_()) {
                open_in_steps_(count);
                append_beyond_(count, source, 0);
                return;
            }
        }
        {
            HEADROOM_OPEN_TAIL();
            this->open_(count, count);
        }
        append_into_room_(count, source, 0);
    }
    HEADROOM_NOINLINE constexpr void open_in_steps_(size_type count) {
        HEADROOM_OPEN_TAIL();
        this->open_(count, step_());
    }
    template <class Way>
    constexpr void fill_along_(Way way) {
        if constexpr (Way::often) {
            const size_type count = way.count();    // (before the iterator is given away)
            fill_(count, taken_from<typename Way::iterator>{std::move(way.first)});
        } else {
            reserve(way.guess);
            append_each_(std::move(way.first), std::move(way.last));
        }
    }
};

}}}    // namespace headroom::detail
