// What we ask of the compiler, under one name each. Private to the library.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
// The common path of an append: a call would cost more than the work, and unoptimised builds are measured too.
#define HEADROOM_ALWAYS_INLINE [[gnu::always_inline]] inline
// The path taken when memory is short: out of line, so that the common one stays small, and by value, so that no local
// container has its address taken.
#define HEADROOM_COLD [[gnu::noinline, gnu::cold]]
#define HEADROOM_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)
// Whether the compiler knows the value, once everything is inlined.
#define HEADROOM_IS_CONSTANT(value) __builtin_constant_p(value)
#else
#define HEADROOM_ALWAYS_INLINE inline
#define HEADROOM_COLD
#define HEADROOM_UNLIKELY(condition) (condition)
#define HEADROOM_IS_CONSTANT(value) false
#endif

// std::is_constant_evaluated() is a call in unoptimised builds; the builtin that GCC, Clang and MSVC share is not.
#define HEADROOM_CONSTANT_EVALUATED() __builtin_is_constant_evaluated()
