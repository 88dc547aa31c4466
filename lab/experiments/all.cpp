#include "experiments/all.hpp"

namespace headroom::lab {

std::vector<experiment> all_experiments() {
    return {growth(), memory(), throughput(), latency(), commit_cost(), one_growth(), instructions()};
}

}  // namespace headroom::lab
