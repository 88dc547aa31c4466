// SPDX-License-Identifier: MIT
// The time of something too short for the clock: it is done many times in a row.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "measure/clock.hpp"
#include "measure/statistics.hpp"

namespace headroom::lab {

struct batch_limits {
    std::size_t most = 15;                                       // batches
    std::size_t fewest = most;                                   // even if `seconds` are over
    double seconds = std::numeric_limits<double>::infinity();    // after which no further batch is begun
};

struct batched {
    double seconds = 0;       // one call: the median of the batches
    std::size_t calls = 0;    // in all, those of batches that were too short included
};

// Calls `once` in batches of at least a millisecond each. Inlined, and `once` with it, so that the loop is as if it had been
// written where it is measured.
template <class Once>
[[nodiscard, gnu::always_inline]] inline batched median_of_batches(batch_limits limits, Once once) {
    std::vector<double> batches;
    batched result;
    std::size_t calls = 1;
    double spent = 0;
    while (batches.size() < limits.fewest || (batches.size() < limits.most && spent < limits.seconds)) {
        const stopwatch::time_point begin = stopwatch::now();
        for (std::size_t i = 0; i < calls; ++i) once();
        const double seconds = seconds_between(begin, stopwatch::now());
        spent += seconds;
        result.calls += calls;
        if (seconds < 1e-3 && calls < 1'000'000) {
            calls *= 2;
        } else {
            batches.push_back(seconds / static_cast<double>(calls));
        }
    }
    result.seconds = median(std::move(batches));
    return result;
}

}    // namespace headroom::lab
