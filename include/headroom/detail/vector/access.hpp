// SPDX-License-Identifier: MIT
// Element access, iterators and sizes of the contiguous containers: the lowest of the three parts of sequence_ (sequence.hpp). Also maps
// user positions to indices and keeps AddressSanitizer's container annotations up to date for the two parts above.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>    // reverse_iterator, to_address

#include <headroom/detail/annotate.hpp>
#include <headroom/detail/attributes.hpp>
#include <headroom/detail/errors.hpp>
#include <headroom/detail/hardened.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/iterator.hpp>

// Members of element_access_, repeated in each container: GCC's -fipa-sra passes what a function reads of a parameter, not a reference,
// only where it reads members of the parameter's own class. A route planner took 1.2 of the time without these.
#define HEADROOM_ACCESS_IN_CLASS()                                                                            \
    [[nodiscard]] constexpr typename store_::value_type& operator[](std::size_t index) noexcept {             \
        HEADROOM_EXPECT_ELEMENT(index < size(), past_the_end, "operator[]", index);                           \
        return *(this->begin_ + static_cast<std::ptrdiff_t>(index));                                          \
    }                                                                                                         \
    [[nodiscard]] constexpr const typename store_::value_type& operator[](std::size_t index) const noexcept { \
        HEADROOM_EXPECT_ELEMENT(index < size(), past_the_end, "operator[]", index);                           \
        return *(this->begin_ + static_cast<std::ptrdiff_t>(index));                                          \
    }                                                                                                         \
    [[nodiscard]] constexpr std::size_t size() const noexcept { return static_cast<std::size_t>(this->end_ - this->begin_); }

namespace headroom { inline namespace v0_1 { namespace detail {

template <class Store>
class HEADROOM_HARDENED_ABI element_access_ : protected Store {
protected:
    using Store::begin_;
    using Store::cap_;
    using Store::end_;

public:
    using value_type = typename Store::value_type;
    using pointer = typename Store::pointer;
    using const_pointer = typename Store::const_pointer;
    using reference = value_type&;
    using const_reference = const value_type&;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using iterator = element_iterator<value_type>;
    using const_iterator = element_iterator<const value_type>;
    using reverse_iterator = std::reverse_iterator<iterator>;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;

    // --- Element access. O(1). Precondition of all but at(): the element exists.

    [[nodiscard]] constexpr reference operator[](size_type index) noexcept {
        HEADROOM_EXPECT_ELEMENT(index < size(), past_the_end, "operator[]", index);
        return raw_(begin_)[index];
    }
    [[nodiscard]] constexpr const_reference operator[](size_type index) const noexcept {
        HEADROOM_EXPECT_ELEMENT(index < size(), past_the_end, "operator[]", index);
        return raw_(begin_)[index];
    }
    // Throws std::out_of_range if index >= size().
    [[nodiscard]] constexpr reference at(size_type index) {
        if (index >= size()) detail::throw_out_of_range("headroom: at() past the end");
        return raw_(begin_)[index];
    }
    [[nodiscard]] constexpr const_reference at(size_type index) const {
        if (index >= size()) detail::throw_out_of_range("headroom: at() past the end");
        return raw_(begin_)[index];
    }
    [[nodiscard]] constexpr reference front() noexcept {
        HEADROOM_EXPECT_ELEMENT(!empty(), empty, "front()", 0);
        return *raw_(begin_);
    }
    [[nodiscard]] constexpr const_reference front() const noexcept {
        HEADROOM_EXPECT_ELEMENT(!empty(), empty, "front()", 0);
        return *raw_(begin_);
    }
    [[nodiscard]] constexpr reference back() noexcept {
        HEADROOM_EXPECT_ELEMENT(!empty(), empty, "back()", 0);
        return *(raw_(end_) - 1);
    }
    [[nodiscard]] constexpr const_reference back() const noexcept {
        HEADROOM_EXPECT_ELEMENT(!empty(), empty, "back()", 0);
        return *(raw_(end_) - 1);
    }
    [[nodiscard]] constexpr value_type* data() noexcept { return raw_(begin_); }
    [[nodiscard]] constexpr const value_type* data() const noexcept { return raw_(begin_); }

    // --- Iterators: pointers in a class.

    [[nodiscard]] constexpr iterator begin() noexcept { return iterator(raw_(begin_)); }
    [[nodiscard]] constexpr const_iterator begin() const noexcept { return const_iterator(raw_(begin_)); }
    [[nodiscard]] constexpr iterator end() noexcept { return iterator(raw_(end_)); }
    [[nodiscard]] constexpr const_iterator end() const noexcept { return const_iterator(raw_(end_)); }
    [[nodiscard]] constexpr const_iterator cbegin() const noexcept { return begin(); }
    [[nodiscard]] constexpr const_iterator cend() const noexcept { return end(); }
    [[nodiscard]] constexpr reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
    [[nodiscard]] constexpr const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
    [[nodiscard]] constexpr reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
    [[nodiscard]] constexpr const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
    [[nodiscard]] constexpr const_reverse_iterator crbegin() const noexcept { return rbegin(); }
    [[nodiscard]] constexpr const_reverse_iterator crend() const noexcept { return rend(); }

