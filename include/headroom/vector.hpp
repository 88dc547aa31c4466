// SPDX-License-Identifier: MIT
// A drop-in replacement for std::vector that grows without copying where it can.
//
// Choose it wherever std::vector would do. Choose `settled_vector` when elements must never move. With std::allocator it
// keeps a small vector on the heap (in blocks no larger than std::vector's; grown by realloc where elements are relocatable),
// and a large one, from Policy::map_threshold bytes of capacity, in a reservation that grows in place. When a reservation is
// outgrown, relocatable elements are moved by page tables, others by their move constructors; where the system refuses
// reservations, the vector uses the heap. Any other allocator is used as the standard says.
//
// How it differs from std::vector:
//   - with std::allocator, memory comes from malloc (from operator new for elements of more alignment than malloc gives) and from the
//     system for large vectors: a replaced operator new does not see it; pass an allocator for that;
//   - relocatable elements (see relocatable.hpp) are moved as bytes when the vector grows, without their move constructors;
//   - with small elements, capacity() is the capacity of the heap's block (with glibc 6 ints, 10, 18 ...); from map_threshold on it
//     grows in pages, not by a factor;
//   - vector<bool> holds bools, one byte each, with real references; it is no special case;
//   - iterators hold plain pointers, even if the allocator's pointers are classes.
// Cost: a vector in a reservation takes 4 GiB of address space and two mappings; when those run out, it uses the heap.
//
// Document: "A fast vector with mremap".
#pragma once

#include <headroom/detail/language.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>    // allocators, and that there is a std::pmr::polymorphic_allocator

#include <headroom/commit_policy.hpp>
#include <headroom/detail/vector/allocator_memory.hpp>
#include <headroom/detail/vector/heap_memory.hpp>
#include <headroom/detail/vector/movable_store.hpp>
#include <headroom/detail/vector/sequence.hpp>
#include <headroom/growth.hpp>

