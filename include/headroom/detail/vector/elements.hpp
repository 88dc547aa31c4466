// Where new elements come from.
//
// A container's bulk operations (assign, insert, append, resize, construction) differ in what they put in, and agree in how
// they make room. So each gets a *source*: something that can construct elements into raw memory, or assign them over old
// ones, starting at a given element of its own. `construct` cleans up after itself when an element throws.
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

// Whether a T made from a `From` (a T itself, however it is given) is a copy of its bytes and nothing else: no constructor of
// the program's runs. Of a trivially copyable type that is not a matter of course: a template of its own may take T& before
// the trivial constructor does.
template <class T, class From>
inline constexpr bool bytewise_constructible =
    std::is_same_v<std::remove_cvref_t<From>, T> && !std::is_volatile_v<std::remove_reference_t<From>> &&
    std::is_trivially_copyable_v<T> && std::is_trivially_constructible_v<T, From>;
// The same for assigning a `From` to a T.
template <class T, class From>
inline constexpr bool bytewise_assignable =
    std::is_same_v<std::remove_cvref_t<From>, T> && !std::is_volatile_v<std::remove_reference_t<From>> &&
    std::is_trivially_copyable_v<T> && std::is_trivially_assignable_v<T&, From>;
// Whether a T is made from these by no code of the program's. (What initialises a member of an aggregate by default is such code,
// and may ask for `this`; compilers call it trivial, but no default constructor then.)
template <class T, class... Args>
inline constexpr bool constructed_without_code =
    std::is_trivially_constructible_v<T, Args...> &&
    (std::is_trivially_default_constructible_v<T> || (std::is_same_v<std::remove_cvref_t<Args>, T> && ...));
// Whether a T made from these is made of their bytes and nothing else, and may be copied as bytes: an aggregate of numbers, say.
template <class T, class... Args>
inline constexpr bool can_construct_as_bytes =
    std::is_trivially_copyable_v<T> && constructed_without_code<T, Args...> && std::is_trivially_constructible_v<T, const T&>;
// Whether a T is made without fail from these, each of which is another T or a number: what these are shows from where they lie.
template <class T, class... Args>
inline constexpr bool constructed_from_values =
    std::is_nothrow_constructible_v<T, Args...> && sizeof...(Args) != 0 &&
    ((std::is_same_v<std::remove_cvref_t<Args>, T> || std::is_arithmetic_v<std::remove_cvref_t<Args>>) && ...);

// Whether none of the bytes at `from` is one of [first, last).
template <class T>
HEADROOM_ALWAYS_INLINE bool lies_outside(const T* first, const T* last, const volatile void* from, std::size_t bytes) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(from);
    return at + bytes <= reinterpret_cast<std::uintptr_t>(first) || at >= reinterpret_cast<std::uintptr_t>(last);
}
template <class T, class U>
HEADROOM_ALWAYS_INLINE bool lies_outside(const T* first, const T* last, const U& object) noexcept {
    return detail::lies_outside(first, last, std::addressof(object), sizeof(U));
}

// Whether elements may be pushed along as bytes. (What cannot be assigned at all, for a const member, may be.)
template <class T>
inline constexpr bool bytewise_movable =
    std::is_trivially_copyable_v<T> && (std::is_trivially_constructible_v<T, T> || !std::is_constructible_v<T, T>) &&
    (std::is_trivially_assignable_v<T&, T> || !std::is_assignable_v<T&, T>);

// (GCC 12 warns of what a path would read, or with AddressSanitizer at -O3 write, that is taken only by more elements than the range has
// that it comes from: in an array of three there are none beyond the room inside of a small_vector; and where N is 0 no element goes
// inside.)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-overread"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wnonnull"
#endif

// memmove that may be given null with a count of zero, as an empty container does.
template <class T>
void move_bytes(T* to, const T* from, std::size_t count) noexcept {
    if (count != 0) std::memmove(static_cast<void*>(to), static_cast<const void*>(from), count * sizeof(T));
}

// The same for ranges that cannot overlap.
template <class T>
void copy_bytes(T* to, const T* from, std::size_t count) noexcept {
    if (count != 0) std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), count * sizeof(T));
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// memset to zero, likewise. (Not told where from: compilers make one calloc of a malloc and a memset, or a loop that zeroes, and glibc's
// takes no short block of those that its threads keep.)
template <class T>
void zero_bytes(T* to, std::size_t count) noexcept {
    if (count == 0) return;
    HEADROOM_LOAD_SEPARATELY(to);
    std::memset(static_cast<void*>(to), 0, count * sizeof(T));
}

// The plain pointer in a pointer of an allocator's.
template <class Pointer>
HEADROOM_ALWAYS_INLINE constexpr auto* raw_pointer(const Pointer& from) noexcept {
    if constexpr (std::is_pointer_v<Pointer>) {
        return from;
    } else {
        using element = typename std::pointer_traits<Pointer>::element_type;
        return from == nullptr ? static_cast<element*>(nullptr) : std::to_address(from);
    }
}

// How elements are built and destroyed that no allocator has a say in.
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
    // (Not by std::destroy_at, which GCC calls out of line, once for each element, at -O3.)
    HEADROOM_ALWAYS_INLINE static constexpr void destroy_one_(T* place) noexcept { place->~T(); }
    static constexpr void destroy_([[maybe_unused]] T* first, [[maybe_unused]] T* last) noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            for (; first != last; ++first) first->~T();
        }
    }
};

