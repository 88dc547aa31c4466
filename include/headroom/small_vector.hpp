// SPDX-License-Identifier: MIT
// A vector whose first N elements lie in the object itself.
//
// Up to N elements it allocates nothing. With more it works like `vector`: on the heap first, from Policy::map_threshold bytes on in a
// reservation that grows in place. shrink_to_fit() brings at most N elements back into the object.
//
// Choose it for many short vectors, most of them of at most N elements, or for short ones that are made and dropped often. Choose `vector`
// for long ones, and for those that are moved: moving a small_vector moves its inline elements one by one.
//
// How it differs from `vector`:
//   - capacity() is never less than N;
//   - no operation allocates while there are at most N elements and were not more before;
//   - moving and swapping are O(N) for inline elements, invalidate iterators, pointers and references to them, and throw what an
//     element's move constructor throws; a moved-from vector is empty;
//   - it is not trivially relocatable itself, because it points into itself;
//   - it has no allocator parameter, and no deduction guide, since N cannot be deduced;
//   - AddressSanitizer does not know which part of the inline buffer holds elements;
//   - in a constant expression the first N elements are allocated, so a global one is not constant-initialised.
// Cost: N * sizeof(T) bytes in each object, and three pointers.
#pragma once

#include <headroom/detail/language.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <headroom/detail/vector/sequence.hpp>
#include <headroom/detail/vector/small_store.hpp>
#include <headroom/vector.hpp>

namespace headroom { inline namespace v0_1 {

template <class T, std::size_t N, class Policy = vector_policy>
class HEADROOM_HARDENED_ABI small_vector : public detail::sequence_<detail::small_store_<T, N, Policy>> {
    static_assert(std::is_same_v<std::remove_cv_t<T>, T>, "a vector of const or volatile elements");

    using store_ = detail::small_store_<T, N, Policy>;
    using base_ = detail::sequence_<store_>;

    static constexpr bool nothrow_move_ = store_::nothrow_move_;

public:
    using typename base_::const_iterator;
    using typename base_::iterator;
    using typename base_::size_type;

    // --- Construction. All that allocate throw std::length_error past max_size(), std::bad_alloc when memory is refused; all
    // throw what an element's constructor throws; nothing is leaked. O(elements). At most one allocation where their number is
    // known, and none for up to N.

    // Not `= default`, which would zero the inline buffer first.
    HEADROOM_ALWAYS_INLINE constexpr small_vector() noexcept {}
    constexpr explicit small_vector(size_type count) : small_vector() {
        this->construct_initial_(count, detail::value_init_source{});
    }
    constexpr small_vector(size_type count, const T& value) : small_vector() {
        this->construct_initial_(count, detail::fill_source{value});
    }
    template <detail::any_input_iterator It>
    constexpr small_vector(It first, It last) : small_vector() {
        this->construct_range_(detail::cursor_between(std::move(first), std::move(last)));
    }
    constexpr small_vector(std::initializer_list<T> values) : small_vector() {
        this->construct_initial_(values.size(), detail::copy_source<const T*>{values.begin()});
    }
    // The tag is checked first, so that other arguments are not tested for being ranges.
    template <std::same_as<from_range_t> Tag, detail::compatible_range<T> R>
    constexpr small_vector(Tag, R&& values) : small_vector() {
        this->construct_range_(detail::cursor_over<R>(values));
    }
    constexpr small_vector(const small_vector& other) : small_vector(typename store_::uninitialized_tag_()) {
        if constexpr (detail::bytewise_constructible<T, const T&>) {
            if (!HEADROOM_CONSTANT_EVALUATED() && other.is_inline_()) {
                this->reset_to_inline_();
                this->copy_inline_bytes_(other);
                return;
            }
        }
        this->reset_to_inline_();
        this->construct_initial_(other.size(), detail::copy_source<const T*>{other.data()});
    }
    // O(1) if the elements of `other` are in a block; invalidates nothing then. Otherwise O(other.size()): moves the elements, which
    // invalidates references to them. `other` is empty afterwards. If a move throws, it keeps its elements as the moves left them.
    HEADROOM_ALWAYS_INLINE constexpr small_vector(small_vector&& other) noexcept(nothrow_move_)
        : small_vector(typename store_::uninitialized_tag_()) {
        this->steal_(other);
    }

