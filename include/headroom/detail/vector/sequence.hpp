// The interface of std::vector, written once for all containers of contiguous elements, over a `Store`: see store.hpp.
//
// It is written in three parts, each standing on the one before: what there is (access.hpp), what happens at the end (appending.hpp),
// and here what happens in the middle, what replaces all elements, and what compares them.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>    // equal, lexicographical_compare_three_way

#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/hardened.hpp>
#include <headroom/detail/vector/appending.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/ranges.hpp>
#include <headroom/detail/vector/rearrange.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// What the standard calls synth-three-way: <=> where the type has it, made from < where not.
template <class T>
concept ordered = std::three_way_comparable<T> || requires(const T& a, const T& b) {
    { a < b } -> std::convertible_to<bool>;
    { !(a < b) } -> std::convertible_to<bool>;
};
template <ordered T>
constexpr auto compare_three_way(const T& a, const T& b) {
    if constexpr (std::three_way_comparable<T>) {
        return a <=> b;
    } else {
        if (a < b) return std::weak_ordering::less;
        if (b < a) return std::weak_ordering::greater;
        return std::weak_ordering::equivalent;
    }
}

// Containers compared, element by element. O(min(size)). (The operators are each container's own: for one of a base, an operator
// of the program's that takes anything would be the better match. And they are templates, as std::vector's: others would be
// asked, too, about whatever converts to a container, and be as good a match as its own operator.)
template <class Container>
constexpr bool equal_elements(const Container& a, const Container& b) {
    return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}
template <class Container>
constexpr auto compare_elements(const Container& a, const Container& b) {
    return std::lexicographical_compare_three_way(a.data(), a.data() + a.size(), b.data(), b.data() + b.size(),
                                                  detail::compare_three_way<typename Container::value_type>);
}

template <class Store>
class HEADROOM_HARDENED_ABI sequence_ : public appending_<Store> {
    using base_ = appending_<Store>;

protected:
    using base_::append_from_;
    using base_::at_index_;
    using base_::base_;
    using base_::begin_;
    using base_::bytewise_;
    using base_::cap_;
    using base_::end_;
    using base_::floor_;
    using base_::index_of_;
    using base_::raw_;
    using base_::room_for_many_;
    using base_::spare_;
    using base_::truncate_;

public:
    using base_::max_size;
    using base_::size;
    using typename base_::const_iterator;
    using typename base_::difference_type;
    using typename base_::iterator;
    using typename base_::size_type;
    using typename base_::value_type;

    // --- Erasing. Throws what the element's assignment throws.

    // O(elements erased + elements behind them). Invalidates: the erased elements and all behind them.
    constexpr iterator erase(const_iterator where) {
        const size_type index = index_of_(where, "erase()");
        HEADROOM_EXPECT(index != size(), no_position, "erase()", reinterpret_cast<std::uintptr_t>(std::to_address(where)));
        if constexpr (bytewise_()) {
            return erase_at_(index, 1);
        } else {
            detail::push_down_by_one(raw_(begin_) + index + 1, raw_(end_));
            this->pop_back();
            return at_index_(index);
        }
    }
    constexpr iterator erase(const_iterator first, const_iterator last) {
        const size_type index = index_of_(first, "erase()");
        const size_type end = index_of_(last, "erase()");
        HEADROOM_EXPECT(index <= end, backwards, "erase()", 0);
        return erase_at_(index, end - index);
    }

    // --- Insertion. O(elements inserted + elements behind them). Throw as appending does; when what throws is an element's
    // constructor or assignment, the container is left valid but with unspecified elements (unchanged when at the end, one
    // element). Invalidate: the elements from the place of insertion on, and everything if elements moved. The value may be
    // an element of the container, a range must not. emplace() passes its arguments on as they are, and builds the element in its
    // final place at the end and in a larger block; where others must make way for it, it is built aside and then moved.

    template <class... Args>
    constexpr iterator emplace(const_iterator where, Args&&... args) {
        return emplace_at_(index_of_(where, "emplace()"), std::forward<Args>(args)...);
    }
    constexpr iterator insert(const_iterator where, const value_type& value) {
        return emplace_at_(index_of_(where, "insert()"), value);
    }
    constexpr iterator insert(const_iterator where, value_type&& value) {
        return emplace_at_(index_of_(where, "insert()"), std::move(value));
    }

