// SPDX-License-Identifier: MIT
// The iterators and ranges that containers accept, and std::from_range for C++20.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <vector>    // iterator_traits and the iterator concepts

namespace headroom { inline namespace v0_1 {

#if defined(__cpp_lib_containers_ranges) && __cpp_lib_containers_ranges >= 202202L
using std::from_range;
using std::from_range_t;
#else
// std::from_range of C++23, if the standard library lacks it.
struct from_range_t {
    explicit from_range_t() = default;
};
inline constexpr from_range_t from_range{};
#endif

namespace detail {

template <class It>
concept has_category = requires { typename std::iterator_traits<It>::iterator_category; };

// The standard's "qualifies as an input iterator", for iterators of C++98 and of C++20.
template <class It>
concept any_input_iterator =
    (has_category<It> && std::is_convertible_v<typename std::iterator_traits<It>::iterator_category, std::input_iterator_tag>) ||
    std::input_iterator<It>;

template <class It>
concept has_forward_category =
    has_category<It> && std::is_convertible_v<typename std::iterator_traits<It>::iterator_category, std::forward_iterator_tag>;

// A multi-pass iterator: counted in one pass, copied in the next.
template <class It>
concept multipass_iterator = has_forward_category<It> || std::forward_iterator<It>;

// The parts of std::ranges::begin, end and distance that containers need. <ranges> takes longer to compile than <vector>, and its smallest
// part, in <span>, a tenth of all that the containers take.
namespace range_access {

// Hide other functions of these names, so that only argument-dependent lookup finds some. Not deleted, because MSVC would
// choose these.
void begin();
void end();
void size();

template <class R>
concept has_member_begin = requires(R& range) {
    range.begin();    // by itself first: MSVC checks access here, not inside decltype
    requires std::input_or_output_iterator<std::decay_t<decltype(range.begin())>>;
};
template <class R>
concept user_defined = std::is_class_v<R> || std::is_union_v<R> || std::is_enum_v<R>;

template <class R>
concept has_begin = std::is_array_v<R> || has_member_begin<R> || (user_defined<std::remove_cv_t<R>> && requires(R& range) {
                        requires std::input_or_output_iterator<std::decay_t<decltype(begin(range))>>;
                    });
template <has_begin R>
constexpr auto first(R& range) {
    if constexpr (std::is_array_v<R>) {
        return range + 0;
    } else if constexpr (has_member_begin<R>) {
        return range.begin();
    } else {
        return begin(range);
    }
}
template <class R>
using iterator = decltype(range_access::first(std::declval<R&>()));

template <class R>
concept has_member_end = requires(R& range) {
    range.end();
    requires std::sentinel_for<std::decay_t<decltype(range.end())>, iterator<R>>;
};
template <class R>
concept has_end = std::is_bounded_array_v<R> || has_member_end<R> || (user_defined<std::remove_cv_t<R>> && requires(R& range) {
                      requires std::sentinel_for<std::decay_t<decltype(end(range))>, iterator<R>>;
                  });
template <has_end R>
constexpr auto last(R& range) {
    if constexpr (std::is_array_v<R>) {
        return range + std::extent_v<R>;
    } else if constexpr (has_member_end<R>) {
        return range.end();
    } else {
        return end(range);
    }
}

template <class R>
concept has_member_size = requires(R& range) {
    range.size();
    requires std::integral<std::decay_t<decltype(range.size())>>;
};
template <class R>
concept has_size =
    std::is_bounded_array_v<R> || has_member_size<R> ||
    (user_defined<std::remove_cv_t<R>> && requires(R& range) { requires std::integral<std::decay_t<decltype(size(range))>>; });
template <has_size R>
constexpr std::size_t count([[maybe_unused]] R& range) {
    if constexpr (std::is_array_v<R>) {
        return std::extent_v<R>;
    } else if constexpr (has_member_size<R>) {
        return static_cast<std::size_t>(range.size());
    } else {
        return static_cast<std::size_t>(size(range));
    }
}

}    // namespace range_access

template <class R>
using range_iterator = range_access::iterator<std::remove_reference_t<R>>;
template <class R>
using range_value = std::iter_value_t<range_iterator<R>>;

template <class R>
concept any_input_range = range_access::has_begin<std::remove_reference_t<R>> &&
                          range_access::has_end<std::remove_reference_t<R>> && std::input_iterator<range_iterator<R>>;
template <class R, class T>
concept compatible_range = any_input_range<R> && std::convertible_to<std::iter_reference_t<range_iterator<R>>, T>;

// An iterator and its end. `MultiPass`: the elements may be read twice.
template <class It, class End, bool MultiPass>
struct range_cursor {
    using iterator = It;
    static constexpr bool multi_pass = MultiPass;
    // True if the distance of the two ends is known in O(1).
    static constexpr bool is_sized = std::sized_sentinel_for<End, It>;

    // Size that the range claims, or 0. May be wrong: use it only to reserve memory.
    std::size_t size_hint;
    It first;
    End last;

    // Returns the number of elements. Requires MultiPass. O(1) if is_sized, except for forward iterators of C++98: std::distance counts
    // them, because their operator- need not mean the distance; std::distance in turn does not know C++20 iterators that are none by the
    // older rules, such as those of iota_view over the longest integers.
    constexpr std::size_t count() const {
        if constexpr (has_forward_category<It> && std::is_same_v<It, End>) {
            return static_cast<std::size_t>(std::distance(first, last));
        } else if constexpr (is_sized) {
            return static_cast<std::size_t>(last - first);
        } else {
            std::size_t number = 0;
            for (It each = first; each != last; ++each) ++number;
            return number;
        }
    }
};

template <class It>
constexpr auto cursor_between(It first, It last) {
    return range_cursor<It, It, multipass_iterator<It>>{0, std::move(first), std::move(last)};
}

template <class R>
using range_sentinel = std::decay_t<decltype(range_access::last(std::declval<std::remove_reference_t<R>&>()))>;

// Cursor over a range. Asks it once each for size, begin and end, in this order: a single-pass range may start at begin().
template <class R>
struct cursor_over : range_cursor<range_iterator<R>, range_sentinel<R>, std::forward_iterator<range_iterator<R>>> {
    using base = range_cursor<range_iterator<R>, range_sentinel<R>, std::forward_iterator<range_iterator<R>>>;
    static constexpr bool has_size = base::is_sized || range_access::has_size<std::remove_reference_t<R>>;

    constexpr explicit cursor_over(std::remove_reference_t<R>& range)
        : base{size_of(range), range_access::first(range), range_access::last(range)} {
        if constexpr (base::is_sized && !base::multi_pass) this->size_hint = static_cast<std::size_t>(this->last - this->first);
    }

private:
    static constexpr std::size_t size_of([[maybe_unused]] std::remove_reference_t<R>& range) {
        if constexpr (!base::is_sized && !base::multi_pass && has_size) {
            return range_access::count(range);
        } else {
            return 0;
        }
    }
};

}    // namespace detail
}}    // namespace headroom
