// SPDX-License-Identifier: MIT
// Blocks of the C heap with more alignment than malloc's.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace headroom_test {

// Returns null if the heap has no such block. `alignment` is a power of two.
inline void* allocate_aligned(std::size_t bytes, std::size_t alignment) noexcept {
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
inline void free_aligned(void* block) noexcept { std::free(block); }

}    // namespace headroom_test
