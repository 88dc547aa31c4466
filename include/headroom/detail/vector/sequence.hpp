// The interface of std::vector, written once for all containers of contiguous elements.
//
// `Store` is the floor under it: three pointers, how to construct and destroy an element, and how to make room; store.hpp says
// what it must have.
//
// It is written in four parts, each standing on the one before: element_access (access.hpp), appending, inserting, and here
// what replaces all elements, and what compares them.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>    // equal, lexicographical_compare_three_way

#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/hardened.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/inserting.hpp>
#include <headroom/detail/vector/ranges.hpp>

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
class HEADROOM_HARDENED_ABI sequence_ : public inserting_<Store> {
    using base_ = inserting_<Store>;

protected:
    using base_::base_;
    using base_::begin_;
    using base_::floor_;
    using base_::raw_;
    using base_::truncate_;

public:
    using base_::max_size;
    using base_::size;
    using typename base_::difference_type;
    using typename base_::size_type;
    using typename base_::value_type;

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
            } else if (!base_::bytewise_() || !this->widen_(count)) {
                // (What is assigned may belong to the old elements, as the children of one. They go last.)
                this->replace_(count, source);
                return;
            }
        } else if constexpr (Source::template as_bytes<Store, value_type>) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                HEADROOM_OPEN_TAIL();
                source.assign(floor_(), raw_(begin_), 0, count);
                this->end_ = begin_ + static_cast<difference_type>(count);
                return;
            }
        }
        const size_type old = size();
        source.assign(floor_(), raw_(begin_), 0, (std::min)(old, count));
        if (count > old) {
            if constexpr (Store::stable_) {
                this->append_from_(count - old, source, old);
            } else {
                // (Instantiates no relocating code, so that immovable T compile.)
                this->append_into_room_(count - old, source, old);
            }
        } else {
            truncate_(count);
        }
    }
};

}}}    // namespace headroom::detail
