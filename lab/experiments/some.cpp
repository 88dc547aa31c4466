// What the unoptimised programs run: the experiments whose document asked about levels of optimisation.
#include "experiments/all.hpp"

namespace headroom::lab {

std::vector<experiment> all_experiments() { return {throughput(), latency(), make_shared()}; }

}  // namespace headroom::lab
