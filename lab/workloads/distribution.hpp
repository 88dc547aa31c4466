// SPDX-License-Identifier: MIT
// A histogram of ticks as metrics in seconds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/experiment.hpp"
#include "measure/clock.hpp"
#include "measure/histogram.hpp"

namespace headroom::lab {

// The upper bounds of the document's columns, in seconds; the last column has none. From "Reserve and commit", Latency.
inline constexpr std::array<double, 6> decades{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};

// Adds to `result`, each name starting with `name`:
//   _min _max _p50 _p99 _p9999 _p999999    s; p9999 is 99.99%, p999999 is 99.9999%
//   _decades                               seven counts, by `decades`
//   _histogram                             s: every bucket that holds something, with its count
//   clock_cost                             s: what reading the clock costs; already subtracted from all the others
inline void describe(metrics& result, const std::string& name, const histogram& ticks, const tick_scale& scale) {
    const double tick = scale.seconds_per_tick();
    const std::uint64_t cost = scale.own_cost();
    const auto seconds = [&](std::uint64_t value) { return static_cast<double>(value > cost ? value - cost : 0) * tick; };
    result[name + "_min"] = {"s", {seconds(ticks.minimum())}};
    result[name + "_max"] = {"s", {seconds(ticks.maximum())}};
    result[name + "_p50"] = {"s", {seconds(ticks.percentile(0.5))}};
    result[name + "_p99"] = {"s", {seconds(ticks.percentile(0.99))}};
    result[name + "_p9999"] = {"s", {seconds(ticks.percentile(0.9999))}};
    result[name + "_p999999"] = {"s", {seconds(ticks.percentile(0.999999))}};
    metric counts{"", std::vector<double>(decades.size() + 1)};
    metric buckets{"s", {}};
    ticks.each([&](std::uint64_t first, std::uint64_t last, std::uint64_t count) {
        const double value = seconds(first + (last - first) / 2);
        std::size_t column = 0;
        while (column < decades.size() && value >= decades[column]) ++column;
        counts.values[column] += static_cast<double>(count);
        buckets.values.push_back(value);
        buckets.counts.push_back(count);
    });
    result[name + "_decades"] = std::move(counts);
    result[name + "_histogram"] = std::move(buckets);
    result["clock_cost"] = {"s", {static_cast<double>(cost) * tick}};
}

}    // namespace headroom::lab
