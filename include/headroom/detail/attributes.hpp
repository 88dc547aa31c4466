// SPDX-License-Identifier: MIT
// Compiler attributes and built-ins, each under one name. Private to the library.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
// For the fast path of an append: a call would cost more than the work, also in unoptimised builds, which are measured too.
#define HEADROOM_ALWAYS_INLINE [[gnu::always_inline]] inline
// For parts of slow paths that run once for each new block: always inline in optimised builds alone. Without optimisation inlining them
// gains no speed and takes 4% of the compile time of vectors of many types.
#if defined(__OPTIMIZE__)
#define HEADROOM_OPTIMISED_INLINE HEADROOM_ALWAYS_INLINE
#else
#define HEADROOM_OPTIMISED_INLINE inline
#endif
// For slow paths: out of line, so that the fast path stays small. Arguments by value, so that a local container's address stays private.
#define HEADROOM_COLD [[gnu::noinline, gnu::cold]]
// For slow paths with loops over elements: cold functions are compiled for size.
#define HEADROOM_NOINLINE [[gnu::noinline]]
#define HEADROOM_UNLIKELY(condition) __builtin_expect((condition) ? 1 : 0, 0)
// True on the path to lay a loop out for, if the other is too frequent for cold code. Needs a bool: GCC forgets the hint for an int.
#define HEADROOM_USUALLY(condition) __builtin_expect_with_probability(condition, 1, 0.99)
// True if the compiler knows the value after inlining.
#define HEADROOM_IS_CONSTANT(value) __builtin_constant_p(value)
// Prefetches the cache line at an address, which may be invalid.
#define HEADROOM_PREFETCH(address) __builtin_prefetch(address)
// Keeps the compiler from loading the source of a local variable together with its neighbour in memory.
#define HEADROOM_LOAD_SEPARATELY(variable) __asm__("" : "+r"(variable))
// Tells the compiler that this point is never reached.
#define HEADROOM_UNREACHABLE() __builtin_unreachable()
// The result of an allocation, which is not null.
#define HEADROOM_RETURNS_NONNULL [[gnu::returns_nonnull]]
// Part of a function's mangled name.
#define HEADROOM_ABI_TAG(tag) [[gnu::abi_tag(tag)]]
// For the functions that read or write memory that AddressSanitizer guards. Inlined, or as a copy that GCC gives what it read to as an
// argument, they would be checked again.
#if defined(__clang__)
#define HEADROOM_NOT_SANITIZED __attribute__((no_sanitize("address"), noinline)) inline
#else
#define HEADROOM_NOT_SANITIZED __attribute__((no_sanitize("address"), noipa)) inline
#endif
// Declares a type of `bytes` bytes that one instruction moves.
#define HEADROOM_VECTOR_TYPE(bytes) __attribute__((vector_size(bytes)))
#define HEADROOM_PADDED_BEGIN
#define HEADROOM_PADDED_END
// Silences warnings about lossy conversions where the program's objects make, assign or compare elements: std::vector gives none.
// clang-format off
#define HEADROOM_CONVERSIONS_BEGIN \
    _Pragma("GCC diagnostic push") \
    _Pragma("GCC diagnostic ignored \"-Wconversion\"") \
    _Pragma("GCC diagnostic ignored \"-Wsign-conversion\"") \
    _Pragma("GCC diagnostic ignored \"-Wfloat-conversion\"") \
    _Pragma("GCC diagnostic ignored \"-Wdouble-promotion\"") \
    _Pragma("GCC diagnostic ignored \"-Wsign-compare\"") \
    _Pragma("GCC diagnostic ignored \"-Wfloat-equal\"")
