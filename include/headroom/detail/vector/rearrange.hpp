// What the containers need of <algorithm>, which would add half to what they take to compile.
#pragma once

#include <concepts>    // swap
#include <type_traits>
#include <utility>

namespace headroom { inline namespace v0_1 { namespace detail {

// Reverses [first, last). O(last - first) swaps.
template <class T>
constexpr void turn_round(T* first, T* last) {
    while (first != last && first != --last) std::ranges::swap(*first++, *last);
}

// Erases all elements for which `predicate` holds; returns their number. O(size()).
template <class Container, class Predicate>
constexpr typename Container::size_type erase_where(Container& container, Predicate predicate) {
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
