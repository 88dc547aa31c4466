// SPDX-License-Identifier: MIT
// Sources of new elements. A container's bulk operations (assign, insert, append, resize, construction) differ only in what they put in,
// so each passes a *source*: an object that constructs elements into raw memory, or assigns over existing ones, from a given element of its
// own on. If a constructor throws, it destroys what it has built.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>    // iterator_traits, move_iterator

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/elements.hpp>
#include <headroom/detail/vector/fill_elements.hpp>
#include <headroom/detail/vector/ranges.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

#if defined(__GNUC__)
using wide_block = unsigned char HEADROOM_VECTOR_TYPE(16);
// Fills `to` with at least one block of copies of a value of 2 to 16 bytes. GCC 12 at -O2 does not vectorise a loop over elements.
template <class T>
void fill_by_blocks(T* to, const T& value, std::size_t count) noexcept {
    std::byte copies[sizeof(wide_block)];
    for (std::size_t i = 0; i != sizeof copies; i += sizeof(T)) std::memcpy(copies + i, std::addressof(value), sizeof(T));
    wide_block block;
    std::memcpy(&block, copies, sizeof block);
    auto* at = reinterpret_cast<std::byte*>(to);
    std::byte* const last = at + (count * sizeof(T) - sizeof block);
    for (; last - at >= 64; at += 64) {
        for (std::size_t i = 0; i != 64; i += sizeof block) std::memcpy(at + i, &block, sizeof block);
    }
    for (; at < last; at += sizeof block) std::memcpy(at, &block, sizeof block);
    std::memcpy(last, &block, sizeof block);
}
#endif

// True if T() is all zero bytes. False for pointers to members, whose null is -1.
template <class T>
inline constexpr bool zero_is_bytes =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T> || std::is_null_pointer_v<T>;

template <class Value>
struct fill_source;

// Source of T() elements.
struct value_init_source {
    static constexpr bool can_build_in_steps = true;    // element n can be built without the ones before it
    static constexpr bool repeats = true;               // all elements are alike
    // True if construction and assignment are copies of bytes.
    template <class Store, class T>
    static constexpr bool is_bytewise = false;
    // True if construction writes nothing.
    template <class Store, class T>
    static constexpr bool writes_nothing = false;
    // True if a store with functions for many elements builds them from the address that bulk_elements<T>() returns.
    template <class Store, class T>
    static constexpr bool is_bulk = false;
    // True if no element is read and construction cannot throw: the container always grows first.
    template <class Store, class T>
    static constexpr bool grows_first = std::is_nothrow_default_constructible_v<T> && Store::template uses_default_construct_<>();
    // True if one T() can be copied to all places.
    template <class Store, class T>
    static constexpr bool is_repeatable = std::is_trivially_default_constructible_v<T> && bytewise_constructible<T, const T&> &&
                                          sizeof(T) <= 256 && Store::uses_default_construct_();
    // True if building the elements [skip, skip + count) cannot throw and reads nothing in [first, last): the container may grow first.
    template <class T>
    static constexpr bool may_build_in_place(const T*, const T*, std::size_t, std::size_t) noexcept {
        return std::is_nothrow_default_constructible_v<T>;
    }

    template <class Store, class T>
    constexpr T* construct_(Store& store, T* to, std::size_t, std::size_t count) const {
        if constexpr (zero_is_bytes<T> && Store::uses_default_construct_()) {
            HEADROOM_IF_RUN_TIME {
                detail::set_bytes(to, 0, count);
                return to + count;
            }
        } else if constexpr (is_repeatable<Store, T>) {
            HEADROOM_IF_RUN_TIME {
                const T zero = T();
                return fill_source<T>{zero}.construct_(store, to, 0, count);
            }
        }
        if constexpr (!std::is_nothrow_default_constructible_v<T> && !std::is_trivially_copyable_v<T> &&
                      Store::template uses_default_construct_<>()) {
            HEADROOM_IF_RUN_TIME return detail::construct_values(to, count);
        }
        HEADROOM_IF_RUN_TIME HEADROOM_LOAD_SEPARATELY(to);    // the loop may become the memset of set_bytes()
        construction_guard<Store> built(store, to);
        for (; count != 0; --count, ++built.end) store.construct_(built.end);
        return built.release();
    }
};