// clang-format on
#define HEADROOM_CONVERSIONS_END _Pragma("GCC diagnostic pop")
#elif defined(_MSC_VER)
#define HEADROOM_ALWAYS_INLINE __forceinline
#define HEADROOM_OPTIMISED_INLINE __forceinline
#define HEADROOM_COLD __declspec(noinline)
#define HEADROOM_NOINLINE __declspec(noinline)
#define HEADROOM_UNLIKELY(condition) (condition)
#define HEADROOM_USUALLY(condition) (condition)
// Two statements for the compiler, which would warn of a condition that is constant.
#define HEADROOM_IS_CONSTANT(value) (static_cast<void>(value), false)
#define HEADROOM_PREFETCH(address) ((void)(address))
#define HEADROOM_LOAD_SEPARATELY(variable) static_cast<void>(0)
#define HEADROOM_UNREACHABLE() __assume(0)
#define HEADROOM_RETURNS_NONNULL
#define HEADROOM_ABI_TAG(tag)
#define HEADROOM_NOT_SANITIZED __declspec(no_sanitize_address) __declspec(noinline) inline
// Silence the warning that a class is padded, for classes whose members have cache lines of their own on purpose.
#define HEADROOM_PADDED_BEGIN __pragma(warning(push)) __pragma(warning(disable : 4324))
#define HEADROOM_PADDED_END __pragma(warning(pop))
#define HEADROOM_CONVERSIONS_BEGIN \
    __pragma(warning(push)) __pragma(warning(disable : 4018 4242 4244 4245 4267 4305 4365 4389 4805))
#define HEADROOM_CONVERSIONS_END __pragma(warning(pop))
#else
#define HEADROOM_ALWAYS_INLINE inline
#define HEADROOM_OPTIMISED_INLINE inline
#define HEADROOM_COLD
#define HEADROOM_NOINLINE
#define HEADROOM_UNLIKELY(condition) (condition)
#define HEADROOM_USUALLY(condition) (condition)
#define HEADROOM_IS_CONSTANT(value) false
#define HEADROOM_PREFETCH(address) ((void)(address))
#define HEADROOM_LOAD_SEPARATELY(variable) static_cast<void>(0)
#define HEADROOM_UNREACHABLE() static_cast<void>(0)
#define HEADROOM_RETURNS_NONNULL
#define HEADROOM_ABI_TAG(tag)
#define HEADROOM_NOT_SANITIZED inline
#define HEADROOM_PADDED_BEGIN
#define HEADROOM_PADDED_END
#define HEADROOM_CONVERSIONS_BEGIN
#define HEADROOM_CONVERSIONS_END
#endif

// For a member that takes no bytes if its class is empty. Microsoft's ABI, which clang-cl follows too, ignores the standard's word.
#if defined(_MSC_VER)
#define HEADROOM_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#define HEADROOM_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif

// True in builds that optimise for size: short paths are then left to the compiled library.
#if defined(__OPTIMIZE_SIZE__)
#define HEADROOM_FOR_SIZE true
#else
#define HEADROOM_FOR_SIZE false
#endif

// std::is_constant_evaluated() is a call in unoptimised builds; the builtin that GCC, Clang and MSVC share is not.
#define HEADROOM_CONSTANT_EVALUATED() __builtin_is_constant_evaluated()
// Before a statement that is skipped in constant evaluation, as C++23's `if !consteval`. After `if (!...)` GCC 12 compiles every function
// that the code behind the statement calls, though only constant evaluation reaches it.
#define HEADROOM_IF_RUN_TIME             \
    if (HEADROOM_CONSTANT_EVALUATED()) { \
    } else

// Exports a function of the compiled part. Everything else is hidden in a shared library, so that no program depends on it and the loader
// has less to do. In a static library HEADROOM_EXPORTS is off and everything is hidden, so that a shared library that contains Headroom
// does not export it. Compilers for Windows, recognised by __declspec, export by a list instead (CMakeLists.txt). Files that only use
// Headroom do not depend on this.
#if defined(__GNUC__) && !defined(__declspec)
// Visible, because an exception must be one type on both sides of a shared library.
#define HEADROOM_EXCEPTION [[gnu::visibility("default")]]
#if defined(HEADROOM_EXPORTS)
#define HEADROOM_API [[gnu::visibility("default")]]
// For a member of an exported class that the compiled part alone calls.
#define HEADROOM_HIDDEN [[gnu::visibility("hidden")]]
#endif
#else
#define HEADROOM_EXCEPTION
#endif
#if !defined(HEADROOM_API)
#define HEADROOM_API
#define HEADROOM_HIDDEN
#endif
