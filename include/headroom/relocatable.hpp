// SPDX-License-Identifier: MIT
// Which types may be moved as bytes.
//
// To relocate an object is to move it to another place and destroy the original. For most types that is the same as
// copying its bytes and not running the original's destructor, which lets a container grow by realloc, by memcpy or by page
// tables. It is wrong for a type that points into itself or is registered somewhere by address: libstdc++'s std::string,
// node-based containers, anything with an intrusive hook. So a type counts as relocatable only where that is known:
//   - it is trivially copyable, or the compiler says so;
//   - it is a standard type known to be so in the standard library at hand (below);
//   - it says so with a member `using headroom_is_trivially_relocatable = name_of_the_class` or `= std::true_type` (or, to opt
//     out, std::false_type). A class that derives from such a class inherits the member but not the property: its own parts
//     may be others. GCC tells one from the other; with other compilers std::true_type counts for aggregates and for
//     standard-layout classes only, the class's own name for every class;
//   - you specialise `headroom::is_trivially_relocatable` for it, deriving from std::true_type or std::false_type.
// A wrong "yes" is a memory error; a "no" costs only speed.
//
// Document: "A fast vector with mremap" (its trivially movable types, decided there without an override).
#pragma once

#include <headroom/detail/language.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>    // construct_at and destroy too

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/member_statement.hpp>
#include <headroom/detail/std_forward.hpp>

namespace headroom { inline namespace v0_1 {

template <class T>
struct is_trivially_relocatable;

namespace detail {

struct relocatable_statement {
    template <class T>
    using in = typename T::headroom_is_trivially_relocatable;
};

template <class T>
[[nodiscard]] constexpr bool relocatable_by_itself() {
    constexpr statement_value said = detail::read_statement<relocatable_statement, T>();
    if constexpr (said != statement_value::none) {
        return said == statement_value::yes;
    } else if constexpr (std::is_trivially_copyable_v<T>) {
        return true;
    } else {
#if defined(__has_builtin)
#if __has_builtin(__builtin_is_cpp_trivially_relocatable)
        return __builtin_is_cpp_trivially_relocatable(T);
#elif __has_builtin(__is_trivially_relocatable)
        return __is_trivially_relocatable(T);
#else
        return false;
#endif
#else
        return false;
#endif
    }
}

}    // namespace detail

// Specialise it to opt in or out. A specialisation for T counts for const T, volatile T and arrays of T too.
template <class T>
struct is_trivially_relocatable : std::bool_constant<detail::relocatable_by_itself<T>()> {};

template <class T>
struct is_trivially_relocatable<const T> : is_trivially_relocatable<T> {};
template <class T>
struct is_trivially_relocatable<volatile T> : is_trivially_relocatable<T> {};
template <class T>
struct is_trivially_relocatable<const volatile T> : is_trivially_relocatable<T> {};
template <class T, std::size_t N>
struct is_trivially_relocatable<T[N]> : is_trivially_relocatable<T> {};
template <class T, std::size_t N>
struct is_trivially_relocatable<const T[N]> : is_trivially_relocatable<T> {};

template <class T>
inline constexpr bool is_trivially_relocatable_v = is_trivially_relocatable<T>::value;

// Owners of one pointer: the three large standard libraries keep nothing but pointers (and the deleter) in them.
template <class T, class Deleter>
struct is_trivially_relocatable<std::unique_ptr<T, Deleter>>
    : std::bool_constant<is_trivially_relocatable_v<Deleter> &&
                         is_trivially_relocatable_v<typename std::unique_ptr<T, Deleter>::pointer>> {};
template <class T>
struct is_trivially_relocatable<std::shared_ptr<T>> : std::true_type {};
template <class T>
struct is_trivially_relocatable<std::weak_ptr<T>> : std::true_type {};

// Aggregates of relocatable parts. The tuple of libstdc++ and the variant of all three hold their parts in place.
template <class A, class B>
struct is_trivially_relocatable<std::pair<A, B>>
    : std::bool_constant<is_trivially_relocatable_v<A> && is_trivially_relocatable_v<B>> {};
template <class... Parts>
struct is_trivially_relocatable<std::tuple<Parts...>> : std::bool_constant<(is_trivially_relocatable_v<Parts> && ...)> {};
template <class T, std::size_t N>
struct is_trivially_relocatable<std::array<T, N>> : std::bool_constant<N == 0 || is_trivially_relocatable_v<T>> {};
template <class T>
struct is_trivially_relocatable<std::optional<T>> : is_trivially_relocatable<T> {};
template <class... Alternatives>
struct is_trivially_relocatable<std::variant<Alternatives...>>
    : std::bool_constant<(is_trivially_relocatable_v<Alternatives> && ...)> {};

// Three pointers, unless a debug mode registers the container's address with its iterators.
#if !defined(_GLIBCXX_DEBUG) && (!defined(_ITERATOR_DEBUG_LEVEL) || _ITERATOR_DEBUG_LEVEL == 0)
template <class T>
struct is_trivially_relocatable<std::vector<T, std::allocator<T>>> : std::true_type {};
#endif

// A short string of libc++ lies inside the object, but nothing points to it, except under AddressSanitizer, which remembers its address.
// libstdc++'s points into itself and must never be here; other libraries are not known.
#if defined(_LIBCPP_VERSION) && !defined(__SANITIZE_ADDRESS__)
#if !defined(__has_feature)
#define HEADROOM_STRING_IS_RELOCATABLE 1
#elif !__has_feature(address_sanitizer)
#define HEADROOM_STRING_IS_RELOCATABLE 1
#endif
#endif
#if defined(HEADROOM_STRING_IS_RELOCATABLE)
template <class Char>
struct is_trivially_relocatable<std::basic_string<Char, std::char_traits<Char>, std::allocator<Char>>> : std::true_type {};
#undef HEADROOM_STRING_IS_RELOCATABLE
#endif

// Moves the objects of [first, last) to the uninitialised memory at `result`, which must not overlap, and ends the lifetime of the
// originals. Returns the end of the new range. One memmove for relocatable types, else one move and one destruction an element: O(last -
// first). Throws what T's move constructor throws; then the objects built at `result` are destroyed, and the originals are alive, with the
// values that the moves left. Invalidates: pointers and references to the originals.
template <class T>
constexpr T* uninitialized_relocate(T* first, T* last, T* result) noexcept(is_trivially_relocatable_v<T> ||
                                                                           std::is_nothrow_move_constructible_v<T>) {
    HEADROOM_IF_RUN_TIME {
        if constexpr (is_trivially_relocatable_v<T>) {
            const auto count = static_cast<std::size_t>(last - first);
            if (count != 0) std::memmove(static_cast<void*>(result), static_cast<const void*>(first), count * sizeof(T));
            return result + count;
        }
    }
    if constexpr (std::is_nothrow_move_constructible_v<T>) {
        for (; first != last; ++first, ++result) {
            std::construct_at(result, std::move(*first));
            std::destroy_at(first);
        }
        return result;
    } else {
        struct relocation_guard {
            T* begin;
            T* end;
            bool armed = true;
            constexpr ~relocation_guard() {
                if (armed) std::destroy(begin, end);
            }
        } built{result, result};
        for (T* source = first; source != last; ++source, ++built.end) {
            if constexpr (std::is_move_constructible_v<T>) {
                std::construct_at(built.end, std::move(*source));
            } else {
                std::construct_at(built.end, std::as_const(*source));    // its move may be deleted
            }
        }
        built.armed = false;
        std::destroy(first, last);
        return built.end;
    }
}

}}    // namespace headroom
