// SPDX-License-Identifier: MIT
// Which element types may be in a file, and their tags.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <headroom/detail/file/file_calls.hpp>
#include <headroom/detail/member_statement.hpp>
#include <headroom/detail/std_forward.hpp>

namespace headroom { inline namespace v0_1 {

namespace detail {

template <class T>
struct array_traits {
    static constexpr bool is_array = false;
};
template <class T, std::size_t Count>
struct array_traits<T[Count]> {
    static constexpr bool is_array = true;
    static constexpr std::size_t count = Count;
    using element = T;
};
template <class T, std::size_t Count>
struct array_traits<std::array<T, Count>> : array_traits<T[Count]> {};

struct storable_statement {
    template <class T>
    using in = typename T::headroom_is_storable;
};

template <class T>
consteval bool storable_by_itself();

}    // namespace detail

// True if elements of type T mean the same to another process, and after this one has ended: trivially copyable, without a pointer,
// reference or handle in any member. True for numbers, characters, bool, enumerations and arrays of them. No compiler can look for
// pointers in a class, so its author must state it: by a member `using headroom_is_storable = name_of_the_class;` or `= std::true_type`,
// or for a class from elsewhere by `template <> inline constexpr bool headroom::storable<theirs> = true;`. An inherited member does not
// count, because a derived class may add a pointer. GCC tells one from the other; with other compilers std::true_type counts for
// aggregates and for standard-layout classes only, the class's own name for every class.
template <class T>
inline constexpr bool storable = detail::storable_by_itself<T>();

namespace detail {

template <class T>
consteval bool storable_by_itself() {
    if constexpr (!std::is_trivially_copyable_v<T> || std::is_const_v<T> || std::is_volatile_v<T>) {
        return false;
    } else if constexpr (array_traits<T>::is_array) {
        return storable<typename array_traits<T>::element>;
    } else if constexpr (detail::read_statement<storable_statement, T>() == statement_value::yes) {
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
    [[nodiscard]] constexpr const tag_text& tag() const noexcept { return tag_; }

private:
    tag_text tag_{};
    std::size_t used_ = 0;
};

// Returns the function's own signature, which contains the name of T.
template <class T>
constexpr const char* function_signature_of() noexcept {
#if defined(__clang__) || defined(__GNUC__)
    return __PRETTY_FUNCTION__;    // "... [with T = name]", "... [T = name]"
#else
    return __FUNCSIG__;    // "... function_signature_of<struct name>(void) ..."
#endif
}

constexpr std::size_t text_length(const char* text) noexcept {
    std::size_t length = 0;
    while (text[length] != '\0') ++length;
    return length;
}

// Writes the name of T in a form common to all compilers: without "struct", without optional blanks, one word for an unnamed namespace.
// Template arguments may still differ between compilers. Cuts a long name, which then ends in a checksum of the whole.
template <class T>
constexpr void write_name(tag_writer& to) noexcept {
    const char* const text = detail::function_signature_of<T>();
    const std::size_t length = detail::text_length(text);
    const auto begins = [text](std::size_t at, const char* with) {
        for (; *with != '\0'; ++with, ++at) {
            if (text[at] != *with) return false;
        }
        return true;
    };
#if defined(__clang__) || defined(__GNUC__)
    std::size_t at = 0, last = length - 1;    // its last bracket
    while (!begins(at, "T = ")) ++at;
    at += 4;
#else
    std::size_t at = 0, last = length;
    while (text[at++] != '<') {}    // the first is that of this function's argument
    while (!begins(last, ">(void)")) --last;
#endif
    const auto in_a_word = [](char letter) {
        return letter == '_' || (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
               (letter >= 'A' && letter <= 'Z');
    };
    constexpr std::size_t kept = tag_bytes - 1 - 17;
    char name[tag_bytes]{};
    std::size_t used = 0;
    std::uint64_t sum = 14695981039346656037U;    // FNV-1a
    const auto put = [&](char letter) {
        if (used < tag_bytes) name[used] = letter;
        ++used;
        sum = (sum ^ static_cast<unsigned char>(letter)) * 1099511628211U;
    };
    for (char before = ' '; at < last;) {
        std::size_t left_out = 0;
        for (const char* const word : {"struct ", "class ", "union ", "enum "}) {
            if (!in_a_word(before) && begins(at, word)) left_out = detail::text_length(word);
        }
        for (const char* const nameless : {"(anonymous namespace)", "{anonymous}", "<unnamed>", "`anonymous-namespace'"}) {
            if (!begins(at, nameless)) continue;
            left_out = detail::text_length(nameless);
            for (const char* letter = "{anonymous}"; *letter != '\0'; ++letter) put(*letter);
            before = '}';
        }
        at += left_out;
        if (left_out != 0) continue;
        const char letter = text[at++];
        if (letter == ' ' && !(in_a_word(before) && in_a_word(text[at]))) continue;
        put(letter);
        before = letter;
    }
    const bool whole = used < tag_bytes;
    for (std::size_t i = 0; i != (whole ? used : kept); ++i) to.add(name[i]);
    if (whole) return;
    to.add('~');
    for (int shift = 60; shift >= 0; shift -= 4) to.add("0123456789abcdef"[sum >> shift & 15]);
}

// Tag of a class: its name, or `legacy`, "class" for all classes, as in files of version 0.1.
enum class class_tag : bool { legacy, name };

// Writes the tag of T: "int32", "float64[3]", the name of a class.
template <class T>
constexpr void write_tag(tag_writer& to, class_tag classes) noexcept {
    if constexpr (array_traits<T>::is_array) {
        detail::write_tag<typename array_traits<T>::element>(to, classes);
        to.add("[");
        to.add(array_traits<T>::count);
        to.add("]");
    } else if constexpr (std::is_enum_v<T>) {
        detail::write_tag<std::underlying_type_t<T>>(to, classes);
    } else if constexpr (std::is_same_v<T, bool>) {
        to.add("bool");
    } else if constexpr (std::is_same_v<T, char>) {
        to.add("char");    // one tag, whether signed or not
    } else if constexpr (std::is_same_v<T, wchar_t> || std::is_same_v<T, char8_t> || std::is_same_v<T, char16_t> ||
                         std::is_same_v<T, char32_t>) {
        to.add("char");
        to.add(sizeof(T) * 8);
    } else if constexpr (std::is_integral_v<T>) {
        to.add(std::is_signed_v<T> ? "int" : "uint");
        to.add(sizeof(T) * 8);
    } else if constexpr (std::is_floating_point_v<T>) {
        // Types of one size may differ in precision: the tag has the significant bits.
        to.add("float");
        to.add(sizeof(T) * 8);
        if constexpr (sizeof(T) > 8) {
            to.add("p");
            to.add(static_cast<std::size_t>(std::numeric_limits<T>::digits));
        }
    } else if (classes == class_tag::name) {
        detail::write_name<T>(to);
    } else {
        to.add("class");
    }
}

// Returns `tag`, cut to 63 bytes; the tag of T if `tag` is null or empty.
template <class T>
constexpr tag_text tag_of(const char* tag, class_tag classes) noexcept {
    tag_writer written;
    if (tag != nullptr && *tag != '\0') {
        written.add(tag);
    } else {
        detail::write_tag<T>(written, classes);
    }
    return written.tag();
}
template <class T>
constexpr element_identity identity_of(const char* tag) noexcept {
    return {sizeof(T), alignof(T), detail::tag_of<T>(tag, class_tag::name)};
}

}    // namespace detail
}}    // namespace headroom
