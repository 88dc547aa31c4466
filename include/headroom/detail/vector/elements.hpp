// Sources of new elements, and the helpers that construct, copy and destroy elements. A container's bulk operations (assign, insert,
// append, resize, construction) differ only in what they put in, so each passes a *source*: an object that constructs elements into raw
// memory, or assigns over existing ones, from a given element of its own on. If a constructor throws, it destroys what it has built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>    // construct_at, move_iterator

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/ranges.hpp>

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

// An element outside of the container, for operations whose argument may be an element of that container.
HEADROOM_PADDED_BEGIN
template <class Store>
class temporary {
public:
    using T = typename Store::value_type;
    template <class... Args>
    constexpr explicit temporary(Store& store, Args&&... args) : store_(store), none_() {
        store_.construct_(std::addressof(value_), std::forward<Args>(args)...);
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

// Fills [done, total) of `data` by repeating [0, done). Copies at most 2 KiB at a time, or one unit: 4 KiB take a fifth longer on AMD.
inline void repeat_bytes(std::byte* data, std::size_t done, std::size_t total, std::size_t unit) noexcept {
    const std::size_t longest = unit < 2048 ? 2048 / unit * unit : unit;
    while (done < total) {
        std::size_t bytes_now = (std::min)((std::min)(done, longest), total - done);
        HEADROOM_LOAD_SEPARATELY(bytes_now);    // GCC copies at most 2 KiB by "rep movs", which takes longer than a call
        std::memcpy(data + done, data, bytes_now);
        done += bytes_now;
    }
}

// True if T() is all zero bytes. False for pointers to members, whose null is -1.
template <class T>
inline constexpr bool zero_is_bytes =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T> || std::is_null_pointer_v<T>;

template <class Value>
struct fill_source;

// Source of T() elements.
struct value_init_source {
    static constexpr bool can_build_in_steps = true;    // element n can be built without the ones before it
    // True if construction and assignment are copies of bytes.
    template <class Store, class T>
    static constexpr bool is_bytewise = false;
    // True if construction writes nothing.
    template <class Store, class T>
    static constexpr bool writes_nothing = false;
    // True if building the elements [skip, skip + count) cannot throw and reads nothing in [first, last): the container may grow first.
    template <class T>
    static constexpr bool may_build_in_place(const T*, const T*, std::size_t, std::size_t) noexcept {
        return std::is_nothrow_default_constructible_v<T>;
    }

    template <class Store, class T>
    constexpr T* construct_(Store& store, T* to, std::size_t, std::size_t count) const {
        if constexpr (zero_is_bytes<T> && Store::uses_default_construct_()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                detail::set_bytes(to, 0, count);
                return to + count;
            }
        } else if constexpr (std::is_trivially_default_constructible_v<T> && bytewise_constructible<T, const T&> &&
                             sizeof(T) <= 256 && Store::uses_default_construct_()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                const T zero = T();
                return fill_source<T>{zero}.construct_(store, to, 0, count);
            }
        }
        if (!HEADROOM_CONSTANT_EVALUATED()) HEADROOM_LOAD_SEPARATELY(to);    // the loop may become the memset of set_bytes()
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
    constexpr T* construct_(Store& store, T* to, std::size_t skip, std::size_t count) const {
        if constexpr (Store::uses_default_construct_()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
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
    template <class T>
    bool may_build_in_place(const T* first, const T* last, std::size_t, std::size_t) const noexcept {
        return std::is_nothrow_copy_constructible_v<T> && detail::lies_outside(first, last, value);
    }

    template <class Store, class T>
    constexpr T* construct_(Store& store, T* to, std::size_t, std::size_t count) const {
        if constexpr (bytewise_constructible<T, const T&> && Store::uses_default_construct_()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                if constexpr (sizeof(T) == 1 && !std::is_empty_v<T>) {
                    detail::set_bytes(to, reinterpret_cast<const unsigned char&>(value), count);
                    return to + count;
                } else {
#if defined(__GNUC__)
                    if constexpr (sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) {
                        if (count * sizeof(T) >= sizeof(wide_block)) {
                            detail::fill_by_blocks(to, value, count);
                            return to + count;
                        }
                    }
#endif
                    constexpr std::size_t few = sizeof(T) < 1024 ? 1024 / sizeof(T) : 1;
                    const std::size_t head = (std::min)(count, few);
                    // Copies a short value, so that the compiler knows that the writes below cannot change it.
                    std::conditional_t<sizeof(T) <= 64, const T, const T&> kept(value);
                    for (std::size_t i = 0; i != head; ++i) ::new (static_cast<void*>(to + i)) T(kept);
                    if (head != count) {
                        detail::repeat_bytes(reinterpret_cast<std::byte*>(to), head * sizeof(T), count * sizeof(T), sizeof(T));
                    }
                    return to + count;
                }
            }
        }
        construction_guard<Store> built(store, to);
        for (; count != 0; --count, ++built.end) store.construct_(built.end, value);
        return built.release();
    }

    template <class Store, class T>
    constexpr void assign(Store& store, T* to, std::size_t, std::size_t count) const {
        if constexpr (is_bytewise<Store, T>) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
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
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                if (count != 0)
                    detail::copy_bytewise(to, static_cast<const T*>(contiguous_source<It>::address(first)) + skip, count);
                return to + count;
            }
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
            if (!HEADROOM_CONSTANT_EVALUATED()) {
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
