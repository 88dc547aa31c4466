// What HEADROOM_HARDENED adds to the containers: an index, a position or a count that breaks a precondition ends the program
// with a message instead of reading or writing what is not the caller's. Costs a comparison for each access; nothing in
// other builds.
//
// Files of one program may disagree about it. Containers have the same layout either way, but other mangled names (as with
// the memory resources, see memory_checks.hpp): no file is given a function that was compiled with or without checks
// against its will, and files that hand containers to each other do not link unless they agree. (MSVC has no such tag:
// there the linker keeps either copy.) The compiled library works with both.
//
// A file that is compiled hardened makes the library's part so for the whole process, before main(): see src/range/quarantine.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/vector/elements.hpp>

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

// Writes to standard error which container was misused and how, and aborts. `value` is the index, count or address of the
// message; `data`, the elements, tells which container it was.
HEADROOM_API [[noreturn]] void fail_container(const char* container, const void* data, misuse what, const char* operation,
                                              std::size_t value, std::size_t size) noexcept;

// Makes the library's part hardened until the process ends. Always true.
HEADROOM_API bool harden_ranges() noexcept;

}}}    // namespace headroom::detail

// In a member function of `sequence`, by value: a container whose address escapes would be kept out of registers.
#define HEADROOM_REQUIRE(condition, what, operation, value)                                                                      \
    do {                                                                                                                         \
        if (HEADROOM_UNLIKELY(!(condition))) {                                                                                   \
            detail::fail_container(this->container_name_(), this->data(), detail::misuse::what, operation, value, this->size()); \
        }                                                                                                                        \
    } while (false)

// What the standard library checks itself in std::vector where the program asks it to: [], front, back, pop_back. No other names
// for that: as with the standard library's own checks, where files differ the linker keeps either copy of a function.
#if defined(HEADROOM_HARDENED) || defined(_GLIBCXX_ASSERTIONS) || defined(_GLIBCXX_DEBUG) || \
    (defined(_LIBCPP_HARDENING_MODE) && _LIBCPP_HARDENING_MODE != _LIBCPP_HARDENING_MODE_NONE)
#define HEADROOM_EXPECT_ELEMENT HEADROOM_REQUIRE
#else
#define HEADROOM_EXPECT_ELEMENT(condition, what, operation, value) static_cast<void>(0)
#endif

#if defined(HEADROOM_HARDENED)

#if defined(__GNUC__) || defined(__clang__)
#define HEADROOM_HARDENED_ABI [[gnu::abi_tag("hardened")]]
#else
#define HEADROOM_HARDENED_ABI
#endif

#define HEADROOM_EXPECT HEADROOM_REQUIRE

namespace headroom { inline namespace v0_1 { namespace detail {

inline const bool ranges_are_hardened = detail::harden_ranges();

// Whether `at` points to an element of [begin, begin + size), or to its end. Any pointer may be asked about.
template <class T>
bool is_position(const T* begin, const T* at, std::size_t size) noexcept {
    const auto offset = reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(begin);
    return offset <= size * sizeof(T) && offset % sizeof(T) == 0;
}

// New elements whose value is up to us: zero bytes, so that nobody sees what the memory held before.
struct default_init_source : uninitialized_source {
    template <class Store, class T>
    constexpr T* construct_(Store& store, T* to, std::size_t skip, std::size_t count) const {
        if constexpr (Store::uses_default_construct_() && std::is_trivially_default_constructible_v<T>) {
            if (!HEADROOM_CONSTANT_EVALUATED()) {
                detail::zero_bytes(to, count);
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
