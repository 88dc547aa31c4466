#include "rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include <headroom/vector.hpp>

#include "units.hpp"

namespace headroom::tools::tune {
namespace {

constexpr std::size_t KiB = std::size_t{1} << 10;
constexpr std::size_t MiB = std::size_t{1} << 20;

// The default is left only for a gain that survives noise. While the array is small its last step is much of it, and most of that
// step may stay unused: a larger one must gain more than that.
constexpr double worth_it = 0.10;
constexpr double worth_it_small = 1.0 / 3;
// A huge page must be cheaper than the ordinary pages that it stands for by so much: an array's last one is only half used.
constexpr double huge_at_most = 0.95;
// How long one append may wait for a step of ordinary pages: while the array is small, and later.
constexpr double small_wait = 50e-6;
constexpr double large_wait = 1e-3;
// Making a range may cost this share of what its memory costs. (More than a heap's copying costs.)
constexpr double range_share = 1;

// Seconds for a byte: the median and its quartiles.
struct price {
    double usual = 0;
    double low = 0;
    double high = 0;
};
std::optional<price> per_byte(const costs& of, const char* what, std::size_t bytes) {
    const figure* const one = of.find(what, bytes);
    if (one == nullptr || !one->missing.empty()) return std::nullopt;
    const auto size = static_cast<double>(bytes);
    return price{one->seconds / size, one->low / size, one->high / size};
}
// Whether it is so much cheaper (0.1: a tenth), and not by chance: then the quartiles would overlap.
bool cheaper(const price& one, const price& than, double gain) {
    return one.usual <= than.usual * (1 - gain) && one.high < than.low;
}

// From `usual` on, the largest step that still gains enough over the one before it, is at most `most` and makes no append
// wait for longer than `wait`.
std::size_t best_step(const costs& of, std::size_t usual, std::size_t most, double wait, double gain) {
    auto best = per_byte(of, populate, usual);
    std::size_t chosen = usual;
    if (!best) return chosen;
    for (const std::size_t step : of.sizes(populate)) {
        if (step <= chosen || step > most || *of.seconds(populate, step) > wait) continue;
        const price here = *per_byte(of, populate, step);
        if (!cheaper(here, *best, gain)) continue;
        best = here;
        chosen = step;
    }
    return chosen;
}

// The policy's own size, where nothing larger gains enough. (A step is a page at least: then that is what was measured.)
std::size_t step_or_usual(const costs& of, std::size_t usual, std::size_t most, double wait, double gain) {
    const std::size_t measured = std::max(usual, of.page);
    const std::size_t best = best_step(of, measured, std::max(most, 8 * of.page), wait, gain);
    return best == measured ? usual : best;
}
std::size_t small_step(const costs& of) {
    return step_or_usual(of, commit_policy().max_step(), 128 * KiB, small_wait, worth_it_small);
}
std::size_t large_step(const costs& of) { return step_or_usual(of, commit_policy().large_step(), 2 * MiB, large_wait, worth_it); }
std::optional<price> small_price(const costs& of) {
    return per_byte(of, populate, std::max(commit_policy().max_step(), of.page));
}
std::optional<price> large_price(const costs& of) { return per_byte(of, populate, std::max(large_step(of), of.page)); }

commit_policy the_default(const costs&) { return {}; }
commit_policy balanced_steps(const costs& of) {
    return commit_policy::balanced(small_step(of), commit_policy().from(), large_step(of));
}
commit_policy steps_alone(const costs& of) {
    const std::size_t small = small_step(of);
    return commit_policy::stepped(small, std::max(small, large_step(of)));
}

// What a huge page costs, of what the same memory costs in ordinary pages, a large step at a time.
std::optional<double> huge_ratio(const costs& of) {
    const auto huge = per_byte(of, huge_touch, of.huge_page);
    const auto ordinary = large_price(of);
    if (!huge || !ordinary) return std::nullopt;
    return huge->usual / ordinary->usual;
}

bool populate_unknown(const costs& of) { return !small_price(of) || !large_price(of); }
bool huge_refused(const costs& of) { return of.huge_page != 0 && of.huge_granted && *of.huge_granted < 0.5; }
bool huge_dear(const costs& of) {
    const auto huge = per_byte(of, huge_touch, of.huge_page);
    const auto ordinary = large_price(of);
    return of.huge_page != 0 && huge && ordinary && huge->usual > huge_at_most * ordinary->usual &&
           huge->low > huge_at_most * ordinary->high;
}
bool no_huge(const costs& of) { return of.huge_page == 0; }
bool always(const costs&) { return true; }

std::string populate_why(const costs& of) {
    const std::string why = of.why_missing(populate);
    return why.empty() ? "what memory costs in steps was measured at too few sizes"
                       : "what memory costs in steps is not known: " + why;
}
std::string refused_why(const costs& of) {
    char text[128];
    std::snprintf(text, sizeof text,
                  "the system grants only %.0f%% of the huge pages that it is asked for: ordinary pages in steps",
                  *of.huge_granted * 100);
    return text;
}
std::string dear_why(const costs& of) {
    char text[128];
    std::snprintf(text, sizeof text, "a huge page costs %.2f of the ordinary pages for as much memory: ordinary pages in steps",
                  *huge_ratio(of));
    return text;
}
std::string no_huge_why(const costs&) {
    return "the system has no huge pages, or they are switched off: ordinary pages in steps";
}
std::string huge_why(const costs& of) {
    const auto ratio = huge_ratio(of);
    if (!ratio) return "the system has huge pages; what they cost could not be measured";
    char text[128];
    std::snprintf(text, sizeof text, "huge pages are granted, and one costs %.2f of the ordinary pages for as much memory",
                  *ratio);
    return text;
}

constexpr rule table[] = {
    {"populate unknown", populate_unknown, the_default, populate_why},
    {"huge pages refused", huge_refused, steps_alone, refused_why},
    {"huge pages dear", huge_dear, steps_alone, dear_why},
    {"no huge pages", no_huge, balanced_steps, no_huge_why},
    {"huge pages", always, balanced_steps, huge_why},
};

// From which capacity on a vector should live in a range of its own.
void choose_threshold(const costs& of, advice& to) {
    const std::size_t usual = vector_policy::map_threshold;
    to.map_threshold = usual;
    const figure* const range = of.find(range_cold, largest_range);
    const auto memory = small_price(of);
    if (range == nullptr || !range->missing.empty() || !memory) {
        to.threshold_because = "the default: what a range costs is not known";
        return;
    }
    while (to.map_threshold < 16 * MiB && range->low > range_share * memory->high * static_cast<double>(to.map_threshold)) {
        to.map_threshold *= 2;
    }
    to.threshold_because = "making and dropping a range costs " + time_text(range->seconds) + ", the memory of " +
                           size_text(to.map_threshold) + " costs " +
                           time_text(memory->usual * static_cast<double>(to.map_threshold));
}

void note_crossing(const costs& of, advice& to) {
    const std::string why = of.why_missing(remapping);
    if (!why.empty()) {
        to.notes.push_back("Moving by page tables: " + why + ". A vector that outgrows its range is copied.");
        return;
    }
    if (!of.why_missing(copying).empty()) return;
    const std::size_t crossing = remap_crossing(of);
    if (crossing == 0) {
        to.notes.push_back(
            "Copying beats moving by page tables at every size measured. (Headroom always moves by page tables "
            "where it can: this needs a range that is full.)");
    } else {
        to.notes.push_back("From " + size_text(crossing) +
                           " on, moving by page tables beats copying. (Headroom moves that way "
                           "wherever a vector outgrows its range; no policy changes that.)");
    }
}

void note_warm(const costs& of, advice& to) {
    const auto cold = of.seconds(reuse_cold, 2 * MiB);
    const auto warm = of.seconds(reuse_warm, 2 * MiB);
    const auto gone = of.seconds(decommitting, 2 * MiB);
    if (!cold || !warm || !gone || *warm <= 0) return;
    char text[200];
    std::snprintf(text, sizeof text,
                  "Memory that is kept warm is used again for 1/%.0f of what giving it back and making it anew costs: see "
                  "set_cache_limit().",
                  (*cold + *gone) / *warm);
    to.notes.push_back(text);
}

void note_cores(const costs& of, advice& to) {
    if (of.cores < 2) {
        to.notes.push_back("One core: prefault_ahead() gains nothing here.");
        return;
    }
    const auto alone = of.seconds(first_touch, touched_at_once);
    const auto together = of.seconds(first_touch_all, touched_at_once);
    if (!alone || !together || *alone <= 0) return;
    char text[240];
    const double ratio = *together / *alone;
    std::snprintf(text, sizeof text, "With all %zu cores at it a page fault costs %.1f times what it costs alone. %s", of.cores,
                  ratio,
                  ratio <= 2 ? "prefault_ahead() may help writers of gigabytes that must not wait, where a core is idle."
                             : "prefault_ahead() would take from the others what it gives to the writer.");
    to.notes.push_back(text);
}

}    // namespace

std::span<const rule> rules() noexcept { return table; }

bool advice::is_default() const noexcept { return commit == commit_policy() && map_threshold == vector_policy::map_threshold; }

std::size_t remap_crossing(const costs& measured) {
    std::size_t from = 0;
    for (const std::size_t bytes : measured.sizes(remapping)) {
        const auto copy = measured.seconds(copying, bytes);
        if (!copy) continue;
        if (*measured.seconds(remapping, bytes) >= *copy) {
            from = 0;
        } else if (from == 0) {
            from = bytes;
        }
    }
    return from;
}

advice advise(const costs& measured) {
    advice result;
    for (const rule& one : table) {
        if (!one.applies(measured)) continue;
        result.rule = one.name;
        result.commit = one.policy(measured);
        result.because = one.because(measured);
        break;
    }
    choose_threshold(measured, result);
    note_crossing(measured, result);
    note_warm(measured, result);
    note_cores(measured, result);
    return result;
}

std::string code_of(const commit_policy& policy) {
    char text[128];
    if (policy == commit_policy()) return "headroom::commit_policy()";
    if (policy.which() == commit_policy::kind::stepped) {
        std::snprintf(text, sizeof text, "headroom::stepped(%zu, %zu)", policy.min_step(), policy.max_step());
    } else {
        std::snprintf(text, sizeof text, "headroom::balanced(%zu, %zu, %zu)", policy.max_step(), policy.from(),
                      policy.large_step());
    }
    return text;
}

}    // namespace headroom::tools::tune