// A gap among trivially copyable elements that closes again unless it was filled: if filling throws, nothing has changed.
template <class T>
struct gap_guard {
    T* place;
    std::size_t count;
    std::size_t behind;
    bool filled = false;
    constexpr ~gap_guard() {
        if (!filled) detail::move_bytes(place, place + count, behind);
    }
};

// Elements under construction, in a store or in its memory: destroyed again unless released.
template <class Store>
class construction_guard {
public:
    using T = typename Store::value_type;
    constexpr construction_guard(Store& store, T* first) noexcept : store_(store), first_(first), end(first) {}
    // (Inline wherever it is called: an object whose address goes to a call lives in memory, written at each step of a loop.)
    HEADROOM_ALWAYS_INLINE constexpr ~construction_guard() {
        if (first_ != nullptr) store_.destroy_(first_, end);
    }
    construction_guard(const construction_guard&) = delete;
    construction_guard& operator=(const construction_guard&) = delete;
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

// An element outside of the container, for operations whose argument may be an element of the container itself.
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

// Fills [done, total) of `data` by repeating [0, done), in pieces that stay in the first-level cache.
inline void repeat_bytes(std::byte* data, std::size_t done, std::size_t total, std::size_t unit) noexcept {
    const std::size_t longest = unit < 4096 ? 4096 / unit * unit : unit;
    while (done < total) {
        const std::size_t piece = (std::min)((std::min)(done, longest), total - done);
        std::memcpy(data + done, data, piece);
        done += piece;
    }
}

// Types whose value-initialisation is all zero bytes. Not pointers to members, whose null is -1.
template <class T>
inline constexpr bool zero_is_bytes =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T> || std::is_null_pointer_v<T>;

// Elements made by T().
struct value_init_source {
    static constexpr bool can_build_in_steps = true;    // any element can be had without walking over those before it
    // Whether construction and assignment are copies of bytes.
    template <class Store, class T>
    static constexpr bool is_bytewise = false;
    // True if construction writes nothing.
    template <class Store, class T>
    static constexpr bool writes_nothing = false;
    // Whether `count` elements after the first `skip` are built without fail, and from nothing in [first, last).
    template <class T>
    static constexpr bool may_build_in_place(const T*, const T*, std::size_t, std::size_t) noexcept {
        return std::is_nothrow_default_constructible_v<T>;
    }

    template <class Store, class T>
    constexpr T* construct_(Store& store, T* to, std::size_t, std::size_t count) const {
        if constexpr (zero_is_bytes<T> && Store::uses_default_construct_()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                detail::zero_bytes(to, count);
                return to + count;
            }
        }
        if (!HEADROOM_CONSTANT_EVALUATED()) HEADROOM_LOAD_SEPARATELY(to);    // (as zero_bytes(), which the loop may become)
        construction_guard<Store> built(store, to);
        for (; count != 0; --count, ++built.end) store.construct_(built.end);
        return built.release();
    }
};

// Elements made by default initialisation: those of trivial types keep what the memory held.
struct uninitialized_source : value_init_source {
    template <class Store, class T>
    static constexpr bool writes_nothing = std::is_trivially_default_constructible_v<T> && Store::uses_default_construct_();

    template <class Store, class T>
    constexpr T* construct_(Store& store, T* to, std::size_t skip, std::size_t count) const {
        if constexpr (Store::uses_default_construct_()) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                if constexpr (std::is_trivially_default_constructible_v<T>) return to + count;
                construction_guard<Store> built(store, to);
                for (; count != 0; --count, ++built.end) ::new (static_cast<void*>(built.end)) T;
                return built.release();
            }
        }
        return value_init_source::construct_(store, to, skip, count);
    }
};

// Copies of one value, which outlives the operation unchanged.
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
                constexpr std::size_t few = sizeof(T) < 256 ? 256 / sizeof(T) : 1;
                const std::size_t head = (std::min)(count, few);
                // (A short one is kept where nothing that is written here can change it.)
                std::conditional_t<sizeof(T) <= 64, const T, const T&> kept(value);
                for (std::size_t i = 0; i != head; ++i) ::new (static_cast<void*>(to + i)) T(kept);
                if (head != count) {
                    detail::repeat_bytes(reinterpret_cast<std::byte*>(to), head * sizeof(T), count * sizeof(T), sizeof(T));
                }
                return to + count;
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

// GCC 12 vectorises the loops below for ranges whose end it knows, and then warns of the elements that the (never taken) wide
// steps would read past it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

// Where elements lie one behind the other in memory, and how a reference to one is given.
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

// The elements from `first` on, which may be walked twice, each given as a `Given`.
template <class It, class Given = std::iter_reference_t<It>>
struct copy_source {
    It first;

    static constexpr bool is_contiguous = contiguous_source<It>::value;
    static constexpr bool has_random_access = std::random_access_iterator<It> || is_contiguous;
    // (What is given away must not be taken until all memory is there: it would be lost when the rest is refused.)
    static constexpr bool can_build_in_steps =
        has_random_access && std::disjunction_v<std::negation<std::is_rvalue_reference<Given>>,
                                                std::is_trivially_copyable<std::remove_reference_t<Given>>>;

    // Whether what is read from the iterator, made or assigned to a T, is a copy of bytes.
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
                    detail::copy_bytes(to, static_cast<const T*>(contiguous_source<It>::address(first)) + skip, count);
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
                    detail::move_bytes(to, static_cast<const T*>(contiguous_source<It>::address(first)) + skip, count);
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

// The elements from `first` on, which are given away. (By a pointer: an iterator that moves has operators, which would be looked for
// beside the program's types.)
template <class T>
constexpr copy_source<T*, T&&> move_source(T* first) {
    return {first};
}

}}}    // namespace headroom::detail
