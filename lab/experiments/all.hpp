// All experiments of the lab, in the order in which they run.
#pragma once

#include <vector>

#include "engine/experiment.hpp"

namespace headroom::lab {

[[nodiscard]] experiment growth();
[[nodiscard]] experiment memory();
[[nodiscard]] experiment throughput();
[[nodiscard]] experiment latency();
[[nodiscard]] experiment commit_cost();
[[nodiscard]] experiment one_growth();
[[nodiscard]] experiment instructions();

[[nodiscard]] std::vector<experiment> all_experiments();

}  // namespace headroom::lab