// Source of default-initialised elements: those of trivial types keep the bytes that the memory held.
struct uninitialized_source : value_init_source {
    template <class Store, class T>
    static constexpr bool writes_nothing = std::is_trivially_default_constructible_v<T> && Store::uses_default_construct_();
    template <class Store, class T>
    static constexpr bool is_bulk = writes_nothing<Store, T>;
    template <class T>
    [[nodiscard]] static constexpr const T* bulk_elements(std::size_t) noexcept {
        return nullptr;
    }

    template <class Store, class T>
    constexpr T* construct_(Store& store, T* to, std::size_t skip, std::size_t count) const {
        if constexpr (Store::uses_default_construct_()) {
            HEADROOM_IF_RUN_TIME {
                if constexpr (std::is_trivially_default_constructible_v<T>) {
                    return to + count;
                } else {
                    construction_guard<Store> built(store, to);
                    for (; count != 0; --count, ++built.end) ::new (static_cast<void*>(built.end)) T;
                    return built.release();
                }
            }
        }
        return value_init_source::construct_(store, to, skip, count);
    }
};

// Source of copies of one value, which must outlive the operation unchanged.
template <class Value>
struct fill_source {
    const Value& value;

    static constexpr bool can_build_in_steps = true;
    template <class Store, class T>
    static constexpr bool writes_nothing = false;
    template <class Store, class T>
    static constexpr bool is_bytewise =
        bytewise_constructible<T, const T&> && bytewise_assignable<T, const T&> && Store::uses_default_construct_();
    template <class Store, class T>
    static constexpr bool grows_first = false;
    template <class Store, class T>
    static constexpr bool is_bulk = bytewise_constructible<T, const T&> && Store::uses_default_construct_();
    static constexpr bool repeats = true;
    template <class T>
    [[nodiscard]] const T* bulk_elements(std::size_t) const noexcept {
        return std::addressof(value);
    }
    template <class T>
    bool may_build_in_place(const T* first, const T* last, std::size_t, std::size_t) const noexcept {
        return std::is_nothrow_copy_constructible_v<T> && detail::lies_outside(first, last, value);
    }

    template <class Store, class T>
    constexpr T* construct_(Store& store, T* to, std::size_t, std::size_t count) const {
        if constexpr (bytewise_constructible<T, const T&> && Store::uses_default_construct_()) {
            HEADROOM_IF_RUN_TIME {
                if constexpr (std::is_scalar_v<T> && sizeof(T) == 1) {
                    detail::set_bytes(to, reinterpret_cast<const unsigned char&>(value), count);
                    return to + count;
                } else if constexpr (std::is_scalar_v<T> && sizeof(T) <= 8) {
#if defined(__GNUC__)
                    if (count * sizeof(T) >= sizeof(wide_block)) {
                        detail::fill_by_blocks(to, value, count);
                        return to + count;
                    }
#endif
                    const T kept(value);    // the compiler knows that the writes cannot change it
                    for (std::size_t i = 0; i != count; ++i) ::new (static_cast<void*>(to + i)) T(kept);
                    return to + count;
                } else {
                    if constexpr (sizeof(T) <= 64) {
                        if (count <= 1024 / sizeof(T)) {
                            const T kept(value);
                            for (std::size_t i = 0; i != count; ++i) ::new (static_cast<void*>(to + i)) T(kept);
                            return to + count;
                        }
                    }
                    detail::fill_elements(to, std::addressof(value), sizeof(T), count);
                    return to + count;
                }
            }
        }
        if constexpr (!std::is_trivially_copyable_v<T> && Store::template uses_default_construct_<const Value&>()) {
            HEADROOM_IF_RUN_TIME return detail::construct_filled_with(to, value, count);
        }
        construction_guard<Store> built(store, to);
        for (; count != 0; --count, ++built.end) store.construct_(built.end, value);
        return built.release();
    }

    template <class Store, class T>
    constexpr void assign(Store& store, T* to, std::size_t, std::size_t count) const {
        if constexpr (is_bytewise<Store, T>) {
            HEADROOM_IF_RUN_TIME {
                construct_(store, to, 0, count);
                return;
            }
        }
        for (; count != 0; --count, ++to) *to = value;
    }
};
template <class Value>
fill_source(const Value&) -> fill_source<Value>;

// GCC 12 vectorises the loops below for ranges whose end it knows, and warns of reads beyond the end in wide steps that are never taken.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

// `value`: true if the elements behind the iterator are contiguous in memory. `address` is the pointer to the first.
template <class It>
struct contiguous_source {
    static constexpr bool value = std::contiguous_iterator<It>;
    static constexpr auto* address(const It& first) noexcept { return std::to_address(first); }
};
template <class It>
struct contiguous_source<std::move_iterator<It>> {
    static constexpr bool value = std::contiguous_iterator<It>;
    static constexpr auto* address(const std::move_iterator<It>& first) noexcept { return std::to_address(first.base()); }
};

