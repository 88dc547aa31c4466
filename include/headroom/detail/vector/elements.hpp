// SPDX-License-Identifier: MIT
// Constructing, copying and destroying elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>    // construct_at

#include <headroom/detail/attributes.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// True if constructing a T from a T given as `From` copies its bytes and runs no constructor of the program. Trivially copyable is not
// enough: a constructor template taking T& is preferred to the trivial one.
template <class T, class From>
inline constexpr bool bytewise_constructible =
    std::is_same_v<std::remove_cvref_t<From>, T> && !std::is_volatile_v<std::remove_reference_t<From>> &&
    std::is_trivially_copyable_v<T> && std::is_trivially_constructible_v<T, From>;
// True if assigning a T given as `From` to a T copies its bytes and runs no operator of the program.
template <class T, class From>
inline constexpr bool bytewise_assignable =
    std::is_same_v<std::remove_cvref_t<From>, T> && !std::is_volatile_v<std::remove_reference_t<From>> &&
    std::is_trivially_copyable_v<T> && std::is_trivially_assignable_v<T&, From>;
// True if constructing a T from Args runs no code of the program. An aggregate's default member initialisers are such code: compilers call
// its construction trivial, but not its default construction.
template <class T, class... Args>
inline constexpr bool constructed_without_code =
    std::is_trivially_constructible_v<T, Args...> &&
    (std::is_trivially_default_constructible_v<T> || (std::is_same_v<std::remove_cvref_t<Args>, T> && ...));
// True if a T constructed from Args, an aggregate of numbers say, is built by copying their bytes and may be copied as bytes afterwards.
template <class T, class... Args>
inline constexpr bool can_construct_as_bytes =
    std::is_trivially_copyable_v<T> && constructed_without_code<T, Args...> && std::is_trivially_constructible_v<T, const T&>;
// True if construction cannot throw and every argument is a T or a number, so that its address and size show all that it refers to.
template <class T, class... Args>
inline constexpr bool constructed_from_values =
    std::is_nothrow_constructible_v<T, Args...> && sizeof...(Args) != 0 &&
    ((std::is_same_v<std::remove_cvref_t<Args>, T> || std::is_arithmetic_v<std::remove_cvref_t<Args>>) && ...);

// True if [from, from + bytes) and [first, last) do not overlap.
template <class T>
HEADROOM_ALWAYS_INLINE bool lies_outside(const T* first, const T* last, const volatile void* from, std::size_t bytes) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(from);
    return at + bytes <= reinterpret_cast<std::uintptr_t>(first) || at >= reinterpret_cast<std::uintptr_t>(last);
}
template <class T, class U>
HEADROOM_ALWAYS_INLINE bool lies_outside(const T* first, const T* last, const U& object) noexcept {
    return detail::lies_outside(first, last, std::addressof(object), sizeof(U));
}

// True if elements may be moved by memmove. A type that cannot be assigned at all, because of a const member, may be.
template <class T>
inline constexpr bool bytewise_movable =
    std::is_trivially_copyable_v<T> && (std::is_trivially_constructible_v<T, T> || !std::is_constructible_v<T, T>) &&
    (std::is_trivially_assignable_v<T&, T> || !std::is_assignable_v<T&, T>);

// GCC 12 warns, on paths never taken, of reads beyond an array as short as the inline buffer, and of writes where N is 0.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-overread"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wnonnull"
#endif

// memmove of `count` elements. Allows null with a count of zero, as in an empty container.
template <class T>
HEADROOM_ALWAYS_INLINE void move_bytewise(T* to, const T* from, std::size_t count) noexcept {
    if (count != 0) std::memmove(static_cast<void*>(to), static_cast<const void*>(from), count * sizeof(T));
}

// memcpy of `count` elements. Allows null with a count of zero.
template <class T>
void copy_bytewise(T* to, const T* from, std::size_t count) noexcept {
    if (count != 0) std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), count * sizeof(T));
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// memset of all bytes of `count` elements. Allows null with a count of zero. Hides where `to` comes from, because compilers turn malloc and
// memset into calloc, which in glibc does not use the thread's cache of short blocks.
template <class T>
void set_bytes(T* to, unsigned char byte, std::size_t count) noexcept {
    if (count == 0) return;
    HEADROOM_LOAD_SEPARATELY(to);
    std::memset(static_cast<void*>(to), byte, count * sizeof(T));
}

// Returns the plain pointer of an allocator's pointer; null for null.
template <class Pointer>
HEADROOM_ALWAYS_INLINE constexpr auto* raw_pointer(const Pointer& from) noexcept {
    if constexpr (std::is_pointer_v<Pointer>) {
        return from;
    } else {
        using element = typename std::pointer_traits<Pointer>::element_type;
        return from == nullptr ? static_cast<element*>(nullptr) : std::to_address(from);
    }
}