namespace headroom { inline namespace v0_1 {

// How a vector grows. Derive from it, and override members to change them.
struct vector_policy {
    // Capacity while on the heap.
    using growth = geometric<2, 1>;
    // A vector with std::allocator is in a reservation from this capacity on, in bytes. SIZE_MAX keeps it on the heap.
    static constexpr std::size_t map_threshold = std::size_t{1} << 20;
    // How the reservation is committed.
    static constexpr commit_policy commit{};
};

namespace detail {

template <class T, class Allocator, class Policy>
using vector_memory = std::conditional_t<std::is_same_v<Allocator, std::allocator<T>>, heap_memory<T, Policy>,
                                         allocator_memory<T, Allocator, Policy>>;

template <class A>
concept allocator_like = requires(A& a) {
    typename A::value_type;
    a.allocate(std::size_t{1});
};

}    // namespace detail

template <class T, class Allocator = std::allocator<T>, class Policy = vector_policy>
class HEADROOM_HARDENED_ABI vector
    : public detail::sequence_<detail::movable_store_<detail::vector_memory<T, Allocator, Policy>>> {
    static_assert(std::is_same_v<std::remove_cv_t<T>, T>, "a vector of const or volatile elements");
    static_assert(std::is_same_v<typename std::allocator_traits<Allocator>::value_type, T>, "an allocator of other elements");

    using memory_kind_ = detail::vector_memory<T, Allocator, Policy>;
    using store_ = detail::movable_store_<memory_kind_>;
    using base_ = detail::sequence_<store_>;
    using traits_ = std::allocator_traits<Allocator>;
    using base_::begin_;
    using base_::cap_;
    using base_::end_;
    using base_::memory_;

public:
    using allocator_type = Allocator;
    using typename base_::const_iterator;
    using typename base_::iterator;
    using size_type = typename traits_::size_type;
    using difference_type = typename traits_::difference_type;

    // --- Construction. All that allocate throw std::length_error past max_size(), std::bad_alloc (or what the allocator throws) when
    // memory is refused, and as an element's constructor; nothing leaks then. O(elements); one allocation if their number is known.

    HEADROOM_ALWAYS_INLINE constexpr vector() noexcept(std::is_nothrow_default_constructible_v<Allocator>)
        requires std::default_initializable<Allocator>
        : base_() {}
    HEADROOM_ALWAYS_INLINE constexpr explicit vector(const Allocator& allocator) noexcept : base_(allocator) {}
    // std::size_t, not size_type, so that a deduction guide can rule these out without the class that it would deduce.
    constexpr explicit vector(std::size_t count, const Allocator& allocator = Allocator()) : base_(allocator) {
        construct_or_release_(count, detail::value_init_source{});
    }
    constexpr vector(std::size_t count, const T& value, const Allocator& allocator = Allocator()) : base_(allocator) {
        construct_or_release_(count, detail::fill_source{value});
    }
    template <detail::any_input_iterator It>
    constexpr vector(It first, It last, const Allocator& allocator = Allocator()) : base_(allocator) {
        construct_cursor_(detail::cursor_between(std::move(first), std::move(last)));
    }
    constexpr vector(std::initializer_list<T> values, const Allocator& allocator = Allocator()) : base_(allocator) {
        construct_or_release_(values.size(), detail::copy_source<const T*>{values.begin()});
    }
    // The tag is checked first, so that other arguments are not tested for being ranges.
    template <std::same_as<from_range_t> Tag, detail::compatible_range<T> R>
    constexpr vector(Tag, R&& values, const Allocator& allocator = Allocator()) : base_(allocator) {
        detail::cursor_over<R> cursor(values);
        if constexpr (!cursor.multi_pass && cursor.has_size && !std::is_move_constructible_v<T>) {
            // Elements that cannot be moved: exactly as much memory as the range's size says.
            release_guard_ guard{*this};
            {
                HEADROOM_UNPOISON_CAPACITY();
                this->allocate_(cursor.size_hint);
            }
            for (; cursor.first != cursor.last; ++cursor.first) {
                if (end_ == cap_) detail::throw_length_error("headroom::vector: a range longer than its size");
                this->construct_at_end_(*cursor.first);
            }
            guard.constructed = true;
        } else {
            construct_cursor_(std::move(cursor));
        }
    }
    constexpr vector(const vector& other)
        : vector(other, traits_::select_on_container_copy_construction(other.memory_.allocator())) {}
    constexpr vector(const vector& other, const std::type_identity_t<Allocator>& allocator) : base_(allocator) {
        construct_or_release_(other.size(), detail::copy_source<const T*>{other.data()});
    }
    // O(1). Invalidates: nothing; the elements now belong to *this, and `other` is empty.
    HEADROOM_ALWAYS_INLINE constexpr vector(vector&& other) noexcept : base_(typename store_::stolen_{other}) {}
    // O(1) if the allocators are equal, else O(other.size()): moves element by element.
    constexpr vector(vector&& other, const std::type_identity_t<Allocator>& allocator) noexcept(traits_::is_always_equal::value)
        : vector(allocator) {
        if constexpr (!traits_::is_always_equal::value) {
            if (!allocators_equal_(other)) {
                this->construct_initial_(other.size(), detail::move_source(other.data()));
                other.clear_moved_from_();
                return;
            }
        }
        this->steal_(other);
    }

    // O(size() + other.size()). Invalidates: every element.
    constexpr vector& operator=(const vector& other) {
        constexpr bool travels = traits_::propagate_on_container_copy_assignment::value;
        if (this == std::addressof(other)) return *this;
        const bool contained = this->contains_object_(other);
        if constexpr (travels) {
            if (contained) {
                vector copy(other, other.memory_.allocator());
                take_over_<true>(copy);
                return *this;
            }
            if (!allocators_equal_(other)) clear_and_release_();
            memory_.allocator() = other.memory_.allocator();
        }
        this->assign_from_(other.size(), detail::copy_source<const T*>{other.data()}, contained);
        return *this;
    }
    // O(1) and size() destructions if the allocator propagates or is equal, else element by element. Invalidates: the old elements.
    constexpr vector& operator=(vector&& other) noexcept(traits_::propagate_on_container_move_assignment::value ||
                                                         traits_::is_always_equal::value) {
        if (can_take_over_(other)) {
            vector taken(std::move(other));    // all of it, even if `other` is *this
            take_over_<traits_::propagate_on_container_move_assignment::value>(taken);
        } else if constexpr (!traits_::propagate_on_container_move_assignment::value && !traits_::is_always_equal::value) {
            if (this->contains_object_(other)) {
                vector taken(std::move(other));
                return *this = std::move(taken);
            }
            this->assign_from_(other.size(), detail::move_source(other.data()));
            other.clear_moved_from_();
        }
        return *this;
    }
    constexpr vector& operator=(std::initializer_list<T> values) {
        this->assign(values);
        return *this;
    }

    HEADROOM_ALWAYS_INLINE constexpr ~vector() { this->destroy_and_release_(); }

    HEADROOM_ACCESS_IN_CLASS()

    [[nodiscard]] constexpr allocator_type get_allocator() const noexcept { return memory_.allocator(); }

    // O(1). Invalidates: nothing; elements change owners. Precondition: the allocators are equal or propagate on swap.
    constexpr void swap(vector& other) noexcept {
        if constexpr (traits_::propagate_on_container_swap::value) {
            using std::swap;
            swap(memory_.allocator(), other.memory_.allocator());
        } else {
            HEADROOM_EXPECT(allocators_equal_(other), allocators_differ, "swap()", 0);
        }
        this->swap_store_(other);
    }

    // Makes capacity() equal to size(). A reservation decommits whole pages; a vector that has become small moves back to the heap. Does
    // nothing if memory for that is refused or an element's copy throws. O(size()) where elements move. Throws only what the move of a
    // move-only element throws. Invalidates: everything.
    constexpr void shrink_to_fit() {
        HEADROOM_UNPOISON_CAPACITY();
        this->shrink_store_();
    }

private:
    // Scope guard: releases elements and block of a vector whose constructor throws, for the destructor does not run then.
    struct release_guard_ {
        vector& of;
        bool constructed = false;
        constexpr ~release_guard_() {
            if (!constructed) of.destroy_and_release_();
        }
    };
    // Constructs the elements of a new vector, out of line or by a call of the library. If that throws, nothing is left to release.
    template <class Source>
    HEADROOM_ALWAYS_INLINE constexpr void construct_or_release_(std::size_t count, const Source& source) {
        if constexpr (base_::template is_bulk_<Source>() || base_::template is_bulk_zero_<Source>()) {
            this->construct_initial_(count, source);
        } else {
            construct_guarded_(count, source);
        }
    }
    template <class Source>
    HEADROOM_NOINLINE constexpr void construct_guarded_(std::size_t count, const Source& source) {
        release_guard_ guard{*this};
        this->construct_initial_(count, source);
        guard.constructed = true;
    }
    template <class Cursor>
    constexpr void construct_cursor_(Cursor cursor) {
        if constexpr (Cursor::multi_pass) {
            const auto count = cursor.count();    // before the iterator is moved from
            construct_or_release_(count, detail::copy_source<typename Cursor::iterator>{std::move(cursor.first)});
        } else {
            release_guard_ guard{*this};
            this->construct_range_(std::move(cursor));
            guard.constructed = true;
        }
    }

    // True if move assignment takes over the block of `other`.
    HEADROOM_ALWAYS_INLINE constexpr bool can_take_over_(const vector& other) const noexcept {
        if constexpr (traits_::propagate_on_container_move_assignment::value) {
            return true;
        } else {
            return allocators_equal_(other);
        }
    }
    constexpr bool allocators_equal_(const vector& other) const noexcept {
        if constexpr (traits_::is_always_equal::value) {
            return true;
        } else {
            return memory_.allocator() == other.memory_.allocator();
        }
    }

    // Swaps elements with `from`, and allocators if `Allocators`. `from` destroys the old ones afterwards: it may be part of them.
    template <bool Allocators>
    constexpr void take_over_(vector& from) noexcept {
        if constexpr (Allocators) {
            Allocator mine(std::move(memory_.allocator()));
            memory_.allocator() = std::move(from.memory_.allocator());
            from.memory_.allocator() = std::move(mine);
        }
        this->swap_store_(from);
    }

    // Clears the vector after its elements were moved out one by one, as libstdc++ does. The standard leaves this open; with libc++,
    // moved-from elements stay, as in its own vector.
    constexpr void clear_moved_from_() noexcept {
#if !defined(_LIBCPP_VERSION)
        this->clear();
#endif
    }

    // Releases the elements and the block; the vector is like a new one.
    constexpr void clear_and_release_() noexcept {
        this->destroy_and_release_();
        begin_ = end_ = cap_ = typename base_::pointer();
    }
};

template <class T, class Allocator, class Policy>
constexpr void swap(vector<T, Allocator, Policy>& a, vector<T, Allocator, Policy>& b) noexcept {
    a.swap(b);
}

// Element by element. O(min(size)).
template <class T, class Allocator, class Policy>
[[nodiscard]] constexpr bool operator==(const vector<T, Allocator, Policy>& a, const vector<T, Allocator, Policy>& b) {
    return detail::equal_elements(a, b);
}
template <class T, class Allocator, class Policy>
    requires detail::ordered<T>
[[nodiscard]] constexpr auto operator<=>(const vector<T, Allocator, Policy>& a, const vector<T, Allocator, Policy>& b) {
    return detail::compare_elements(a, b);
}

template <detail::any_input_iterator It, class Allocator = std::allocator<typename std::iterator_traits<It>::value_type>>
    requires detail::allocator_like<Allocator>
vector(It, It, Allocator = Allocator()) -> vector<typename std::iterator_traits<It>::value_type, Allocator>;
template <detail::any_input_range R, class Allocator = std::allocator<detail::range_value<R>>>
    requires detail::allocator_like<Allocator>
vector(from_range_t, R&&, Allocator = Allocator()) -> vector<detail::range_value<R>, Allocator>;

namespace pmr {
template <class T>
using vector = headroom::vector<T, std::pmr::polymorphic_allocator<T>>;
}    // namespace pmr

// Erase every element equal to `value`, or for which `predicate` holds; return their number. O(size()).
// Invalidate: the erased elements and all behind the first of them.
template <class T, class Allocator, class Policy, class U = T>
constexpr typename vector<T, Allocator, Policy>::size_type erase(vector<T, Allocator, Policy>& container, const U& value) {
    HEADROOM_CONVERSIONS_BEGIN
    return detail::erase_matching(container, [&](T& element) -> bool { return (element == value) ? true : false; });
    HEADROOM_CONVERSIONS_END
}
template <class T, class Allocator, class Policy, class Predicate>
constexpr typename vector<T, Allocator, Policy>::size_type erase_if(vector<T, Allocator, Policy>& container,
                                                                    Predicate predicate) {
    return detail::erase_matching(container, std::move(predicate));
}

}}    // namespace headroom
