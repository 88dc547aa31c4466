// What the containers need of <algorithm>, which would add half to what they take to compile.
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

// Move elements among their neighbours, one by one: [first, last) up, from the last on, or down. (As std::move_backward and
// std::move, but those look for functions beside the program's types. Apart from their callers: there the compiler would have the
// assignment of a string inline in one place and call it in the next, which takes a fourth longer. By one place: then it knows
// that no element is assigned to itself.)
template <class T>
HEADROOM_NOINLINE constexpr void move_backward_by_one(T* first, T* last) {
    for (; last != first; --last) *last = std::move(*(last - 1));
}
template <class T>
HEADROOM_NOINLINE constexpr void move_forward_by_one(T* first, T* last) {
    for (; first != last; ++first) *(first - 1) = std::move(*first);
}
// The same further: to end at `end`, or to begin at `to`.
template <class T>
HEADROOM_NOINLINE constexpr void move_backward(T* first, T* last, T* end) {
    while (last != first) *--end = std::move(*--last);
}
template <class T>
HEADROOM_NOINLINE constexpr void move_forward(T* first, T* last, T* to) {
    for (; first != last; ++first, ++to) *to = std::move(*first);
}

// Erases all elements for which `predicate` holds; returns their number. O(size()).
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