    constexpr iterator insert(const_iterator where, size_type count, const value_type& value) {
        const size_type index = index_of_(where, "insert()");
        if constexpr (bytewise_()) {
            const value_type copy(value);
            return insert_from_(index, count, repeated{copy});
        } else if (index == size()) {
            append_from_(count, repeated{value});
        } else if (count != 0 && (count <= spare_() || room_for_many_(index, count, count, repeated{value}, 0))) {
            // (The value may be an element that the others push along.)
            temporary<Store> copy(floor_(), value);
            fill_gap_(index, count, repeated<value_type>{copy.get()});
        }
        return at_index_(index);
    }
    template <any_input_iterator It>
    constexpr iterator insert(const_iterator where, It first, It last) {
        return insert_along_(index_of_(where, "insert()"), detail::way_between(std::move(first), std::move(last)));
    }
    constexpr iterator insert(const_iterator where, std::initializer_list<value_type> values) {
        return insert(where, values.begin(), values.end());
    }
    template <compatible_range<value_type> R>
    constexpr iterator insert_range(const_iterator where, R&& values) {
        return insert_along_(index_of_(where, "insert_range()"), way_through<R>(values));
    }

    // --- Assignment. O(old size + new size). Throws as insertion does; the container is left valid but with unspecified
    // elements when an element's constructor or assignment throws. Invalidates: every element. The value may be an element.
    // Writes over the elements that are there and builds the rest, as std::vector's does; so a range must not lie in the container,
    // nor belong to one of its elements (its children, say) unless a vector takes a larger block for it.

    constexpr void assign(size_type count, const value_type& value) { assign_from_(count, repeated{value}); }
    template <any_input_iterator It>
    constexpr void assign(It first, It last) {
        assign_along_(detail::way_between(std::move(first), std::move(last)));
    }
    constexpr void assign(std::initializer_list<value_type> values) { assign(values.begin(), values.end()); }
    template <compatible_range<value_type> R>
    constexpr void assign_range(R&& values) {
        assign_along_(way_through<R>(values));
    }

protected:
    constexpr iterator erase_at_(size_type index, size_type count) {
        if (count != 0) {
            value_type* const to = raw_(begin_) + index;
            value_type* const from = to + count;
            const size_type kept = size() - count;
            if constexpr (bytewise_()) {
                if (!HEADROOM_CONSTANT_EVALUATED()) {
                    detail::move_bytes(to, from, kept - index);
                    end_ -= static_cast<difference_type>(count);
                    this->retreated_(count);
                    return at_index_(index);
                }
            }
            detail::push_down(from, raw_(end_), to);
            truncate_(kept);
        }
        return at_index_(index);
    }

    template <class Way>
    constexpr iterator insert_along_(size_type index, Way way) {
        if constexpr (Way::often) {
            const size_type count = way.count();    // (before the iterator is given away)
            return insert_from_(index, count, taken_from<typename Way::iterator>{std::move(way.first)});
        } else {
            // Appended, then turned into place by turning it round, and each part of it back.
            const size_type old = size();
            this->append_along_(std::move(way));
            if (old != index) {
                value_type* const from = raw_(begin_);
                detail::turn_round(from + index, from + old);
                detail::turn_round(from + old, raw_(end_));
                detail::turn_round(from + index, raw_(end_));
            }
            return at_index_(index);
        }
    }

    template <class Source>
    constexpr iterator insert_from_(size_type index, size_type count, const Source& source) {
        if (index == size()) {
            if (count > spare_()) {
                this->append_beyond_(count, source, 0);
            } else {
                this->append_into_room_(count, source, 0);
            }
        } else if (count != 0 && (count <= spare_() || room_for_many_(index, count, count, source, 0))) {
            fill_gap_(index, count, source);
        }
        return at_index_(index);
    }

    // One element made from the arguments, at `index`: at the end and in a larger block in its final place, else aside first, since
    // the arguments may be elements that must make way for it.
    template <class... Args>
    constexpr iterator emplace_at_(size_type index, Args&&... args) {
        if constexpr (bytewise_() && base_::template made_aside_<Args...>) {
            temporary<Store> value(floor_(), std::forward<Args>(args)...);
            if (end_ == cap_) {
                HEADROOM_OPEN_TAIL();
                this->grow_room_for_one_();
            }
            shift_by_one_(raw_(begin_) + index, raw_(end_), value.get());
            return at_index_(index);
        } else {
            if (end_ == cap_) {
                const size_type needed = this->checked_sum_(1);
                HEADROOM_OPEN_TAIL();
                if constexpr (Store::stable_) {
                    this->grow_room_(needed);
                } else if (!this->widen_(needed)) {
                    this->template build_one_<false>(begin_ + static_cast<difference_type>(index), std::forward<Args>(args)...);
                    return at_index_(index);
                }
            }
            value_type* const place = raw_(begin_) + index;
            value_type* const last = raw_(end_);
            if (place == last) {
                this->append_here_(std::forward<Args>(args)...);
                return at_index_(index);
            }
            if constexpr ((std::is_same_v<Args&&, value_type&&> && ...) && sizeof...(Args) == 1) {
                // What is given away is moved directly into place, unless it is an element that makes way.
                if (!HEADROOM_CONSTANT_EVALUATED() && (detail::lies_outside(place, last, args) && ...)) {
                    shift_by_one_(place, last, args...);
                    return at_index_(index);
                }
            }
            temporary<Store> value(floor_(), std::forward<Args>(args)...);
            shift_by_one_(place, last, value.get());
            return at_index_(index);
        }
    }

