// SPDX-License-Identifier: MIT
// Usable size of malloc's blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <malloc.h>
#endif

namespace headroom { inline namespace v0_1 { namespace detail {

// True if usable_bytes() is safe for `block`. A program's own malloc without malloc_usable_size() is combined with the C library's, which
// reads the bytes before the block; they must not be in another page.
[[nodiscard]] inline bool begins_within_a_page(void* block) noexcept {
    constexpr std::uintptr_t smallest_page = 4096;
    return reinterpret_cast<std::uintptr_t>(block) % smallest_page >= 2 * sizeof(std::size_t);
}

// malloc_usable_size(block), of whichever heap; 0 if there is no such function. Precondition: begins_within_a_page(block).
[[nodiscard]] inline std::size_t usable_bytes(void* block) noexcept {
#if defined(__linux__)
    return ::malloc_usable_size(block);
#else
    static_cast<void>(block);
    return 0;
#endif
}

}}}    // namespace headroom::detail
