// SPDX-License-Identifier: MIT
// Checks of HEADROOM_HARDENED in the containers: an index, a position or a count that breaks a precondition ends the program with a
// message. Costs a comparison for each access; nothing in other builds.
//
// Files of one program may differ in it. Containers have the same layout either way, but other mangled names, like the memory resources
// (checks.hpp): no file gets a function compiled with the other setting, and files that pass containers to each other link only if they
// agree. MSVC has no such tag: there the linker keeps either copy. The compiled library works with both.
//
// A file compiled hardened hardens the library for the whole process, before main(): see src/range/quarantine.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/sources.hpp>

namespace headroom { inline namespace v0_1 { namespace detail {

// How a container was misused.
enum class misuse : std::uint8_t {
    past_the_end,
    empty,
    no_position,
    backwards,
    no_room,
    too_many,
    allocators_differ,
    appenders_left
};

// Writes to standard error which container was misused and how, and aborts. `value` is the index, count or address in the message; `data`,
// the address of the elements, identifies the container.
HEADROOM_API [[noreturn]] void fail_container(const char* container, const void* data, misuse what, const char* operation,
                                              std::size_t value, std::size_t size) noexcept;

// Hardens the library until the process ends. Always returns true.
HEADROOM_API bool harden_ranges() noexcept;

}}}    // namespace headroom::detail

// Checks a precondition in a member function of a container. Passes everything by value, so that the container's address does not escape.
#define HEADROOM_REQUIRE(condition, what, operation, value)                                                                      \
    do {                                                                                                                         \
        if (HEADROOM_UNLIKELY(!(condition))) {                                                                                   \
            detail::fail_container(this->container_name_(), this->data(), detail::misuse::what, operation, value, this->size()); \
        }                                                                                                                        \
    } while (false)

// Checks [], front, back and pop_back if the standard library checks them in std::vector. Uses no other mangled names then: as with the
// standard library's own checks, the linker keeps either copy of a function if files differ.
#if defined(HEADROOM_HARDENED) || defined(_GLIBCXX_ASSERTIONS) || defined(_GLIBCXX_DEBUG) || \
    (defined(_LIBCPP_HARDENING_MODE) && _LIBCPP_HARDENING_MODE != _LIBCPP_HARDENING_MODE_NONE)
#define HEADROOM_EXPECT_ELEMENT HEADROOM_REQUIRE
#else
#define HEADROOM_EXPECT_ELEMENT(condition, what, operation, value) static_cast<void>(0)
#endif

#if defined(HEADROOM_HARDENED)

#define HEADROOM_HARDENED_ABI HEADROOM_ABI_TAG("hardened")

#define HEADROOM_EXPECT HEADROOM_REQUIRE

namespace headroom { inline namespace v0_1 { namespace detail {

inline const bool ranges_are_hardened = detail::harden_ranges();

// True if `at` points to an element of [begin, begin + size), or to its end. Any pointer is allowed.
template <class T>
bool is_position(const T* begin, const T* at, std::size_t size) noexcept {
    const auto offset = reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(begin);
    return offset <= size * sizeof(T) && offset % sizeof(T) == 0;
}

// Source of default-initialised elements in hardened builds: zeroes elements that are trivially default constructible, so that old
// contents stay hidden.
struct default_init_source : uninitialized_source {
    template <class Store, class T>
    static constexpr bool is_bulk = false;
    template <class Store, class T>
    constexpr T* construct_(Store& store, T* to, std::size_t skip, std::size_t count) const {
        if constexpr (Store::uses_default_construct_() && std::is_trivially_default_constructible_v<T>) {
            HEADROOM_IF_RUN_TIME {
                detail::set_bytes(to, 0, count);
                return to + count;
            }
        }
        return uninitialized_source{}.construct_(store, to, skip, count);
    }
};

}}}    // namespace headroom::detail

#else

#define HEADROOM_HARDENED_ABI
#define HEADROOM_EXPECT(condition, what, operation, value) static_cast<void>(0)

namespace headroom { inline namespace v0_1 { namespace detail {
using default_init_source = uninitialized_source;
}}}    // namespace headroom::detail

#endif
