// SPDX-License-Identifier: MIT
// The random simulation, shared by the experiments that run it. experiments/simulation/measure.cpp describes it.
#pragma once

#include <vector>

#include "engine/experiment.hpp"

namespace headroom::lab {

// Everyone who may stand in for std::vector. Parameters: element (text), iterations, tests (numbers).
[[nodiscard]] std::vector<contender> simulation_contenders();

// A configuration with few iterations, for tests.
[[nodiscard]] parameters few_iterations(const parameters& from);

}    // namespace headroom::lab
