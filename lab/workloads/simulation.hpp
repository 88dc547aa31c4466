// The random simulation, for the experiments that ask something of it: what it does is said in experiments/simulation/measure.cpp.
#pragma once

#include <vector>

#include "engine/experiment.hpp"

namespace headroom::lab {

// Everyone who may stand in for std::vector. Parameters: element (text), iterations, tests (numbers).
[[nodiscard]] std::vector<contender> simulation_contenders();

// The same with so few iterations that it is over at once.
[[nodiscard]] parameters few_iterations(const parameters& from);

}    // namespace headroom::lab
