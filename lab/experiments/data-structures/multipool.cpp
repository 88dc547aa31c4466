// SPDX-License-Identifier: MIT
// The multipools, alone and over a monotonic, in experiment data-structures.
#include "experiments/data-structures/structures.hpp"

namespace headroom::lab {

std::vector<contender> data_structures_over_multipools() {
    return contenders_by_strategy(multipools + multipools_over_monotonics, run_data_structures{});
}

}    // namespace headroom::lab
