// All experiments of the lab.
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
[[nodiscard]] experiment compile_time();
[[nodiscard]] experiment push_back();
[[nodiscard]] experiment simulation();
[[nodiscard]] experiment pressure();
[[nodiscard]] experiment reset_words();
[[nodiscard]] experiment make_shared();
[[nodiscard]] experiment data_structures();
[[nodiscard]] experiment locality();
[[nodiscard]] experiment utilization();
[[nodiscard]] experiment contention();
[[nodiscard]] experiment pair_instructions();

// Those that this program runs, in their order (all.cpp at -O2, some.cpp at the other levels).
[[nodiscard]] std::vector<experiment> all_experiments();

}  // namespace headroom::lab
