#include "check.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include "system.hpp"

namespace headroom::tools::tune {
namespace {

using clock = std::chrono::steady_clock;

double since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

template <class Vector>
[[gnu::noinline]] void append(Vector& to, int count) {
    for (int i = 0; i < count; ++i) to.push_back(i);
}

// A vector of so many ints from the first to the last, on memory that no other vector left; seconds without its end.
double settled_run(std::size_t count, const commit_policy& commit) {
    trim_cache();
    const auto begin = clock::now();
    settled_vector<int> numbers(max_elements(2 * count), commit);    // (room enough for a last step that is not cut)
    append(numbers, static_cast<int>(count));
    return since(begin);
}

template <std::size_t Threshold>
struct from_threshold : vector_policy {
    static constexpr std::size_t map_threshold = Threshold;
};
template <std::size_t Threshold>
double vector_run(std::size_t count) {
    trim_cache();
    const auto begin = clock::now();
    vector<int, std::allocator<int>, from_threshold<Threshold>> numbers;
    append(numbers, static_cast<int>(count));
    return since(begin);
}

using vector_runner = double (*)(std::size_t);
// The thresholds that the rules choose among.
vector_runner vector_with(std::size_t threshold) {
    switch (threshold >> 20) {
        case 2: return vector_run<std::size_t{2} << 20>;
        case 4: return vector_run<std::size_t{4} << 20>;
        case 8: return vector_run<std::size_t{8} << 20>;
        case 16: return vector_run<std::size_t{16} << 20>;
        default: return vector_run<vector_policy::map_threshold>;
    }
}

struct interval {
    double middle, low, high;
};
// The median of the ratios, and the order statistics between which it lies with a probability of 98%.
interval median_of(std::vector<double> ratios) {
    std::sort(ratios.begin(), ratios.end());
    const auto count = static_cast<double>(ratios.size());
    const double reach = 2.33 * std::sqrt(count) / 2;
    const auto at = [&](double place) { return ratios[static_cast<std::size_t>(std::clamp(std::floor(place), 0.0, count - 1))]; };
    return {at((count - 1) / 2), at(count / 2 - reach), at(count / 2 + reach)};
}

// Each run is of so many vectors that its time can be told from the clock's.
std::size_t vectors_in_a_run(std::size_t elements) { return std::clamp<std::size_t>(1'000'000 / elements, 1, 20); }

template <class Run>
double several(std::size_t elements, Run run) {
    double seconds = 0;
    for (std::size_t i = 0; i < vectors_in_a_run(elements); ++i) seconds += run();
    return seconds;
}

// One round; who begins changes from round to round.
template <class Usual, class Tuned>
round_times one_round(std::size_t number, std::size_t elements, Usual usual, Tuned tuned) {
    round_times result;
    for (std::size_t i = 0; i < 3; ++i) {
        switch ((number + i) % 3) {
            case 0: result.usual = several(elements, usual); break;
            case 1: result.tuned = several(elements, tuned); break;
            default: result.usual_again = several(elements, usual);
        }
    }
    return result;
}

}    // namespace

verdict judge(const std::vector<round_times>& rounds) {
    std::vector<double> ratios;
    std::vector<double> noise;
    for (const round_times& one : rounds) {
        // (By one of the default's runs, not by their mean: an interruption of either must not favour the tuned policy.)
        ratios.push_back(one.tuned / one.usual);
        noise.push_back(one.usual_again / one.usual);
    }
    const interval found = median_of(std::move(ratios));
    const interval twin = median_of(std::move(noise));
    verdict result{found.middle, found.low, found.high, twin.low, twin.high, false};
    result.slower = found.low > 1.03 && found.low > std::max(twin.high, 1 / twin.low);
    return result;
}

std::vector<comparison> compare(const commit_policy& commit, std::size_t map_threshold, double seconds,
                                const std::function<bool()>& stopped) {
    std::vector<comparison> result;
    bool stop = false;
    for (const bool settled : {true, false}) {
        // A vector is compared where its threshold differs.
        if (!settled && map_threshold == vector_policy::map_threshold) continue;
        for (std::size_t elements = 10'000; elements <= 100'000'000 && !stop; elements *= 10) {
            comparison one{settled ? "settled_vector<int>" : "vector<int>", elements, {}, {}};
            const double share = elements == 100'000'000 ? seconds / 2 : seconds / 8;
            const auto begin = clock::now();
            // Twice the elements: a vector may be in two places while it grows.
            const auto available = available_memory();
            const std::uint64_t needed = std::uint64_t{2} * sizeof(int) * elements;
            if (available && needed > *available / 2) {
                one.missing = std::to_string(*available >> 20) + " MiB of memory are available";
                result.push_back(std::move(one));
                continue;
            }
            try {
                while (one.rounds.size() < 7 || (one.rounds.size() < 999 && since(begin) < share)) {
                    if ((stop = stopped())) break;
                    if (settled) {
                        one.rounds.push_back(one_round(
                            one.rounds.size(), elements, [&] { return settled_run(elements, {}); },
                            [&] { return settled_run(elements, commit); }));
                    } else {
                        one.rounds.push_back(one_round(
                            one.rounds.size(), elements, [&] { return vector_with(vector_policy::map_threshold)(elements); },
                            [&] { return vector_with(map_threshold)(elements); }));
                    }
                }
            } catch (const std::exception& error) {
                one.rounds.clear();
                one.missing = error.what();
            }
            if (!stop) result.push_back(std::move(one));
        }
    }
    trim_cache();
    return result;
}

std::string check_text(const std::vector<comparison>& compared) {
    char line[160];
    std::string text = "\nTuned against default: time of n appends to fresh memory, as a ratio\n";
    std::snprintf(line, sizeof line, "%-20s %11s  %6s  %15s  %13s  %6s\n", "what", "n", "ratio", "98% between", "noise",
                  "rounds");
    text += line;
    for (const comparison& one : compared) {
        if (one.rounds.empty()) {
            std::snprintf(line, sizeof line, "%-20s %11zu  not compared: %.42s\n", one.what.c_str(), one.elements,
                          one.missing.c_str());
            text += line;
            continue;
        }
        const verdict found = judge(one.rounds);
        char between[32];
        char noise[32];
        std::snprintf(between, sizeof between, "%.3f .. %.3f", found.low, found.high);
        std::snprintf(noise, sizeof noise, "%.2f .. %.2f", found.noise_low, found.noise_high);
        std::snprintf(line, sizeof line, "%-20s %11zu  %6.3f  %15s  %13s  %6zu%s\n", one.what.c_str(), one.elements, found.ratio,
                      between, noise, one.rounds.size(), found.slower ? "\n    slower than the default" : "");
        text += line;
    }
    return text;
}

bool any_slower(const std::vector<comparison>& compared) {
    return std::any_of(compared.begin(), compared.end(),
                       [](const comparison& one) { return !one.rounds.empty() && judge(one.rounds).slower; });
}

}    // namespace headroom::tools::tune
