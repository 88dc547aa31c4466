// What happens in the middle of a container: elements inserted and erased, and those behind them moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>    // move and move_backward of ranges

#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/hardened.hpp>
#include <headroom/detail/vector/appending.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/ranges.hpp>
#include <headroom/detail/vector/rearrange.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

template <class Store>
class HEADROOM_HARDENED_ABI inserting : public appending<Store> {
    using base = appending<Store>;

protected:
    using base::append_each;
    using base::at_index;
    using base::base;
    using base::begin_;
    using base::bytewise;
    using base::cap_;
    using base::checked_sum;
    using base::end_;
    using base::floor;
    using base::index_of;
    using base::raw;
    using base::reserve_more;
    using base::retreated;
    using base::room_in_place;
    using base::spare;
    using base::truncate;

public:
    using base::size;
    using typename base::const_iterator;
    using typename base::difference_type;
    using typename base::iterator;
    using typename base::size_type;
    using typename base::value_type;

    // --- Erasing. Throws what the element's assignment throws.

    // O(elements erased + elements behind them). Invalidates: the erased elements and all behind them.
    constexpr iterator erase(const_iterator where) {
        const size_type index = index_of(where, "erase()");
        HEADROOM_EXPECT(index != size(), no_position, "erase()", reinterpret_cast<std::uintptr_t>(std::to_address(where)));
        if constexpr (bytewise()) {
            return erase_at(index, 1);
        } else {
            detail::push_down_by_one(raw(begin_) + index + 1, raw(end_));
            this->pop_back();
            return at_index(index);
        }
    }
    constexpr iterator erase(const_iterator first, const_iterator last) {
        const size_type index = index_of(first, "erase()");
        const size_type end = index_of(last, "erase()");
        HEADROOM_EXPECT(index <= end, backwards, "erase()", 0);
        return erase_at(index, end - index);
    }

    // --- Insertion. O(elements inserted + elements behind them). Throw as appending does; when what throws is an element's
    // constructor or assignment, the container is left valid but with unspecified elements (unchanged when at the end, one
    // element). Invalidate: the elements from the place of insertion on, and everything if elements moved. The value may be
    // an element of the container, a range must not.

    template <class... Args>
    constexpr iterator emplace(const_iterator where, Args&&... args) {
        // An element given away needs no other made from it first.
        if constexpr ((std::is_same_v<Args&&, value_type&&> && ...) && sizeof...(Args) == 1) {
            return insert(where, std::forward<Args>(args)...);
        } else {
            return emplace_at(index_of(where, "emplace()"), std::forward<Args>(args)...);
        }
    }
    constexpr iterator insert(const_iterator where, const value_type& value) {
        return emplace_at(index_of(where, "insert()"), value);
    }
    constexpr iterator insert(const_iterator where, value_type&& value) {
        const size_type index = index_of(where, "insert()");
        value_type* const place = raw(begin_) + index;
        value_type* const last = raw(end_);
        // What is given away may be moved straight to its place, unless it is an element that the others push along.
        if (end_ == cap_ || place == last || lies_in(place, last, std::addressof(value))) {
            return emplace_at(index, std::move(value));
        }
        shift_by_one(place, last, value);
        return at_index(index);
    }

    constexpr iterator insert(const_iterator where, size_type count, const value_type& value) {
        const size_type index = index_of(where, "insert()");
        if (count == 0) return at_index(index);
        if constexpr (bytewise()) {
            return insert_from(index, count, repeated<value_type>{value});
        } else {
            // In a new block the new elements are made while the old ones, and the value among them, are still there.
            if (count <= spare() || room_in_place(*this, checked_sum(count), [&](auto& self) {
                    self.open_gap_full(index, count, repeated<const value_type&>{value});
                })) {
                temporary<Store> copy(floor(), value);
                fill_gap(index, count, repeated<const value_type&>{copy.get()});
            }
            return at_index(index);
        }
    }
    template <any_input_iterator It>
    constexpr iterator insert(const_iterator where, It first, It last) {
        return insert_between(index_of(where, "insert()"), std::move(first), std::move(last));
    }
    constexpr iterator insert(const_iterator where, std::initializer_list<value_type> values) {
        return insert(where, values.begin(), values.end());
    }
    template <compatible_range<value_type> R>
    constexpr iterator insert_range(const_iterator where, R&& values) {
        const size_type index = index_of(where, "insert_range()");
        walk_of<R> ends(values);
        if constexpr (multipass_range<R>) {
            const size_type count = ends.count();    // (before the iterator is given away)
            return insert_from(index, count, taken_from<range_iterator<R>>{std::move(ends.first)});
        } else {
            reserve_more(ends.guess);
            return insert_each(index, std::move(ends.first), std::move(ends.last));
        }
    }

protected:
    constexpr iterator erase_at(size_type index, size_type count) {
        if (count != 0) {
            value_type* const to = raw(begin_) + index;
            value_type* const from = to + count;
            const size_type kept = size() - count;
            if constexpr (bytewise()) {
                if (!HEADROOM_CONSTANT_EVALUATED()) {
                    detail::move_bytes(to, from, kept - index);
                    end_ -= static_cast<difference_type>(count);
                    retreated(count);
                    return at_index(index);
                }
            }
            detail::push_down(from, raw(end_), to);
            truncate(kept);
        }
        return at_index(index);
    }

