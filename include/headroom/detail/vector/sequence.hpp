// SPDX-License-Identifier: MIT
// The interface of std::vector for all contiguous containers, over a Store (store.hpp). In three parts, each deriving from the one before:
// access.hpp has element access, appending.hpp the operations at the end; here are insertion, erasure, assignment and comparison.
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
#include <headroom/detail/vector/sources.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// The standard's synth-three-way: <=> if the type has it, else made from <.
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

// Compare two containers element by element. O(min(size)). The operators that call them are templates of each container: one for a base
// would lose against one of the program that takes anything; one that is no template would also accept types that convert.
template <class Container>
constexpr bool equal_elements(const Container& a, const Container& b) {
    return a.size() == b.size() && std::equal(a.data(), std::to_address(a.end()), b.data());
}
template <class Container>
constexpr auto compare_elements(const Container& a, const Container& b) {
    return std::lexicographical_compare_three_way(a.data(), std::to_address(a.end()), b.data(), std::to_address(b.end()),
                                                  detail::compare_three_way<typename Container::value_type>);
}

template <class Store>
class HEADROOM_HARDENED_ABI sequence_ : public appending_<Store> {
    using base_ = appending_<Store>;

protected:
    using base_::append_from_;
    using base_::as_store_;
    using base_::base_;
    using base_::begin_;
    using base_::cap_;
    using base_::end_;
    using base_::expect_changeable_;
    using base_::grow_for_;
    using base_::index_of_;
    using base_::is_bytewise_;
    using base_::is_full_;
    using base_::iterator_at_;
    using base_::raw_;
    using base_::truncate_;
    using base_::unused_capacity_;

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
        expect_changeable_();
        const size_type index = index_of_(where, "erase()");
        HEADROOM_EXPECT(index != size(), no_position, "erase()", reinterpret_cast<std::uintptr_t>(std::to_address(where)));
        if constexpr (is_bytewise_()) {
            if (HEADROOM_CONSTANT_EVALUATED()) return erase_at_(index, 1);
            value_type* const place = raw_(begin_) + index;
            value_type* const last = raw_(end_) - 1;
            detail::move_bytewise(place, place + 1, static_cast<size_type>(last - place));
            --end_;
            this->poison_removed_(1);
            return iterator(place);
        } else {
            detail::move_forward_by_one(raw_(begin_) + index + 1, raw_(end_));
            this->pop_back();
            return iterator_at_(index);
        }
    }
    constexpr iterator erase(const_iterator first, const_iterator last) {
        const size_type index = index_of_(first, "erase()");
        const size_type end = index_of_(last, "erase()");
        HEADROOM_EXPECT(index <= end, backwards, "erase()", 0);
        return erase_at_(index, end - index);
    }

    // --- Insertion. O(elements inserted + elements behind them). Throw as appending does. If an element's constructor or assignment
    // throws, the container is valid but its elements are unspecified; one element inserted at the end changes nothing then. Invalidate:
    // the elements from the place of insertion on, and everything if elements moved. The value may be an element of the container, a range
    // must not. emplace() forwards its arguments and builds the element in its final place at the end and in a larger block; elsewhere it
    // builds it in a local and moves it.

    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr iterator emplace(const_iterator where, Args&&... args) {
        return emplace_at_(index_of_(where, "emplace()"), std::forward<Args>(args)...);
    }
    HEADROOM_ALWAYS_INLINE constexpr iterator insert(const_iterator where, const value_type& value) {
        return emplace_at_(index_of_(where, "insert()"), value);
    }
    HEADROOM_ALWAYS_INLINE constexpr iterator insert(const_iterator where, value_type&& value) {
        return emplace_at_(index_of_(where, "insert()"), std::move(value));
    }

    constexpr iterator insert(const_iterator where, size_type count, const value_type& value) {
        const size_type index = index_of_(where, "insert()");
        if constexpr (is_bytewise_()) {
            const value_type copy(value);
            return insert_from_(index, count, fill_source{copy});
        } else {
            if (index == size()) {
                append_from_(count, fill_source{value});
            } else if (count != 0 && (count <= unused_capacity_() || grow_for_(index, count, count, fill_source{value}, 0))) {
                // The value may be an element that is moved.
                temporary<Store> copy(as_store_(), value);
                open_and_fill_gap_(index, count, fill_source<value_type>{copy.get()});
            }
            return iterator_at_(index);
        }
    }
    template <any_input_iterator It>
    constexpr iterator insert(const_iterator where, It first, It last) {
        return insert_range_(index_of_(where, "insert()"), detail::cursor_between(std::move(first), std::move(last)));
    }
    constexpr iterator insert(const_iterator where, std::initializer_list<value_type> values) {
        return insert(where, values.begin(), values.end());
    }
    template <compatible_range<value_type> R>
    constexpr iterator insert_range(const_iterator where, R&& values) {
        return insert_range_(index_of_(where, "insert_range()"), cursor_over<R>(values));
    }

    // --- Assignment. O(old size + new size). Throws as insertion does; if an element's constructor or assignment throws, the container is
    // valid but its elements are unspecified. Invalidates: every element. The value may be an element. Assigns over existing elements and
    // builds the rest, like std::vector. So a range must not lie in the container, nor be owned by one of its elements, unless a vector
    // takes a larger block for it.

    constexpr void assign(size_type count, const value_type& value) { assign_from_(count, fill_source{value}); }
    template <any_input_iterator It>
    constexpr void assign(It first, It last) {
        assign_range_(detail::cursor_between(std::move(first), std::move(last)));
    }
    constexpr void assign(std::initializer_list<value_type> values) { assign(values.begin(), values.end()); }
    template <compatible_range<value_type> R>
    constexpr void assign_range(R&& values) {
        assign_range_(cursor_over<R>(values));
    }