// Source of the elements from `first` on, each passed as a `Given`. Needs a multi-pass iterator.
template <class It, class Given = std::iter_reference_t<It>>
struct copy_source {
    It first;

    static constexpr bool is_contiguous = contiguous_source<It>::value;
    static constexpr bool has_random_access = std::random_access_iterator<It> || is_contiguous;
    // Moved-from elements must not be taken before all memory is there: if the rest were refused they would be lost.
    static constexpr bool can_build_in_steps =
        has_random_access && std::disjunction_v<std::negation<std::is_rvalue_reference<Given>>,
                                                std::is_trivially_copyable<std::remove_reference_t<Given>>>;

    // True if constructing a T from the iterator copies bytes.
    template <class Store, class T>
    static constexpr bool constructs_bytewise() noexcept {
        return is_contiguous && bytewise_constructible<T, Given> && Store::uses_default_construct_();
    }
    template <class Store, class T>
    static constexpr bool writes_nothing = false;
    template <class Store, class T>
    static constexpr bool is_bytewise = constructs_bytewise<Store, T>() && bytewise_assignable<T, Given>;
    template <class Store, class T>
    static constexpr bool grows_first = false;
    template <class Store, class T>
    static constexpr bool is_bulk = constructs_bytewise<Store, T>();
    static constexpr bool repeats = false;
    template <class T>
    [[nodiscard]] const T* bulk_elements(std::size_t skip) const noexcept {
        return static_cast<const T*>(contiguous_source<It>::address(first)) + skip;
    }
    template <class T>
    bool may_build_in_place([[maybe_unused]] const T* begin, [[maybe_unused]] const T* end, [[maybe_unused]] std::size_t skip,
                            [[maybe_unused]] std::size_t count) const noexcept {
        if constexpr (is_contiguous && bytewise_constructible<T, Given>) {
            return detail::lies_outside(begin, end, contiguous_source<It>::address(first) + skip, count * sizeof(T));
        } else {
            return false;
        }
    }

    // Returns the iterator to element `skip`. O(1) for random-access iterators, otherwise O(skip).
    constexpr It at(std::size_t skip) const {
        It it = first;
        if constexpr (has_random_access) {
            it += static_cast<std::iter_difference_t<It>>(skip);
        } else {
            for (; skip != 0; --skip) ++it;
        }
        return it;
    }

    template <class Store, class T>
    constexpr T* construct_(Store& store, T* to, std::size_t skip, std::size_t count) const {
        if constexpr (constructs_bytewise<Store, T>()) {
            HEADROOM_IF_RUN_TIME {
                if (count != 0)
                    detail::copy_bytewise(to, static_cast<const T*>(contiguous_source<It>::address(first)) + skip, count);
                return to + count;
            }
        }
        if constexpr (std::is_pointer_v<It> && !std::is_trivially_copyable_v<T> &&
                      std::is_same_v<std::remove_const_t<std::iter_value_t<It>>, T> &&
                      Store::template uses_default_construct_<Given>()) {
            HEADROOM_IF_RUN_TIME return detail::construct_from_array<Given>(to, first + skip, count);
        }
        construction_guard<Store> built(store, to);
        It it = at(skip);
        for (T* const last = to + count; built.end != last; ++built.end, static_cast<void>(++it)) {
            store.construct_(built.end, static_cast<Given>(*it));
        }
        return built.release();
    }

    template <class Store, class T>
    constexpr void assign(Store&, T* to, std::size_t skip, std::size_t count) const {
        if constexpr (is_contiguous && bytewise_assignable<T, Given> && Store::uses_default_construct_()) {
            HEADROOM_IF_RUN_TIME {
                if (count != 0)
                    detail::move_bytewise(to, static_cast<const T*>(contiguous_source<It>::address(first)) + skip, count);
                return;
            }
        }
        It it = at(skip);
        HEADROOM_CONVERSIONS_BEGIN
        for (T* const last = to + count; to != last; ++to, static_cast<void>(++it)) *to = static_cast<Given>(*it);
        HEADROOM_CONVERSIONS_END
    }
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// Source that moves from the elements at `first`, by pointer: a move_iterator's operators would be looked up in the program's types.
template <class T>
constexpr copy_source<T*, T&&> move_source(T* first) {
    return {first};
}

}}}    // namespace headroom::detail
