// What the optimised program runs: everything.
#include "experiments/all.hpp"

namespace headroom::lab {

std::vector<experiment> all_experiments() {
    return {growth(),       memory(),       throughput(),  latency(),     commit_cost(),     one_growth(),
            instructions(), compile_time(), push_back(),   simulation(),  pressure(),        reset_words(),
            make_shared(),  data_structures(), locality(), utilization(), contention(),      pair_instructions()};
}

}  // namespace headroom::lab
