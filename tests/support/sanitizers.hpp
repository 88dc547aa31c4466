// SPDX-License-Identifier: MIT
// Detects the sanitizers of this build. Those with shadow memory reach memory limits earlier and make everything slower.
#pragma once

#if defined(__has_feature)
#define HEADROOM_TEST_HAS(feature) __has_feature(feature)
#else
#define HEADROOM_TEST_HAS(feature) 0
#endif

namespace headroom_test {

#if defined(__SANITIZE_ADDRESS__) || HEADROOM_TEST_HAS(address_sanitizer)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif
#if defined(__SANITIZE_THREAD__) || HEADROOM_TEST_HAS(thread_sanitizer)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif
#if HEADROOM_TEST_HAS(memory_sanitizer)
inline constexpr bool memory_sanitizer = true;
#else
inline constexpr bool memory_sanitizer = false;
#endif
inline constexpr bool sanitizer_needs_memory = address_sanitizer || thread_sanitizer || memory_sanitizer;

}    // namespace headroom_test

#undef HEADROOM_TEST_HAS