// Construction and destruction of elements without an allocator: by placement new and the destructor.
template <class T>
struct default_construction_ {
    using value_type = T;
    template <class...>
    static constexpr bool uses_default_construct_() noexcept {
        return true;
    }
    template <class... Args>
    HEADROOM_ALWAYS_INLINE static constexpr void construct_(T* place, Args&&... args) {
        if (HEADROOM_CONSTANT_EVALUATED()) {
            std::construct_at(place, static_cast<Args&&>(args)...);
        } else {
            HEADROOM_CONVERSIONS_BEGIN
            ::new (static_cast<void*>(place)) T(static_cast<Args&&>(args)...);
            HEADROOM_CONVERSIONS_END
        }
    }
    // std::destroy_at is not used: GCC at -O3 calls it out of line for each element.
    HEADROOM_ALWAYS_INLINE static constexpr void destroy_one_(T* place) noexcept { place->~T(); }
    static constexpr void destroy_([[maybe_unused]] T* first, [[maybe_unused]] T* last) noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            for (; first != last; ++first) first->~T();
        }
    }
};

// Scope guard for trivially copyable elements: closes the gap at `place` unless `filled`, so that nothing has changed after a throw.
template <class T>
struct gap_guard {
    T* place;
    std::size_t count;
    std::size_t behind;
    bool filled = false;
    constexpr ~gap_guard() {
        if (!filled) detail::move_bytewise(place, place + count, behind);
    }
};

// Scope guard: destroys [first, end) unless release() was called. The caller advances `end` after each construction.
template <class Store>
class construction_guard {
public:
    using T = typename Store::value_type;
    constexpr construction_guard(Store& store, T* first) noexcept : store_(store), first_(first), end(first) {}
    // Always inline: otherwise its address escapes, and `end` is stored to memory in every step of the loop.
    HEADROOM_ALWAYS_INLINE constexpr ~construction_guard() {
        if (first_ != nullptr) store_.destroy_(first_, end);
    }
    construction_guard(const construction_guard&) = delete;
    construction_guard& operator=(const construction_guard&) = delete;
    // Keeps the elements; returns their end.
    constexpr T* release() noexcept {
        first_ = nullptr;
        return end;
    }

private:
    Store& store_;
    T* first_;

public:
    T* end;
};

// Construct elements that are not trivial, of a store without construct_() of its own. Out of line, once for all operations of a type.
template <class T, class Value>
HEADROOM_NOINLINE T* construct_filled_with(T* to, const Value& value, std::size_t count) {
    default_construction_<T> store;
    construction_guard<default_construction_<T>> built(store, to);
    for (; count != 0; --count, ++built.end) store.construct_(built.end, value);
    return built.release();
}
template <class T>
HEADROOM_NOINLINE T* construct_values(T* to, std::size_t count) {
    HEADROOM_LOAD_SEPARATELY(to);    // the loop may become the memset of set_bytes()
    default_construction_<T> store;
    construction_guard<default_construction_<T>> built(store, to);
    for (; count != 0; --count, ++built.end) store.construct_(built.end);
    return built.release();
}
// From an array, each passed as a `Given`.
template <class Given, class T, class From>
HEADROOM_NOINLINE T* construct_from_array(T* to, From* from, std::size_t count) {
    default_construction_<T> store;
    construction_guard<default_construction_<T>> built(store, to);
    for (T* const last = to + count; built.end != last; ++built.end, static_cast<void>(++from)) {
        store.construct_(built.end, static_cast<Given>(*from));
    }
    return built.release();
}

// Constructs one element on a slow path: a copy or move of another one by the function that copies arrays.
template <class Store, class T, class... Args>
HEADROOM_ALWAYS_INLINE constexpr void construct_slow(Store& store, T* place, Args&&... args) {
    if constexpr (sizeof...(Args) == 1 && !std::is_trivially_copyable_v<T> &&
                  Store::template uses_default_construct_<Args...>() &&
                  ((std::is_same_v<Args&&, const T&> || std::is_same_v<Args&&, T&&>) && ...)) {
        HEADROOM_IF_RUN_TIME {
            (static_cast<void>(detail::construct_from_array<Args&&>(place, std::addressof(args), 1)), ...);
            return;
        }
    }
    store.construct_(place, static_cast<Args&&>(args)...);
}

// An element outside of the container, for operations whose argument may be an element of that container.
HEADROOM_PADDED_BEGIN
template <class Store>
class temporary {
public:
    using T = typename Store::value_type;
    template <class... Args>
    constexpr explicit temporary(Store& store, Args&&... args) : store_(store), none_() {
        detail::construct_slow(store_, std::addressof(value_), static_cast<Args&&>(args)...);
    }
    constexpr ~temporary() { store_.destroy_one_(std::addressof(value_)); }
    temporary(const temporary&) = delete;
    temporary& operator=(const temporary&) = delete;
    constexpr T& get() noexcept { return value_; }

private:
    Store& store_;
    union {
        char none_;
        T value_;
    };
};
HEADROOM_PADDED_END

}}}    // namespace headroom::detail