    [[nodiscard]] constexpr bool empty() const noexcept { return begin_ == end_; }
    [[nodiscard]] constexpr size_type size() const noexcept { return static_cast<size_type>(end_ - begin_); }
    // Elements that fit without asking for memory.
    [[nodiscard]] constexpr size_type capacity() const noexcept {
        if constexpr (Store::can_refuse_changes_) {
            if (!this->may_change_()) return size();
        }
        return static_cast<size_type>(cap_ - begin_);
    }
    // Upper limit of size() for this container.
    [[nodiscard]] constexpr size_type max_size() const noexcept { return Store::max_size(); }

protected:
    constexpr element_access_() = default;
    // Constructs the store from `from`.
    template <class From>
    constexpr explicit element_access_(From&& from) noexcept : Store(std::forward<From>(from)) {}
    element_access_(const element_access_&) = delete;
    element_access_& operator=(const element_access_&) = delete;
    constexpr ~element_access_() = default;

    template <class>
    friend class tail_write_guard;
    template <class>
    friend class capacity_write_guard;

    // Returns the plain pointer of an allocator's pointer. A member, like every helper called here, because an unqualified call would find
    // functions in the namespaces of the program's types.
    HEADROOM_ALWAYS_INLINE static constexpr value_type* raw_(const pointer& from) noexcept { return detail::raw_pointer(from); }

    constexpr Store& as_store_() noexcept { return *this; }

    // True if `other`, a container, is a subobject of an element, so that it is destroyed or changed with the elements. Always true in
    // constant evaluation, where addresses cannot be compared.
    template <class Container>
    [[nodiscard]] constexpr bool contains_object_([[maybe_unused]] const Container& other) const noexcept {
        if constexpr (std::is_class_v<value_type> && !std::is_trivially_copyable_v<value_type> &&
                      sizeof(value_type) >= sizeof(Container)) {
            if (HEADROOM_CONSTANT_EVALUATED()) return true;
            const auto at = reinterpret_cast<std::uintptr_t>(std::addressof(other));
            return at >= reinterpret_cast<std::uintptr_t>(raw_(begin_)) && at < reinterpret_cast<std::uintptr_t>(raw_(end_));
        } else {
            return false;
        }
    }

    // Elements that fit after the last one without asking for memory.
    [[nodiscard]] constexpr size_type unused_capacity_() const noexcept {
        if constexpr (Store::can_refuse_changes_) {
            if (!this->may_change_()) return 0;
        }
        return static_cast<size_type>(cap_ - end_);
    }
    // True if an append must take the slow path: no capacity is left, or the store refuses changes.
    [[nodiscard]] HEADROOM_ALWAYS_INLINE constexpr bool is_full_() const noexcept {
        if constexpr (Store::can_refuse_changes_) {
            if (!this->may_change_()) return true;
        }
        return end_ == cap_;
    }
    // Throws if the store refuses changes. Called by every operation that changes elements, before it changes any.
    HEADROOM_ALWAYS_INLINE constexpr void expect_changeable_() const {
        if constexpr (Store::can_refuse_changes_) this->throw_unless_changeable_();
    }

    // Name of the container in messages.
    static constexpr const char* container_name_() noexcept {
        if constexpr (requires { Store::container_name_; }) {
            return Store::container_name_;
        } else {
            return Store::never_relocates_ ? "settled_vector" : "vector";
        }
    }

    // Returns the iterator at `index`, made from the pointer: an iterator's operator would be looked up among the program's types.
    constexpr iterator iterator_at_(size_type index) noexcept { return iterator(raw_(begin_) + index); }

    // Returns the index of the position `where`, size() for end(). Hardened builds check it, and name `operation` in the message.
    HEADROOM_ALWAYS_INLINE constexpr size_type index_of_(const_iterator where, [[maybe_unused]] const char* operation) const {
        HEADROOM_EXPECT(HEADROOM_CONSTANT_EVALUATED() || detail::is_position(data(), std::to_address(where), size()), no_position,
                        operation, reinterpret_cast<std::uintptr_t>(std::to_address(where)));
        return static_cast<size_type>(std::to_address(where) - data());
    }

    // True if elements are plain bytes: moved by memmove, after which the old places need no destructor. Stricter than relocatable.
    static constexpr bool is_bytewise_() noexcept { return bytewise_movable<value_type> && Store::uses_default_construct_(); }

    // --- AddressSanitizer. These do nothing in other builds.

    // Poisons the storage of the `count` elements that were just removed at the end.
    HEADROOM_ALWAYS_INLINE constexpr void poison_removed_([[maybe_unused]] size_type count) noexcept {
#if defined(HEADROOM_ASAN)
        HEADROOM_IF_RUN_TIME annotate_tail_(annotated_end_() + count, annotated_end_());
#endif
    }
    // Poisons the unused capacity of a new container. A kept range or block may already have some.
    HEADROOM_ALWAYS_INLINE constexpr void poison_unused_capacity_() noexcept {
#if defined(HEADROOM_ASAN)
        HEADROOM_IF_RUN_TIME annotate_tail_(annotated_capacity_(), annotated_end_());
#endif
    }
#if defined(HEADROOM_ASAN)
    constexpr value_type* annotated_end_() noexcept { return raw_(end_); }
    constexpr value_type* annotated_capacity_() noexcept { return raw_(cap_); }
    void annotate_tail_(const value_type* old_middle, const value_type* new_middle) noexcept {
        if (this->annotates_()) detail::move_poison_boundary(raw_(begin_), raw_(cap_), old_middle, new_middle);
    }
#endif
};

}}}    // namespace headroom::detail
