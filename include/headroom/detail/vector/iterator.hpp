// SPDX-License-Identifier: MIT
// The iterator of all containers: a class around a pointer. The standard allows plain pointers, but programs written for std::vector
// decrement a returned iterator (`*--v.end()`) and call algorithms without std:: (`sort(v.begin(), v.end())`), which plain pointers do not
// support. With libstdc++ it is that library's own iterator class, which its algorithms turn into memmove. Other standard libraries do
// that for every contiguous iterator.
#pragma once

#include <compare>
#include <cstddef>
#include <type_traits>
#include <vector>    // what an iterator is made of

#if defined(__GLIBCXX__)

// The container type that libstdc++'s iterator takes. std::allocator among its arguments makes std an associated namespace. In a namespace
// of its own, so that none of ours is.
namespace headroom { inline namespace v0_1 { namespace iterated {
template <class T, class = std::allocator<T>>
struct array_of {
    using pointer = T*;
};
}}}    // namespace headroom::iterated

#endif

namespace headroom { inline namespace v0_1 { namespace detail {

#if defined(__GLIBCXX__)

template <class T>
using element_iterator = __gnu_cxx::__normal_iterator<T*, iterated::array_of<std::remove_const_t<T>>>;

#else

// Comparison with iterators of other elements does not compile.
template <class U, class T>
concept same_element = std::is_same_v<std::remove_const_t<U>, std::remove_const_t<T>>;

template <class T, class = std::allocator<std::remove_const_t<T>>>
class class_iterator {
public:
    using iterator_category = std::random_access_iterator_tag;
    using iterator_concept = std::contiguous_iterator_tag;
    using value_type = std::remove_const_t<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;

    constexpr class_iterator() noexcept = default;
    constexpr explicit class_iterator(T* at) noexcept : at_(at) {}
    // Converts iterator to const_iterator.
    template <class U>
        requires std::is_same_v<const U, T>
    constexpr class_iterator(const class_iterator<U>& other) noexcept : at_(other.operator->()) {}

    [[nodiscard]] constexpr T& operator*() const noexcept { return *at_; }
    [[nodiscard]] constexpr T* operator->() const noexcept { return at_; }
    [[nodiscard]] constexpr T& operator[](difference_type index) const noexcept { return at_[index]; }
    constexpr class_iterator& operator++() noexcept {
        ++at_;
        return *this;
    }
    constexpr class_iterator operator++(int) noexcept { return class_iterator(at_++); }
    constexpr class_iterator& operator--() noexcept {
        --at_;
        return *this;
    }
    constexpr class_iterator operator--(int) noexcept { return class_iterator(at_--); }
    constexpr class_iterator& operator+=(difference_type by) noexcept {
        at_ += by;
        return *this;
    }
    constexpr class_iterator& operator-=(difference_type by) noexcept {
        at_ -= by;
        return *this;
    }
    [[nodiscard]] friend constexpr class_iterator operator+(class_iterator from, difference_type by) noexcept {
        return from += by;
    }
    [[nodiscard]] friend constexpr class_iterator operator+(difference_type by, class_iterator from) noexcept {
        return from += by;
    }
    [[nodiscard]] friend constexpr class_iterator operator-(class_iterator from, difference_type by) noexcept {
        return from -= by;
    }
    template <same_element<T> U>
    [[nodiscard]] constexpr difference_type operator-(const class_iterator<U>& from) const noexcept {
        return at_ - from.operator->();
    }
    template <same_element<T> U>
    [[nodiscard]] constexpr bool operator==(const class_iterator<U>& other) const noexcept {
        return at_ == other.operator->();
    }
    template <same_element<T> U>
    [[nodiscard]] constexpr std::strong_ordering operator<=>(const class_iterator<U>& other) const noexcept {
        return at_ <=> other.operator->();
    }

private:
    T* at_ = nullptr;
};
template <class T>
using element_iterator = class_iterator<T>;

#endif

}}}    // namespace headroom::detail
