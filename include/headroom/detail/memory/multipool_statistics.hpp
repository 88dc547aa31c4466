// SPDX-License-Identifier: MIT
// Result of multipool_resource::statistics().
#pragma once

#include <array>
#include <cstddef>

#include <headroom/detail/memory/bins.hpp>

namespace headroom { inline namespace v0_1 {

// Contents of a multipool's pools, by size class.
struct multipool_statistics {
    struct size_class {
        std::size_t block_bytes = 0;
        std::size_t in_use = 0;    // blocks
        std::size_t free = 0;
        std::size_t slabs = 0;
        std::size_t slab_bytes = 0;

        // Fraction of the carved blocks of this size that is in use, 0 to 1.
        [[nodiscard]] double full() const noexcept {
            return in_use == 0 ? 0.0 : static_cast<double>(in_use) / static_cast<double>(in_use + free);
        }
    };
    std::array<size_class, detail::bin_count> classes{};    // by size; without blocks in page runs or pieces of their own
    std::size_t blocks = 0;                                 // in use, of all these
    std::size_t bytes = 0;                                  // of these blocks, rounded up to their size classes
    std::size_t empty_slab_bytes = 0;                       // of free page runs, without pages never used
    std::size_t chunk_bytes = 0;                            // requested from upstream or committed, for pools
};

}}    // namespace headroom
