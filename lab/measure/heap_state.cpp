// SPDX-License-Identifier: MIT
#include "measure/heap_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace headroom::lab {

void scramble_heap(std::size_t bytes) {
    std::mt19937_64 random(20151106);
    std::vector<void*> blocks;
    blocks.reserve(bytes / 500);
    for (std::size_t taken = 0; taken < bytes;) {
        const std::size_t size = 16 + random() % 1024;
        blocks.push_back(std::malloc(size));
        taken += size;
    }
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (std::size_t i = blocks.size() / 16; i < blocks.size(); ++i) std::free(blocks[i]);
}

bool set_trimming([[maybe_unused]] bool on) {
#if defined(M_TRIM_THRESHOLD) && defined(M_MMAP_MAX)
    // Nothing is trimmed, and nothing has a mapping of its own.
    return on || (mallopt(M_TRIM_THRESHOLD, -1) == 1 && mallopt(M_MMAP_MAX, 0) == 1);
#else
    return on;
#endif
}

}    // namespace headroom::lab
