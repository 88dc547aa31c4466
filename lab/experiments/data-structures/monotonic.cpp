// SPDX-License-Identifier: MIT
// The global allocators and the monotonic ones that grow by themselves, in experiment data-structures.
#include "experiments/data-structures/structures.hpp"

namespace headroom::lab {

std::vector<contender> data_structures_over_globals_and_monotonics() {
    return contenders_by_strategy(global_memories + growing_monotonics, run_data_structures{});
}

}    // namespace headroom::lab
