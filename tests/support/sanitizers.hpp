// Whether a sanitizer with memory of its own watches this build: then limits on memory hit the sanitizer first.
#pragma once

namespace headroom_test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitizer_needs_memory = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool sanitizer_needs_memory = true;
#else
inline constexpr bool sanitizer_needs_memory = false;
#endif
#else
inline constexpr bool sanitizer_needs_memory = false;
#endif

}  // namespace headroom_test
