// What we ask of the compiler, under one name each. Private to the library.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
// The common path of an append: a call would cost more than the work, and unoptimised builds are measured too.
#define HEADROOM_ALWAYS_INLINE [[gnu::always_inline]] inline
// The path taken when memory is short: out of line, so that the common one stays small, and by value, so that no local
// container has its address taken.
#define HEADROOM_COLD [[gnu::noinline, gnu::cold]]
// The same where it has loops over elements: what is cold is compiled for size, not for speed.
#define HEADROOM_NOINLINE [[gnu::noinline]]
#define HEADROOM_UNLIKELY(condition) __builtin_expect((condition) ? 1 : 0, 0)
// The path that a loop is laid out for; the other one is not so rare that it should be compiled for size. (GCC forgets this
// where the condition is made an int first.)
#define HEADROOM_USUALLY(condition) __builtin_expect_with_probability(condition, 1, 0.99)
// Whether the compiler knows the value, once everything is inlined.
#define HEADROOM_IS_CONSTANT(value) __builtin_constant_p(value)
// Asks for the line of memory at an address, which may be any.
#define HEADROOM_PREFETCH(address) __builtin_prefetch(address)
// Keeps the compiler from loading what a local variable was made from together with what lies beside it.
#define HEADROOM_LOAD_SEPARATELY(variable) __asm__("" : "+r"(variable))
// Tells the compiler that this point is never reached.
#define HEADROOM_UNREACHABLE() __builtin_unreachable()
// Between these two an object of the program's makes an element, is assigned to one or compared with one. Whether the one
// converts to the other without loss is the program's matter: std::vector, in a system header, gives no warning either.
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
#else
#define HEADROOM_ALWAYS_INLINE inline
#define HEADROOM_COLD
#define HEADROOM_NOINLINE
#define HEADROOM_UNLIKELY(condition) (condition)
#define HEADROOM_USUALLY(condition) (condition)
#define HEADROOM_IS_CONSTANT(value) false
#define HEADROOM_PREFETCH(address) ((void)(address))
#define HEADROOM_LOAD_SEPARATELY(variable) static_cast<void>(0)
#define HEADROOM_UNREACHABLE() static_cast<void>(0)
#define HEADROOM_CONVERSIONS_BEGIN
#define HEADROOM_CONVERSIONS_END
#endif

// std::is_constant_evaluated() is a call in unoptimised builds; the builtin that GCC, Clang and MSVC share is not.
#define HEADROOM_CONSTANT_EVALUATED() __builtin_is_constant_evaluated()

// What the compiled part exports. All else in it is hidden: in a shared library, so that nobody comes to depend on it and
// the loader has less to do; in a static one HEADROOM_EXPORTS is off and everything is, so that somebody's shared library
// with Headroom inside does not pass it on. Compilers for Windows, told by their __declspec, export by a list instead
// (CMakeLists.txt). Nothing depends on this in files that only use Headroom.
#if defined(__GNUC__) && !defined(__declspec)
// An exception must be one type on both sides of a shared library, however either was compiled.
#define HEADROOM_EXCEPTION [[gnu::visibility("default")]]
#if defined(HEADROOM_EXPORTS)
#define HEADROOM_API [[gnu::visibility("default")]]
#endif
#else
#define HEADROOM_EXCEPTION
#endif
#if !defined(HEADROOM_API)
#define HEADROOM_API
#endif
