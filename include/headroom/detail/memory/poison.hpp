// SPDX-License-Identifier: MIT
// Poisoning for AddressSanitizer: free blocks, unused bytes of an arena. Nothing without it, or with HEADROOM_NO_ASAN_ANNOTATIONS.
//
// In checked builds (checks.hpp) also marks them for Valgrind, if its headers are present; in others never, because its requests cost
// instructions even when the program does not run under it.
#pragma once

#include <cstddef>

#include <headroom/detail/attributes.hpp>
#include <headroom/detail/memory/memory_abi.hpp>

#if defined(HEADROOM_ASAN) && !defined(HEADROOM_MEMORY_PLAIN)
extern "C" {
void __asan_poison_memory_region(const volatile void* data, std::size_t bytes);
void __asan_unpoison_memory_region(const volatile void* data, std::size_t bytes);
}
// For the functions that read or write poisoned memory: the link of a free block.
#define HEADROOM_SEES_POISONED HEADROOM_NOT_SANITIZED
#else
#define HEADROOM_SEES_POISONED HEADROOM_ALWAYS_INLINE
#if defined(HEADROOM_MEMORY_CHECKED) && defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define HEADROOM_VALGRIND 1
#endif
#endif
#endif

namespace headroom { inline namespace v0_1 { namespace detail {
inline namespace HEADROOM_MEMORY_ABI {

#if defined(HEADROOM_ASAN) && !defined(HEADROOM_MEMORY_PLAIN)

inline constexpr bool poisoning = true;

// Makes the bytes inaccessible.
inline void poison(const void* data, std::size_t bytes) noexcept {
    // Hides the pointer, because compilers warn that the buffer is uninitialised.
    HEADROOM_LOAD_SEPARATELY(data);
    __asan_poison_memory_region(data, bytes);
}
// Makes the bytes accessible for a user, and undefined if the tool knows that.
inline void unpoison(const void* data, std::size_t bytes) noexcept { ::__asan_unpoison_memory_region(data, bytes); }
// Makes the bytes accessible for the resource itself, and defined.
inline void unpoison_for_reading(const void* data, std::size_t bytes) noexcept { detail::unpoison(data, bytes); }

#elif defined(HEADROOM_VALGRIND)

inline constexpr bool poisoning = true;

// Makes the bytes inaccessible but the first word: it holds a free block's link, and Valgrind has no unchecked access. On processors that
// Valgrind does not support, its requests are empty and leave the arguments unused.
inline void poison([[maybe_unused]] const void* data, std::size_t bytes) noexcept {
    if (bytes > sizeof(void*)) {
        (void)VALGRIND_MAKE_MEM_NOACCESS(static_cast<const std::byte*>(data) + sizeof(void*), bytes - sizeof(void*));
    }
}
inline void unpoison([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) noexcept {
    (void)VALGRIND_MAKE_MEM_UNDEFINED(data, bytes);
}
inline void unpoison_for_reading([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) noexcept {
    (void)VALGRIND_MAKE_MEM_DEFINED(data, bytes);
}

#else

inline constexpr bool poisoning = false;

HEADROOM_ALWAYS_INLINE void poison(const void*, std::size_t) noexcept {}
HEADROOM_ALWAYS_INLINE void unpoison(const void*, std::size_t) noexcept {}
HEADROOM_ALWAYS_INLINE void unpoison_for_reading(const void*, std::size_t) noexcept {}

#endif

}}}}    // namespace headroom::detail
