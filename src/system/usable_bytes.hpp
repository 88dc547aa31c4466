// What malloc says of a block.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <malloc.h>
#endif

namespace headroom { inline namespace v0_1 { namespace detail {

// The bytes that may be used of a block of malloc; 0 where nobody says so. The heap may be another one than the system's.
[[nodiscard]] inline std::size_t usable_bytes(void* block) noexcept {
#if defined(__linux__)
    // A program that brings a malloc and not this function is given the C library's, which reads what lies before the block:
    // where that may be on a page that is not there, it is not asked.
    constexpr std::uintptr_t smallest_page = 4096;
    if (reinterpret_cast<std::uintptr_t>(block) % smallest_page < 2 * sizeof(std::size_t)) return 0;
    return ::malloc_usable_size(block);
#else
    static_cast<void>(block);
    return 0;
#endif
}

}}}    // namespace headroom::detail
