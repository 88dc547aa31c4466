// Which iterators and ranges the containers take, and the tag that C++23 gave to construction from a range.
#pragma once

#include <concepts>
#include <span>      // the concepts of <ranges>, at a tenth of what that costs to compile
#include <type_traits>
#include <vector>    // iterator_traits and the iterator concepts, likewise

namespace headroom::inline v0_1 {

#if defined(__cpp_lib_containers_ranges) && __cpp_lib_containers_ranges >= 202202L
using std::from_range;
using std::from_range_t;
#else
// std::from_range of C++23, where the standard library has none yet.
struct from_range_t {
    explicit from_range_t() = default;
};
inline constexpr from_range_t from_range{};
#endif

namespace detail {

template <class It>
concept has_category = requires { typename std::iterator_traits<It>::iterator_category; };

// What the standard means by "qualifies as an input iterator", for iterators of C++98 and of C++20.
template <class It>
concept any_input_iterator =
    std::input_iterator<It> || (has_category<It> && std::is_convertible_v<typename std::iterator_traits<It>::iterator_category,
                                                                          std::input_iterator_tag>);

template <class It>
concept says_forward =
    has_category<It> &&
    std::is_convertible_v<typename std::iterator_traits<It>::iterator_category, std::forward_iterator_tag>;

// It may be walked twice: once to count, once to copy.
template <class It>
concept multipass_iterator = std::forward_iterator<It> || says_forward<It>;

template <class R, class T>
concept compatible_range =
    std::ranges::input_range<R> && std::convertible_to<std::ranges::range_reference_t<R>, T>;

}  // namespace detail
}  // namespace headroom::inline v0_1
