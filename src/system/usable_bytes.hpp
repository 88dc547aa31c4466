// What malloc says of a block.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <malloc.h>
#endif

namespace headroom { inline namespace v0_1 { namespace detail {

// Whether usable_bytes() may be asked about `block`. A program that brings a malloc and not malloc_usable_size() is given the C
// library's, which reads what lies before the block: that must not be a page that is not there.
[[nodiscard]] inline bool begins_within_a_page(void* block) noexcept {
    constexpr std::uintptr_t smallest_page = 4096;
    return reinterpret_cast<std::uintptr_t>(block) % smallest_page >= 2 * sizeof(std::size_t);
}

// The bytes that may be used of a block of malloc that begins within a page; 0 where nobody says so. The heap may be another one
// than the system's.
[[nodiscard]] inline std::size_t usable_bytes(void* block) noexcept {
#if defined(__linux__)
    return ::malloc_usable_size(block);
#else
    static_cast<void>(block);
    return 0;
#endif
}

}}}    // namespace headroom::detail