    template <class It>
    constexpr iterator insert_between(size_type index, It first, It last) {
        if constexpr (multipass_iterator<It>) {
            const auto count = detail::steps_between(first, last);
            return insert_from(index, count, taken_from<It>{std::move(first)});
        } else {
            return insert_each(index, std::move(first), std::move(last));
        }
    }
    // A range that can be walked but once: appended, then turned into place by turning it round, and each part of it back.
    template <class It, class End>
    constexpr iterator insert_each(size_type index, It first, End last) {
        const size_type old = size();
        append_each(std::move(first), std::move(last));
        if (old != index) {
            value_type* const from = raw(begin_);
            detail::turn_round(from + index, from + old);
            detail::turn_round(from + old, raw(end_));
            detail::turn_round(from + index, raw(end_));
        }
        return at_index(index);
    }

    template <class Source>
    constexpr iterator insert_from(size_type index, size_type count, const Source& source) {
        if (count <= spare() ||
            room_in_place(*this, checked_sum(count), [&](auto& self) { self.open_gap_full(index, count, source); })) {
            if (count != 0) fill_gap(index, count, source);
        }
        return at_index(index);
    }

    // One element made from the arguments, at `index`.
    template <class... Args>
    constexpr iterator emplace_at(size_type index, Args&&... args) {
        if (end_ == cap_ && !room_in_place(*this, checked_sum(1),
                                           [&](auto& self) { self.emplace_gap_full(index, std::forward<Args>(args)...); })) {
            return at_index(index);
        }
        value_type* const place = raw(begin_) + index;
        value_type* const last = raw(end_);
        if (place == last) {
            HEADROOM_TAIL_WINDOW(1);
            this->construct(last, std::forward<Args>(args)...);
            ++end_;
        } else {
            temporary<Store> value(floor(), std::forward<Args>(args)...);
            shift_by_one(place, last, value.get());
        }
        return at_index(index);
    }

    // Moves [place, last) up by one, and `value`, which is none of them, to `place`. There is room; place != last.
    constexpr void shift_by_one(value_type* place, value_type* last, value_type& value) {
        HEADROOM_TAIL_WINDOW(1);
        if constexpr (bytewise()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                detail::move_bytes(place + 1, place, static_cast<size_type>(last - place));
                detail::move_bytes(place, std::addressof(value), 1);
                ++end_;
                return;
            }
        }
        this->construct(last, std::move(*(last - 1)));
        ++end_;
        detail::push_up_by_one(place, last - 1);
        *place = std::move(value);
    }

    // Whether the pointer, which may point anywhere, points to one of the elements.
    static constexpr bool lies_in(const value_type* first, const value_type* last, const value_type* pointer) noexcept {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            for (; first != last; ++first) {
                if (first == pointer) return true;
            }
            return false;
        }
        const auto at = reinterpret_cast<std::uintptr_t>(pointer);
        return at >= reinterpret_cast<std::uintptr_t>(first) && at < reinterpret_cast<std::uintptr_t>(last);
    }

    // Opens a gap of `count` elements and fills it. There is room; count != 0.
    template <class Source>
    constexpr void fill_gap(size_type index, size_type count, const Source& source) {
        HEADROOM_TAIL_WINDOW(count);
        value_type* const place = raw(begin_) + index;
        value_type* const last = raw(end_);
        const auto behind = static_cast<size_type>(last - place);
        const auto shift = static_cast<difference_type>(count);
        if (behind == 0) {
            source.construct(floor(), last, 0, count);
            end_ += shift;
            return;
        }
        if constexpr (bytewise()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                opened_gap<value_type> gap{place, count, behind};
                detail::move_bytes(place + count, place, behind);
                source.construct(floor(), place, 0, count);
                gap.filled = true;
                end_ += shift;
                return;
            }
        }
        if (behind > count) {
            append_moved(last - count, last);
            detail::push_up(place, last - count, last);
            source.assign(floor(), place, 0, count);
        } else {
            source.construct(floor(), last, behind, count - behind);
            end_ += static_cast<difference_type>(count - behind);
            append_moved(place, last);
            source.assign(floor(), place, 0, behind);
        }
    }

    // Constructs at the end, by moving. There is room.
    constexpr void append_moved(value_type* first, value_type* last) {
        unfinished<Store> built(floor(), raw(end_));
        for (; first != last; ++first, ++built.end) this->construct(built.end, std::move(*first));
        const auto count = built.end - raw(end_);
        built.release();
        end_ += count;
    }
};

}}}    // namespace headroom::detail
