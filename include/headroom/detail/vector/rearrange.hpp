// SPDX-License-Identifier: MIT
// Parts of <algorithm>, which would add half to the compile time of the containers.
#pragma once

#include <concepts>    // swap
#include <type_traits>
#include <utility>

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// Reverses [first, last). O(last - first) swaps.
template <class T>
constexpr void reverse_range(T* first, T* last) {
    while (first != last && first != --last) std::ranges::swap(*first++, *last);
}

// Move the elements [first, last) by one place, towards the end or the beginning. Unlike std::move_backward and std::move they find no
// functions among the program's types. Not inline: there GCC inlines the assignment of a string in one place and calls it in the next,
// which takes a fourth longer. With a distance of one the compiler knows that no element is assigned to itself.
template <class T>
HEADROOM_NOINLINE constexpr void move_backward_by_one(T* first, T* last) {
    for (; last != first; --last) *last = std::move(*(last - 1));
}
template <class T>
HEADROOM_NOINLINE constexpr void move_forward_by_one(T* first, T* last) {
    for (; first != last; ++first) *(first - 1) = std::move(*first);
}
// Move the elements [first, last) so that they end at `end`, or begin at `to`.
template <class T>
HEADROOM_NOINLINE constexpr void move_backward(T* first, T* last, T* end) {
    while (last != first) *--end = std::move(*--last);
}
template <class T>
HEADROOM_NOINLINE constexpr void move_forward(T* first, T* last, T* to) {
    for (; first != last; ++first, ++to) *to = std::move(*first);
}

// Erases all elements for which `predicate` is true. Returns their number. O(size()).
template <class Container, class Predicate>
constexpr typename Container::size_type erase_matching(Container& container, Predicate predicate) {
    using position = typename Container::const_iterator;
    auto* const end = container.data() + container.size();
    auto* kept = container.data();
    while (kept != end && !static_cast<bool>(predicate(*kept))) ++kept;
    if (kept == end) return 0;
    for (auto* each = kept; ++each != end;) {
        if (!static_cast<bool>(predicate(*each))) *kept++ = std::move(*each);
    }
    const auto count = static_cast<typename Container::size_type>(end - kept);
    container.erase(position(kept), position(end));
    return count;
}

}}}    // namespace headroom::detail