protected:
    // Erases `count` elements from `index` on.
    constexpr iterator erase_at_(size_type index, size_type count) {
        expect_changeable_();
        if (count != 0) {
            value_type* const to = raw_(begin_) + index;
            value_type* const from = to + count;
            const size_type kept = size() - count;
            if constexpr (is_bytewise_()) {
                HEADROOM_IF_RUN_TIME {
                    detail::move_bytewise(to, from, kept - index);
                    end_ -= static_cast<difference_type>(count);
                    this->poison_removed_(count);
                    return iterator_at_(index);
                }
            }
            detail::move_forward(from, raw_(end_), to);
            truncate_(kept);
        }
        return iterator_at_(index);
    }

    // Inserts the elements of a cursor before `index`.
    template <class Cursor>
    constexpr iterator insert_range_(size_type index, Cursor cursor) {
        expect_changeable_();
        if constexpr (Cursor::multi_pass) {
            const size_type count = cursor.count();    // before the iterator is moved from
            return insert_from_(index, count, copy_source<typename Cursor::iterator>{std::move(cursor.first)});
        } else {
            // Appends a single-pass range, then rotates it into place by three reversals.
            const size_type old = size();
            this->append_range_(std::move(cursor));
            if (old != index) {
                value_type* const from = raw_(begin_);
                detail::reverse_range(from + index, from + old);
                detail::reverse_range(from + old, raw_(end_));
                detail::reverse_range(from + index, raw_(end_));
            }
            return iterator_at_(index);
        }
    }

    // Inserts `count` elements of the source before `index`.
    template <class Source>
    constexpr iterator insert_from_(size_type index, size_type count, const Source& source) {
        expect_changeable_();
        if (index == size()) {
            this->append_from_(count, source);
            return iterator_at_(index);
        }
        if constexpr (base_::template is_bulk_<Source>()) {
            if (!HEADROOM_CONSTANT_EVALUATED() && count > unused_capacity_()) {
                HEADROOM_UNPOISON_CAPACITY();
                this->template insert_bulk_<Source::repeats>(index, source.template bulk_elements<value_type>(0), count);
                return iterator_at_(index);
            }
        }
        if (count != 0 && (count <= unused_capacity_() || grow_for_(index, count, count, source, 0))) {
            open_and_fill_gap_(index, count, source);
        }
        return iterator_at_(index);
    }

    template <class... Args>
    HEADROOM_ALWAYS_INLINE constexpr iterator emplace_at_(size_type index, Args&&... args) {
        if (index != size()) return emplace_before_(index, std::forward<Args>(args)...);
        this->emplace_back(std::forward<Args>(args)...);
        return iterator_at_(index);
    }

    // Inserts one element before that at `index` < size(). Builds it in its final place in a larger block; otherwise in a temporary first,
    // because the arguments may be elements that are moved.
    template <class... Args>
    constexpr iterator emplace_before_(size_type index, Args&&... args) {
        expect_changeable_();
        if constexpr (is_bytewise_() && base_::template can_construct_in_local_<Args...>) {
            temporary<Store> value(as_store_(), std::forward<Args>(args)...);
            if (is_full_()) {
                HEADROOM_UNPOISON_CAPACITY();
                this->grow_by_one_();
            }
            insert_by_shifting_(raw_(begin_) + index, raw_(end_), value.get());
            return iterator_at_(index);
        } else {
            if (is_full_()) {
                HEADROOM_UNPOISON_CAPACITY();
                if constexpr (Store::never_relocates_) {
                    this->grow_to_(this->checked_new_size_(1));
                } else if (!this->try_expand_in_place_(size() + 1)) {
                    this->template construct_in_new_block_<false>(begin_ + static_cast<difference_type>(index),
                                                                  std::forward<Args>(args)...);
                    return iterator_at_(index);
                }
            }
            value_type* const place = raw_(begin_) + index;
            value_type* const last = raw_(end_);
            if constexpr ((std::is_same_v<Args&&, value_type&&> && ...) && sizeof...(Args) == 1) {
                // Moves an rvalue directly into place, unless it is an element that makes room.
                if (!HEADROOM_CONSTANT_EVALUATED() && (detail::lies_outside(place, last, args) && ...)) {
                    insert_by_shifting_(place, last, args...);
                    return iterator_at_(index);
                }
            }
            temporary<Store> value(as_store_(), std::forward<Args>(args)...);
            insert_by_shifting_(place, last, value.get());
            return iterator_at_(index);
        }
    }

    // Moves [place, last) up by one and `value` to `place`. Preconditions: place < last == end(), size() < capacity(), `value` not there.
    constexpr void insert_by_shifting_(value_type* place, value_type* last, value_type& value) {
        HEADROOM_UNPOISON_TAIL(1);
        if constexpr (is_bytewise_()) {
            HEADROOM_IF_RUN_TIME {
                detail::move_bytewise(place + 1, place, static_cast<size_type>(last - place));
                detail::move_bytewise(place, std::addressof(value), 1);
                this->set_end_after_(last);
                return;
            }
        }
        this->construct_(last, std::move(*(last - 1)));
        this->set_end_after_(last);
        detail::move_backward_by_one(place, last - 1);
        *place = std::move(value);
    }

    // Opens a gap of `count` > 0 elements at `index` < size() and fills it from the source. Precondition: the capacity suffices.
    template <class Source>
    constexpr void open_and_fill_gap_(size_type index, size_type count, const Source& source) {
        HEADROOM_UNPOISON_TAIL(count);
        value_type* const place = raw_(begin_) + index;
        value_type* const last = raw_(end_);
        const auto behind = static_cast<size_type>(last - place);
        const auto shift = static_cast<difference_type>(count);
        if constexpr (is_bytewise_()) {
            HEADROOM_IF_RUN_TIME {
                gap_guard<value_type> gap{place, count, behind};
                detail::move_bytewise(place + count, place, behind);
                source.construct_(as_store_(), place, 0, count);
                gap.filled = true;
                end_ += shift;
                return;
            }
        }
        // The last elements, and the new ones that reach past the old end, are constructed; the others are assigned.
        const size_type over = (std::min)(behind, count);
        if (count > behind) {
            source.construct_(as_store_(), last, behind, count - behind);
            end_ += static_cast<difference_type>(count - behind);
        }
        move_construct_at_end_(last - over, last);
        detail::move_backward(place, last - over, last);
        source.assign(as_store_(), place, 0, over);
    }

    // Move-constructs [first, last) at the end. Precondition: the capacity suffices.
    HEADROOM_NOINLINE constexpr void move_construct_at_end_(value_type* first, value_type* last) {
        const auto count = static_cast<size_type>(last - first);
        detail::move_source(first).construct_(as_store_(), raw_(end_), 0, count);
        end_ += static_cast<difference_type>(count);
    }

    // Assigns the elements of a cursor.
    template <class Cursor>
    constexpr void assign_range_(Cursor cursor) {
        expect_changeable_();
        if constexpr (Cursor::multi_pass) {
            const size_type count = cursor.count();    // before the iterator is moved from
            assign_from_(count, copy_source<typename Cursor::iterator>{std::move(cursor.first)});
        } else {
            this->reserve(cursor.size_hint);
            size_type kept = 0;
            HEADROOM_CONVERSIONS_BEGIN
            for (const size_type old = size(); kept != old && cursor.first != cursor.last; ++cursor.first, (void)++kept) {
                raw_(begin_)[kept] = *cursor.first;
            }
            HEADROOM_CONVERSIONS_END
            truncate_(kept);
            this->append_single_pass_(std::move(cursor.first), std::move(cursor.last));
        }
    }

    // Assigns `count` elements of the source. Inline where bytes are copied within the capacity. `replaces`: into a new block in any case,
    // because the source is owned by an element. Only for a store that relocates.
    template <class Source>
    HEADROOM_ALWAYS_INLINE constexpr void assign_from_(size_type count, const Source& source, bool replaces = false) {
        expect_changeable_();
        if constexpr (Source::template is_bytewise<Store, value_type> && base_::template is_bulk_<Source>()) {
            HEADROOM_IF_RUN_TIME {
                HEADROOM_UNPOISON_CAPACITY();
                if (count <= this->capacity()) {
                    source.assign(as_store_(), raw_(begin_), 0, count);
                    end_ = begin_ + static_cast<difference_type>(count);
                } else {
                    this->template assign_bulk_<Source::repeats>(source.template bulk_elements<value_type>(0), count);
                }
                return;
            }
        } else if constexpr (Source::template is_bytewise<Store, value_type>) {
            if (!HEADROOM_CONSTANT_EVALUATED() && count <= this->capacity()) {
                HEADROOM_UNPOISON_CAPACITY();
                source.assign(as_store_(), raw_(begin_), 0, count);
                end_ = begin_ + static_cast<difference_type>(count);
                return;
            }
        }
        assign_slow_(count, source, replaces);
    }
    template <class Source>
    HEADROOM_NOINLINE constexpr void assign_slow_(size_type count, const Source& source, [[maybe_unused]] bool replaces) {
        if (replaces || count > this->capacity()) {
            // Gets all memory first, so that a refusal leaves the old elements.
            HEADROOM_UNPOISON_CAPACITY();
            if (count > max_size()) detail::throw_length_error("headroom: past max_size()");
            if constexpr (Store::never_relocates_) {
                if (!this->empty()) this->grow_to_(count);
            } else if (!is_bytewise_() || !this->try_expand_in_place_(count)) {
                // The old elements are destroyed last: they may own what is assigned.
                this->replace_contents_(count, source);
                return;
            }
        }
        const size_type old = size();
        source.assign(as_store_(), raw_(begin_), 0, (std::min)(old, count));
        if (count > old) {
            if constexpr (Store::never_relocates_) {
                append_from_(count - old, source, old);
            } else {
                // Instantiates no relocating code, so that immovable T compile.
                this->append_within_capacity_(count - old, source, old);
            }
        } else if (count != old) {
            truncate_(count);
        }
    }
};

}}}    // namespace headroom::detail
