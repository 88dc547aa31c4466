// What a class says of itself by a member type, as `using headroom_is_trivially_relocatable = name_of_the_class` or
// `= std::true_type`, and what it merely inherits: a class cannot speak for those that derive from it, whose own parts may be
// others.
#pragma once

#include <headroom/detail/language.hpp>

#include <type_traits>

namespace headroom { inline namespace v0_1 { namespace detail {

// Whether T has the member that `Statement` names: a class with an alias template `in`, so that Saying::in<T> is the member.
template <class T, class Statement>
concept has_statement = requires { typename Statement::template in<T>; };

// Whether T's member comes from T itself and not from a base. GCC can list the bases. With other compilers only this is known:
// an aggregate begins with its bases; and where all data is in one class, nothing was added to a base that has some.
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
// Converts to bases of T alone: an aggregate that can begin with it has one.
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

// What the member means, where there is one: yes, no, or nothing.
enum class statement_value { none, yes, no };
template <class Statement, class T>
[[nodiscard]] constexpr statement_value statement_of() {
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
