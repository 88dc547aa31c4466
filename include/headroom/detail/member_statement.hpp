// SPDX-License-Identifier: MIT
// Reads what a class states about itself by a member type, such as `using headroom_is_trivially_relocatable = name_of_the_class` or `=
// std::true_type`. Ignores an inherited "true": a base cannot know the members of a derived class.
#pragma once

#include <headroom/detail/language.hpp>

#include <type_traits>

namespace headroom { inline namespace v0_1 { namespace detail {

// True if T has the member that `Statement` names. Statement is a class whose alias template Statement::in<T> is the member.
template <class T, class Statement>
concept has_statement = requires { typename Statement::template in<T>; };

// True if T's member is not inherited. GCC can list the bases. For other compilers: an aggregate begins with its bases; and if all data
// are in one class, a derived class has added none.
#if defined(__GNUC__) && !defined(__clang__)
template <class Statement, class... Bases>
inline constexpr bool any_has_statement = (has_statement<Bases, Statement> || ...);
template <class Statement, class T>
[[nodiscard]] constexpr bool statement_is_own() {
    if constexpr (std::is_class_v<T>) {
        return !any_has_statement<Statement, __direct_bases(T)...>;
    } else {
        return true;
    }
}
#else
// Converts to bases of T only: an aggregate that can begin with it has a base.
template <class T>
struct any_base {
    template <class Base>
        requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
    operator Base() const;
};
template <class, class T>
[[nodiscard]] constexpr bool statement_is_own() {
    if constexpr (std::is_aggregate_v<T>) {
        return !requires { T{any_base<T>{}}; };
    } else {
        return std::is_standard_layout_v<T>;
    }
}
#endif

// Meaning of the member: yes, no, or none if there is no statement.
enum class statement_value { none, yes, no };
// Reads the member of `Statement` in T: yes if it is T itself or true, no if it is false, even if inherited; otherwise none.
template <class Statement, class T>
[[nodiscard]] constexpr statement_value read_statement() {
    if constexpr (has_statement<T, Statement>) {
        using member = typename Statement::template in<T>;
        if constexpr (std::is_same_v<member, T>) {
            return statement_value::yes;
        } else if constexpr (requires { typename std::bool_constant<static_cast<bool>(member::value)>; }) {
            if constexpr (!static_cast<bool>(member::value)) {
                return statement_value::no;
            } else if constexpr (detail::statement_is_own<Statement, T>()) {
                return statement_value::yes;
            }
        }
    }
    return statement_value::none;
}

}}}    // namespace headroom::detail
