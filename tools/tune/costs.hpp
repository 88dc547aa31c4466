// What pages cost on a machine: the figures that `headroom tune` measures and that its rules read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace headroom::tools::tune {

// One thing that was measured, or the reason why it was not.
struct figure {
    std::string what;         // "commit and populate"
    std::size_t bytes = 0;    // how much memory one of them is about
    double seconds = 0;       // one of them: the median of the rounds
    double low = 0;           // quartiles of the rounds
    double high = 0;
    std::size_t rounds = 0;
    std::string missing;    // why there is no figure; empty: there is one
};

// The names of what is measured.
inline constexpr const char* first_touch = "first touch";
inline constexpr const char* first_touch_all = "first touch, all cores";
inline constexpr const char* commit_only = "commit";
inline constexpr const char* populate = "commit and populate";
inline constexpr const char* huge_touch = "first touch, huge page";
inline constexpr const char* protect_call = "protect";
inline constexpr const char* remapping = "remap";
inline constexpr const char* copying = "copy to fresh pages";
inline constexpr const char* decommitting = "decommit";
inline constexpr const char* reuse_cold = "reuse after decommit";
inline constexpr const char* reuse_warm = "reuse while warm";
inline constexpr const char* range_cold = "make and drop a range";
inline constexpr const char* range_warm = "the same, kept warm";

// How large the range is whose making is measured; what a figure of touching page by page is about.
inline constexpr std::size_t largest_range = std::size_t{64} << 20;
inline constexpr std::size_t touched_at_once = std::size_t{256} << 10;

struct costs {
    std::size_t page = 4096;
    std::size_t huge_page = 0;             // bytes; 0: the system has none, or they are switched off
    std::optional<double> huge_granted;    // share of the huge pages asked for that were granted; empty: it cannot be told
    std::size_t cores = 1;
    std::vector<figure> figures;
    std::size_t rounds = 0;

    // How busy the machine was meanwhile.
    std::optional<double> others;    // processors that other programs used, on average
    std::size_t processors = 1;      // of how many, if others is known: in a container, all of the machine's
    double waited = 0;               // share of the time in which this program was ready and did not run

    [[nodiscard]] const figure* find(const char* what, std::size_t bytes) const;
    // Seconds for one; empty where there is no such figure.
    [[nodiscard]] std::optional<double> seconds(const char* what, std::size_t bytes) const;
    // All sizes that `what` was measured at, ascending.
    [[nodiscard]] std::vector<std::size_t> sizes(const char* what) const;
    // Why there is no figure of `what` at any size; empty where there is one.
    [[nodiscard]] std::string why_missing(const char* what) const;
    // Whether the figures may be off: more than a tenth of the time lost to other programs.
    [[nodiscard]] bool busy() const noexcept {
        return waited > 0.1 || others.value_or(0) > 0.25 * static_cast<double>(processors);
    }

    // For tests, and whoever knows the costs already.
    void set(const char* what, std::size_t bytes, double its_seconds);
    void set_missing(const char* what, std::size_t bytes, const char* why);
};

}    // namespace headroom::tools::tune
