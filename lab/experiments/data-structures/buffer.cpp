// SPDX-License-Identifier: MIT
// The monotonic allocators that were given a buffer, in experiment data-structures.
#include "experiments/data-structures/structures.hpp"

namespace headroom::lab {

std::vector<contender> data_structures_over_buffers() {
    return contenders_by_strategy(buffered_monotonics, run_data_structures{});
}

}    // namespace headroom::lab
