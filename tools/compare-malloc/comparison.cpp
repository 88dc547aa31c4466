// SPDX-License-Identifier: MIT
#include "comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::tools {
namespace {

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<double> values_of(const std::vector<program_run>& runs, comparison::measure what) {
    std::vector<double> values;
    for (const program_run& one : runs) values.push_back(one.*what);
    return values;
}

// How far runs typically lie from their median, as a part of it: half as much again as the median distance, what two thirds stay within
// where accidents are distributed as usual.
double scatter(const std::vector<double>& values) {
    const double middle = median(values);
    std::vector<double> distances;
    for (const double one : values) distances.push_back(std::abs(one - middle));
    return middle > 0 ? 1.5 * median(distances) / middle : 0;
}

}    // namespace

bool compared_figure::differs() const {
    constexpr double printed_equal = 0.005;
    return std::abs(ratio - 1) > std::max(noise, printed_equal);
}

void comparison::run(int rounds, const std::function<void(std::size_t, std::size_t, const std::string&)>& progress) {
    const std::size_t all = static_cast<std::size_t>(rounds) * (mallocs.size() + 1);
    std::size_t number = 0;
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t at = 0; at <= mallocs.size(); ++at) {
            compared_malloc& over = mallocs[at % mallocs.size()];    // after the last one the first again
            ++number;
            if (!over.refused.empty()) continue;
            if (stop_signal() != 0) return;
            progress(number, all, over.name);
            const program_run done = run_program(call_, over.over, round == 0);
            if (stop_signal() != 0) return;
            if (at > 0 && done.status != *status()) {
                if (is_base(over)) {
                    note = "the program ends now with " + ending(*status()) + ", now with " + ending(done.status) +
                           ", without another malloc";
                } else {
                    over.refused = "the program ended with " + ending(done.status);
                    const std::string line = call_.show_output ? std::string() : first_complaint(call_, over.over);
                    if (!line.empty()) over.refused += ": " + line;
                    if (!guess.empty()) note = guess;
                    continue;
                }
            }
            if (!done.without.empty()) {
                over.refused = "it was not in use: " + done.without;
                over.was_unused = true;
                continue;
            }
            (at == mallocs.size() ? again_ : over.runs).push_back(done);
        }
        ++rounds_done;
    }
}

bool comparison::compared() const {
    return std::any_of(mallocs.begin(), mallocs.end(),
                       [this](const compared_malloc& one) { return !is_base(one) && one.refused.empty() && !one.runs.empty(); });
}

std::optional<int> comparison::status() const {
    if (mallocs.front().runs.empty()) return std::nullopt;
    return mallocs.front().runs.front().status;
}

std::vector<double> comparison::values(const compared_malloc& of, measure what) const {
    std::vector<double> all = values_of(of.runs, what);
    if (&of == &mallocs.front()) {
        for (const program_run& one : again_) all.push_back(one.*what);
    }
    return all;
}

double comparison::noise(measure what) const {
    const std::vector<double> first = values_of(mallocs.front().runs, what);
    const std::vector<double> second = values_of(again_, what);
    if (first.size() < 3 || second.size() < 3) return std::numeric_limits<double>::infinity();
    if (median(first) <= 0) return 0;
    return std::hypot(std::abs(median(second) / median(first) - 1), scatter(first));
}

std::optional<compared_figure> comparison::figure(const compared_malloc& of, measure what) const {
    const std::vector<double> own = values(of, what);
    const std::vector<double> base = values(mallocs.front(), what);
    if (own.empty() || base.empty()) return std::nullopt;
    const double ratio = median(base) > 0 ? median(own) / median(base) : 1;
    return compared_figure{median(own), ratio, std::hypot(noise(what), scatter(own))};
}

const compared_malloc* comparison::best(measure what) const {
    const compared_malloc* found = nullptr;
    double least = 1;
    for (const compared_malloc& one : mallocs) {
        const std::optional<compared_figure> taken = figure(one, what);
        if (!one.refused.empty() || !taken || !taken->differs() || taken->ratio >= least) continue;
        least = taken->ratio;
        found = &one;
    }
    return found;
}

}    // namespace headroom::tools
