// SPDX-License-Identifier: MIT
// The kind of memory resources that a file is compiled with, and whether it compiles their slow paths. A kind is part of their names: files
// of different kinds do not link where one gives a resource to the other.
//
// The library has the slow paths of plain resources, compiled with exceptions and without a sanitizer's poisoning, however it is compiled
// itself. A file that checks or poisons blocks, that has no exceptions to catch, or whose reads MemorySanitizer follows, compiles its own;
// so does each file that includes the single header.
#pragma once

#include <headroom/detail/annotate.hpp>

#if defined(HEADROOM_COMPILES_PLAIN_MEMORY)
#define HEADROOM_MEMORY_PLAIN 1
#elif defined(HEADROOM_CHECKED) || defined(HEADROOM_HARDENED)
#define HEADROOM_MEMORY_CHECKED 1
#elif defined(HEADROOM_ASAN)
#define HEADROOM_MEMORY_POISONED 1
#elif defined(__cpp_exceptions) && !defined(HEADROOM_SINGLE_HEADER)
#define HEADROOM_MEMORY_PLAIN 1
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#undef HEADROOM_MEMORY_PLAIN
#endif
#endif
#endif

#if defined(HEADROOM_MEMORY_CHECKED)
#define HEADROOM_MEMORY_ABI checked_memory
#elif defined(HEADROOM_MEMORY_POISONED)
#define HEADROOM_MEMORY_ABI poisoned_memory
#else
#define HEADROOM_MEMORY_ABI memory
#endif

// Before the definition of a slow path; and before the declaration of one that inline code calls.
#if defined(HEADROOM_MEMORY_PLAIN)
#define HEADROOM_MEMORY_INLINE
#define HEADROOM_MEMORY_API HEADROOM_API
#else
#define HEADROOM_MEMORY_INLINE inline
#define HEADROOM_MEMORY_API
#endif
