// SPDX-License-Identifier: MIT
// Blocks of the C heap with more alignment than malloc's.
#pragma once

#include <malloc.h>

#include <cstddef>

namespace headroom_test {

// Returns null if the heap has no such block. `alignment` is a power of two.
inline void* allocate_aligned(std::size_t bytes, std::size_t alignment) noexcept { return _aligned_malloc(bytes, alignment); }
inline void free_aligned(void* block) noexcept { _aligned_free(block); }

}    // namespace headroom_test
