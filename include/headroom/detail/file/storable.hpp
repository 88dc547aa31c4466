// Which elements may live in a file, and what the file calls them.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <headroom/detail/file/file_calls.hpp>
#include <headroom/detail/saying.hpp>
#include <headroom/detail/std_forward.hpp>

namespace headroom { inline namespace v0_1 {

namespace detail {

template <class T>
struct array_parts {
    static constexpr bool is_array = false;
};
template <class T, std::size_t Count>
struct array_parts<T[Count]> {
    static constexpr bool is_array = true;
    static constexpr std::size_t count = Count;
    using element = T;
};
template <class T, std::size_t Count>
struct array_parts<std::array<T, Count>> : array_parts<T[Count]> {};

struct saying_of_storing {
    template <class T>
    using in = typename T::headroom_is_storable;
};

template <class T>
consteval bool storable_by_itself();

}    // namespace detail

// Whether elements of type T mean the same to another process, and after this one has ended: they are trivially copyable and
// hold no pointer, reference or handle, directly or in a member. True for numbers, characters, bool, enumerations and arrays of
// such. A class is storable when its author says so, since no compiler can look for pointers in it: by a member
// `using headroom_is_storable = name_of_the_class;` or `= std::true_type`, or, for a class of somebody else's, by
// `template <> inline constexpr bool headroom::storable<theirs> = true;`. A class that derives from such a class inherits the
// member, but says nothing by it: it may have a pointer more. GCC tells one from the other; with other compilers std::true_type
// counts for aggregates and for standard-layout classes only, the class's own name for every class.
template <class T>
inline constexpr bool storable = detail::storable_by_itself<T>();

namespace detail {

template <class T>
consteval bool storable_by_itself() {
    if constexpr (!std::is_trivially_copyable_v<T> || std::is_const_v<T> || std::is_volatile_v<T>) {
        return false;
    } else if constexpr (array_parts<T>::is_array) {
        return storable<typename array_parts<T>::element>;
    } else if constexpr (detail::opinion_in<saying_of_storing, T>() == opinion::yes) {
        return true;
    } else {
        return std::is_arithmetic_v<T> || std::is_enum_v<T>;
    }
}

class tag_writer {
public:
    constexpr void add(const char* text) noexcept {
        for (; *text != '\0'; ++text) add(*text);
    }
    constexpr void add(std::size_t number) noexcept {
        char digits[24]{};
        std::size_t count = 0;
        do digits[count++] = static_cast<char>('0' + number % 10);
        while ((number /= 10) != 0);
        while (count != 0) add(digits[--count]);
    }
    constexpr void add(char letter) noexcept {
        if (used_ + 1 < tag_bytes) tag_[used_++] = letter;
    }
    [[nodiscard]] constexpr const std::array<char, tag_bytes>& tag() const noexcept { return tag_; }

private:
    std::array<char, tag_bytes> tag_{};
    std::size_t used_ = 0;
};

template <class T>
constexpr void write_tag(tag_writer& to) noexcept {
    if constexpr (array_parts<T>::is_array) {
        detail::write_tag<typename array_parts<T>::element>(to);
        to.add("[");
        to.add(array_parts<T>::count);
        to.add("]");
    } else if constexpr (std::is_enum_v<T>) {
        detail::write_tag<std::underlying_type_t<T>>(to);
    } else if constexpr (std::is_same_v<T, bool>) {
        to.add("bool");
    } else if constexpr (std::is_same_v<T, char>) {
        to.add("char");    // signed here and not there, but the same letters
    } else if constexpr (std::is_same_v<T, wchar_t> || std::is_same_v<T, char8_t> || std::is_same_v<T, char16_t> ||
                         std::is_same_v<T, char32_t>) {
        to.add("char");
        to.add(sizeof(T) * 8);
    } else if constexpr (std::is_integral_v<T>) {
        to.add(std::is_signed_v<T> ? "int" : "uint");
        to.add(sizeof(T) * 8);
    } else if constexpr (std::is_floating_point_v<T>) {
        // Of one size there may be several kinds: what tells them apart is how many bits are significant.
        to.add("float");
        to.add(sizeof(T) * 8);
        if (sizeof(T) > 8) {
            to.add("p");
            to.add(static_cast<std::size_t>(std::numeric_limits<T>::digits));
        }
    } else {
        to.add("class");
    }
}

// What a file of T says of its elements. A null or empty `tag` is the type's own; longer ones than 63 bytes are cut.
template <class T>
constexpr element_identity identity_of(const char* tag) noexcept {
    tag_writer written;
    if (tag != nullptr && *tag != '\0') {
        written.add(tag);
    } else {
        detail::write_tag<T>(written);
    }
    return {sizeof(T), alignof(T), written.tag()};
}

}    // namespace detail
}}    // namespace headroom