    // O(size() + other.size()). Invalidates: every element.
    constexpr small_vector& operator=(const small_vector& other) {
        if (this == std::addressof(other)) return *this;
        if (this->contains_object_(other)) {
            small_vector copy(other);
            take_(copy);
        } else {
            this->assign_from_(other.size(), detail::copy_source<const T*>{other.data()});
        }
        return *this;
    }
    // Like move construction, plus size() destructions. Inline elements of `other` are moved into the memory of *this, a block if it has
    // one. If a move throws, *this has its old elements or none, and those of `other` may be lost. Invalidates: the old elements too.
    constexpr small_vector& operator=(small_vector&& other) noexcept(nothrow_move_) {
        if (this == std::addressof(other)) return *this;
        if constexpr (!std::is_trivially_destructible_v<T>) {
            if (!this->empty()) {
                // Destroys the old elements last: `other` may belong to them.
                small_vector taken(std::move(other));
                take_(taken);
                return *this;
            }
        }
        take_(other);
        return *this;
    }
    constexpr small_vector& operator=(std::initializer_list<T> values) {
        this->assign(values);
        return *this;
    }

    HEADROOM_ALWAYS_INLINE constexpr ~small_vector() { this->destroy_and_release_(); }

    HEADROOM_ACCESS_IN_CLASS()

    // O(1) if the elements of both are in blocks; invalidates nothing then. Otherwise like three moves.
    constexpr void swap(small_vector& other) noexcept(nothrow_move_) {
        if (!this->is_inline_() && !other.is_inline_()) return this->swap_store_(other);
        small_vector taken(std::move(other));
        other = std::move(*this);
        *this = std::move(taken);
    }

    // Brings at most N elements back into the object. With more, makes capacity() equal to size() (see vector). Does nothing if memory is
    // refused or a copy throws. O(size()) where elements move. Throws only as the move of a move-only element. Invalidates: everything.
    constexpr void shrink_to_fit() {
        HEADROOM_UNPOISON_CAPACITY();
        this->shrink_store_();
    }

private:
    HEADROOM_ALWAYS_INLINE constexpr explicit small_vector(typename store_::uninitialized_tag_ none) noexcept : base_(none) {}

    // Replaces the elements by those of `from`.
    constexpr void take_(small_vector& from) noexcept(nothrow_move_) {
        if (from.is_inline_()) {
            this->clear();
            HEADROOM_UNPOISON_CAPACITY();
            this->move_elements_from_(from);
        } else {
            this->destroy_and_release_();
            this->steal_(from);
        }
    }
};

// Calls a.swap(b).
template <class T, std::size_t N, class Policy>
constexpr void swap(small_vector<T, N, Policy>& a, small_vector<T, N, Policy>& b) noexcept(noexcept(a.swap(b))) {
    a.swap(b);
}

// Element by element. O(min(size)).
template <class T, std::size_t N, class Policy>
[[nodiscard]] constexpr bool operator==(const small_vector<T, N, Policy>& a, const small_vector<T, N, Policy>& b) {
    return detail::equal_elements(a, b);
}
template <class T, std::size_t N, class Policy>
    requires detail::ordered<T>
[[nodiscard]] constexpr auto operator<=>(const small_vector<T, N, Policy>& a, const small_vector<T, N, Policy>& b) {
    return detail::compare_elements(a, b);
}

// Erase every element equal to `value`, or for which `predicate` holds; return their number. O(size()).
// Invalidate: the erased elements and all behind the first of them.
template <class T, std::size_t N, class Policy, class U = T>
constexpr typename small_vector<T, N, Policy>::size_type erase(small_vector<T, N, Policy>& container, const U& value) {
    HEADROOM_CONVERSIONS_BEGIN
    return detail::erase_matching(container, [&](T& element) -> bool { return (element == value) ? true : false; });
    HEADROOM_CONVERSIONS_END
}
template <class T, std::size_t N, class Policy, class Predicate>
constexpr typename small_vector<T, N, Policy>::size_type erase_if(small_vector<T, N, Policy>& container, Predicate predicate) {
    return detail::erase_matching(container, std::move(predicate));
}

}}    // namespace headroom
