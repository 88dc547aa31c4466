// SPDX-License-Identifier: MIT
// Order statistics of a handful of repeated measurements.
//
// A figure in the lab is a median with its spread, because one disturbed round must not move it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace headroom::lab {

// The value below which `fraction` of the sorted sample lies, interpolated between neighbours. 0 for an empty sample.
// Precondition: 0 <= fraction <= 1. O(n log n).
[[nodiscard]] inline double quantile(std::vector<double> sample, double fraction) {
    if (sample.empty()) return 0;
    std::sort(sample.begin(), sample.end());
    const double place = fraction * static_cast<double>(sample.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(place));
    const std::size_t above = std::min(below + 1, sample.size() - 1);
    return sample[below] + (sample[above] - sample[below]) * (place - std::floor(place));
}

[[nodiscard]] inline double median(std::vector<double> sample) { return quantile(std::move(sample), 0.5); }

// The distance between the quartiles: the spread that goes with a median, as little moved by one bad round.
[[nodiscard]] inline double spread(const std::vector<double>& sample) { return quantile(sample, 0.75) - quantile(sample, 0.25); }

}    // namespace headroom::lab