    // Moves [place, last) up by one, and `value`, which is none of them, to `place`. There is room.
    constexpr void shift_by_one_(value_type* place, value_type* last, value_type& value) {
        HEADROOM_TAIL_WINDOW(1);
        if constexpr (bytewise_()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                detail::move_bytes(place + 1, place, static_cast<size_type>(last - place));
                detail::move_bytes(place, std::addressof(value), 1);
                ++end_;
                return;
            }
            if (place == last) {
                this->construct_(last, std::move(value));
                ++end_;
                return;
            }
        }
        this->construct_(last, std::move(*(last - 1)));
        ++end_;
        detail::push_up_by_one(place, last - 1);
        *place = std::move(value);
    }

    // Opens a gap of `count` elements before the end and fills it. There is room; count != 0.
    template <class Source>
    constexpr void fill_gap_(size_type index, size_type count, const Source& source) {
        HEADROOM_TAIL_WINDOW(count);
        value_type* const place = raw_(begin_) + index;
        value_type* const last = raw_(end_);
        const auto behind = static_cast<size_type>(last - place);
        const auto shift = static_cast<difference_type>(count);
        if constexpr (bytewise_()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                opened_gap<value_type> gap{place, count, behind};
                detail::move_bytes(place + count, place, behind);
                source.construct_(floor_(), place, 0, count);
                gap.filled = true;
                end_ += shift;
                return;
            }
        }
        // (The last elements go behind the others, and so do the new ones that reach beyond the end.)
        const size_type over = (std::min)(behind, count);
        if (count > behind) {
            source.construct_(floor_(), last, behind, count - behind);
            end_ += static_cast<difference_type>(count - behind);
        }
        append_moved_(last - over, last);
        detail::push_up(place, last - over, last);
        source.assign(floor_(), place, 0, over);
    }

    // Constructs at the end, by moving. There is room.
    HEADROOM_NOINLINE constexpr void append_moved_(value_type* first, value_type* last) {
        const auto count = static_cast<size_type>(last - first);
        detail::given_away(first).construct_(floor_(), raw_(end_), 0, count);
        end_ += static_cast<difference_type>(count);
    }

    template <class Way>
    constexpr void assign_along_(Way way) {
        if constexpr (Way::often) {
            const size_type count = way.count();    // (before the iterator is given away)
            assign_from_(count, taken_from<typename Way::iterator>{std::move(way.first)});
        } else {
            this->reserve(way.guess);
            size_type kept = 0;
            HEADROOM_CONVERSIONS_BEGIN
            for (const size_type old = size(); kept != old && way.first != way.last; ++way.first, (void)++kept) {
                raw_(begin_)[kept] = *way.first;
            }
            HEADROOM_CONVERSIONS_END
            truncate_(kept);
            this->append_each_(std::move(way.first), std::move(way.last));
        }
    }

    template <class Source>
    constexpr void assign_from_(size_type count, const Source& source) {
        if (count > this->capacity()) {
            if (count > max_size()) detail::throw_length_error("headroom: past max_size()");
            // All the memory first: when it is refused, the old elements are still there.
            HEADROOM_OPEN_TAIL();
            if constexpr (Store::stable_) {
                if (!this->empty()) this->grow_room_(count);
            } else if (!bytewise_() || !this->widen_(count)) {
                // (What is assigned may belong to the old elements, as the children of one. They go last.)
                this->replace_(count, source);
                return;
            }
        } else if constexpr (Source::template as_bytes<Store, value_type>) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                HEADROOM_OPEN_TAIL();
                source.assign(floor_(), raw_(begin_), 0, count);
                end_ = begin_ + static_cast<difference_type>(count);
                return;
            }
        }
        const size_type old = size();
        source.assign(floor_(), raw_(begin_), 0, (std::min)(old, count));
        if (count > old) {
            if constexpr (Store::stable_) {
                append_from_(count - old, source, old);
            } else {
                // (Instantiates no relocating code, so that immovable T compile.)
                this->append_into_room_(count - old, source, old);
            }
        } else if (count != old) {
            truncate_(count);
        }
    }
};

}}}    // namespace headroom::detail
