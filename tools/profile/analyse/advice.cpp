#include "advice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace headroom::profile {
namespace {

constexpr double mib = 1048576;
// An array that took less of the run than this to grow is not worth a line of code.
constexpr double worth_it = 0.002;

constexpr lab_cell no_cell{"", "", "", 1};
constexpr lab_cell vector_cell{"push-back", "headroom::vector", "element=int elements=1000000", 0.45};
constexpr lab_cell settled_cell{"push-back", "headroom::settled_vector", "element=string elements=1000000", 0.34};
constexpr lab_cell small_cell{"push-back", "headroom::vector", "element=int elements=10000", 0.47};
constexpr lab_cell monotonic_cell{
    "data-structures", "headroom::monotonic_resource AS4",
    "contents=unordered_set<int> heap=clean leaves_exponent=18 size_exponent=10 structure=DS3 trimming=True", 0.31};
constexpr lab_cell arena_cell{"data-structures", "headroom::arena_resource AS3",
                              "contents=vector<string> heap=clean leaves_exponent=18 size_exponent=6 structure=DS2 trimming=True",
                              0.58};
constexpr lab_cell multipool_cell{
    "data-structures", "headroom::multipool_resource AS7",
    "contents=unordered_set<int> heap=clean leaves_exponent=18 size_exponent=10 structure=DS3 trimming=True", 0.35};
constexpr lab_cell thread_cell{"contention", "headroom::multipool_resource AS7", "N_exponent=18 S_exponent=6 W=2 sharing=private",
                               0.15};

// The first rule that a site meets is its advice. Shares saved are of the time in growing for what grows, else of what
// the allocations cost; their ranges are wider than the cells, for no program is the lab's.
constexpr rule table[] = {
    {"not yours",
     advice::leave_it,
     {{{feature::foreign, 1, 1}}},
     "the allocation site is in a library without source lines, whose code you cannot change here",
     0,
     0,
     no_cell},
    {"reserved already", advice::leave_it, {{{feature::reserving, 1, 1}}}, "reserve() is called here already", 0, 0, no_cell},
    {"hash table",
     advice::reserve,
     {{{feature::rehashing, 1, 1}, {feature::growths, 2, any}, {feature::growing_share, worth_it, any}}},
     "a hash table allocated its buckets again {growths} times",
     0.5,
     0.9,
     no_cell},
    {"same size each time",
     advice::reserve,
     {{{feature::growths, 2, any},
       {feature::growing_share, worth_it, any},
       {feature::arrays, 2, any},
       {feature::final_spread, 1, 1.5}}},
     "{arrays} arrays grew {growths} times in all, and ended with nearly the same size",
     0.4,
     0.9,
     small_cell},
    {"long text",
     advice::reserve,
     {{{feature::text, 1, 1}, {feature::growths, 2, any}, {feature::growing_share, worth_it, any}}},
     "text was copied {growths} times while it grew ({copied})",
     0.4,
     0.9,
     small_cell},
    {"large and pinned",
     advice::settled_vector,
     {{{feature::growths, 2, any},
       {feature::growing_share, worth_it, any},
       {feature::largest_final, mib, any},
       {feature::pinned, 1, 1},
       {feature::most_live, 0, 4096}}},
     "elements that cannot be moved as bytes were moved one by one {growths} times; the largest array held {largest}",
     0.5,
     0.9,
     settled_cell},
    {"large",
     advice::vector,
     {{{feature::growths, 2, any}, {feature::growing_share, worth_it, any}, {feature::largest_final, mib, any}}},
     "{copied} were copied by {growths} growths; the largest array held {largest}",
     0.4,
     0.85,
     vector_cell},
    {"one array, not large",
     advice::reserve,
     {{{feature::growths, 2, any}, {feature::growing_share, worth_it, any}, {feature::arrays, 0, 1}}},
     "one array grew {growths} times to {largest}",
     0.4,
     0.9,
     small_cell},
    {"arrays of all sizes, not large",
     advice::vector,
     {{{feature::growths, 2, any}, {feature::growing_share, worth_it, any}, {feature::largest_final, 4096, any}}},
     "{arrays} arrays of different sizes grew {growths} times, up to {largest}",
     0.2,
     0.7,
     small_cell},
    {"goes to other threads",
     advice::leave_it,
     {{{feature::freed_elsewhere, 0.05, any}}},
     "other threads free blocks that were allocated here, so a resource per thread would not fit",
     0,
     0,
     no_cell},
    {"many threads",
     advice::resource_per_thread,
     {{{feature::contention, 0.2, any},
       {feature::allocation_share, 0.02, any},
       {feature::allocations, 10000, any},
       {feature::mean_size, 0, 4096}}},
     "several threads made {allocations} allocations in turn, and each freed its own blocks",
     0.3,
     0.85,
     thread_cell},
    {"all at the end",
     advice::monotonic,
     {{{feature::utilization, 0.8, any},
       {feature::allocation_share, 0.02, any},
       {feature::allocations, 10000, any},
       {feature::mean_size, 0, 1024}}},
     "{allocations} small blocks, nearly all of them in use until the end",
     0.3,
     0.75,
     monotonic_cell},
    {"temporaries",
     advice::arena_with_marks,
     {{{feature::utilization, 0, 0.01},
       {feature::median_lifetime_us, 0, 100},
       {feature::allocation_share, 0.02, any},
       {feature::allocations, 10000, any},
       {feature::mean_size, 0, 65536}}},
     "{allocations} blocks with a median lifetime of {lifetime}, few of them in use at once",
     0.3,
     0.65,
     arena_cell},
    {"churn",
     advice::multipool,
     {{{feature::utilization, 0, 0.8},
       {feature::allocation_share, 0.02, any},
       {feature::allocations, 10000, any},
       {feature::mean_size, 0, 4096}}},
     "{allocations} small blocks are allocated and freed, up to {live} of them in use at once",
     0.3,
     0.7,
     multipool_cell},
    {"nothing to be had", advice::leave_it, {}, "this site costs too little to be worth a change", 0, 0, no_cell},
};

double percentile(const block_sizes& sizes, double share) {
    double all = 0;
    for (const auto& [size, count] : sizes.counts) all += count;
    double seen = 0;
    for (const auto& [size, count] : sizes.counts) {
        seen += count;
        if (seen >= all * share) return static_cast<double>(size);
    }
    return 0;
}

double median_lifetime_us(const stack_totals& totals) {
    double all = 0;
    for (const double count : totals.lifetimes) all += count;
    double seen = 0;
    for (std::size_t i = 0; i < totals.lifetimes.size(); ++i) {
        seen += totals.lifetimes[i];
        if (all > 0 && seen >= all / 2) return std::ldexp(1.5, static_cast<int>(i)) / 1000;
    }
    return any;
}

// Elements that change when they are moved, told by their name, or by their bytes being different afterwards.
bool is_pinned(const site& of) {
    if (of.element.find("string") != std::string::npos || of.element.find("list") != std::string::npos ||
        of.element.find("std::map") != std::string::npos || of.element.find("std::set") != std::string::npos) {
        return true;
    }
    const auto bytes = [&](growth_class kind) { return of.totals.growth[static_cast<std::size_t>(kind)].bytes; };
    return of.what == doing::growing &&
           bytes(growth_class::doubled) + bytes(growth_class::same_stack) > 4 * bytes(growth_class::same_bytes) &&
           bytes(growth_class::same_bytes) == 0;
}

constexpr double allocation_ns = 30;    // what malloc and free take together, about: the lab's std::allocator

std::string replaced(std::string text, std::string_view what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
    return text;
}

}    // namespace

std::span<const rule> rules() { return table; }

double value_of(feature what, const site& of) {
    const stack_totals& totals = of.totals;
    switch (what) {
        case feature::none: return 0;
        case feature::foreign: return of.line == 0 && of.function.find(".so") != std::string::npos ? 1 : 0;
        case feature::reserving: return of.what == doing::reserving ? 1 : 0;
        case feature::rehashing: return of.what == doing::rehashing ? 1 : 0;
        case feature::text:
            return of.container.find("string") != std::string::npos && of.container.find("vector") == std::string::npos ? 1 : 0;
        case feature::named_growth:
            return of.what == doing::growing || totals.growth[static_cast<std::size_t>(growth_class::moved)].count > 0 ? 1 : 0;
        case feature::growths: return of.growth.count;
        case feature::copied_bytes: return of.growth.bytes;
        case feature::growing_share:
            if (of.growth.count <= 0) return 0;
            if (of.growth.ns <= 0) return of.growth.bytes >= mib ? 1 : 0;    // no times: an import
            return of.seconds > 0 ? of.growth.ns * 1e-9 / of.seconds : 0;
        case feature::arrays: return totals.arrays;
        case feature::most_live: return totals.most_live;
        case feature::largest_final: {
            double largest = static_cast<double>(totals.largest_final);
            if (of.growth.count > 0 && !totals.sizes.counts.empty())
                largest = std::max(largest, static_cast<double>(totals.sizes.counts.rbegin()->first));
            return largest;
        }
        case feature::final_spread: {
            const double low = percentile(totals.final_sizes, 0.1);
            return low > 0 ? percentile(totals.final_sizes, 0.9) / low : any;
        }
        case feature::pinned: return is_pinned(of) ? 1 : 0;
        case feature::allocations: return totals.allocations;
        case feature::mean_size: return totals.allocations > 0 ? totals.bytes / totals.allocations : 0;
        case feature::allocation_share: return of.seconds > 0 ? totals.allocations * allocation_ns * 1e-9 / of.seconds : 0;
        case feature::variation: return of.five.variation;
        case feature::utilization: return of.five.utilization;
        case feature::contention: return of.five.contention;
        case feature::freed_elsewhere: return totals.frees > 0 ? totals.frees_elsewhere / totals.frees : 0;
        case feature::median_lifetime_us: return median_lifetime_us(totals);
    }
    return 0;
}

bool meets(const rule& one, const site& of) {
    return std::all_of(one.when.begin(), one.when.end(), [&](const condition& each) {
        if (each.what == feature::none) return true;
        const double value = value_of(each.what, of);
        return value >= each.least && value <= each.most;
    });
}

recommendation advise(const site& of) {
    recommendation result;
    for (const rule& one : table) {
        if (!meets(one, of)) continue;
        result.because_of = &one;
        result.what = one.what;
        break;
    }
    const rule& one = *result.because_of;
    result.text = name_of(one.what);
    if (one.what == advice::reserve) {
        // As many elements as nine of ten arrays ended with; where ends are not known, as the largest block had room
        // for.
        double room = percentile(of.totals.final_sizes, 0.9);
        if (room <= 0) room = value_of(feature::largest_final, of);
        const double elements = room / of.element_size;
        result.text = "reserve(" + count_text(std::ceil(elements)) + ")";
        if (!of.container.empty() && (of.element_size > 1 || value_of(feature::text, of) > 0))
            result.text = replaced(result.text, ",", "'");
        else result.text = "reserve room for " + bytes_text(room);
    }
    std::string evidence(one.because);
    evidence = replaced(evidence, "{growths}", count_text(of.growth.count));
    evidence = replaced(evidence, "{copied}", bytes_text(of.growth.bytes));
    evidence = replaced(evidence, "{arrays}", count_text(of.totals.arrays));
    evidence = replaced(evidence, "{largest}", bytes_text(value_of(feature::largest_final, of)));
    evidence = replaced(evidence, "{allocations}", count_text(of.totals.allocations));
    evidence = replaced(evidence, "{live}", count_text(of.totals.most_live));
    evidence = replaced(evidence, "{lifetime}", time_text(std::min(median_lifetime_us(of.totals), 1e15) * 1000));
    result.evidence = evidence;
    if (one.what != advice::leave_it) {
        const bool grows = one.what == advice::reserve || one.what == advice::vector || one.what == advice::settled_vector;
        const double cost = grows ? of.growth.ns : of.totals.allocations * allocation_ns;
        result.saves_least_ns = cost * one.saves_least;
        result.saves_most_ns = cost * one.saves_most;
        if (grows) result.saved_bytes_copied = of.growth.bytes;
    }
    return result;
}

std::string_view name_of(advice what) {
    switch (what) {
        case advice::leave_it: return "leave it";
        case advice::reserve: return "reserve(n)";
        case advice::vector: return "headroom::vector";
        case advice::settled_vector: return "headroom::settled_vector";
        case advice::arena_with_marks: return "headroom::arena_resource with marks";
        case advice::monotonic: return "headroom::monotonic_resource, winked out";
        case advice::multipool: return "headroom::multipool_resource";
        case advice::resource_per_thread: return "one headroom::multipool_resource per thread";
    }
    return "";
}

std::string_view name_of(feature what) {
    constexpr std::string_view names[] = {"none",
                                          "foreign",
                                          "reserving",
                                          "rehashing",
                                          "text",
                                          "named_growth",
                                          "growths",
                                          "copied_bytes",
                                          "growing_share",
                                          "arrays",
                                          "most_live",
                                          "largest_final",
                                          "final_spread",
                                          "pinned",
                                          "allocations",
                                          "mean_size",
                                          "allocation_share",
                                          "variation",
                                          "utilization",
                                          "contention",
                                          "freed_elsewhere",
                                          "median_lifetime_us"};
    return names[static_cast<std::size_t>(what)];
}

std::string bytes_text(double bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1023.5 && unit < 4) {
        bytes /= 1024;
        ++unit;
    }
    char text[48];
    std::snprintf(text, sizeof text, unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
    return text;
}

std::string time_text(double ns) {
    char text[48];
    if (ns < 1000) std::snprintf(text, sizeof text, "%.0f ns", ns);
    else if (ns < 1e6) std::snprintf(text, sizeof text, ns < 1e5 ? "%.1f \u00b5s" : "%.0f \u00b5s", ns / 1e3);
    else if (ns < 1e9) std::snprintf(text, sizeof text, ns < 1e8 ? "%.1f ms" : "%.0f ms", ns / 1e6);
    else std::snprintf(text, sizeof text, "%.2f s", ns / 1e9);
    return text;
}

std::string count_text(double count) {
    std::string digits = std::to_string(static_cast<long long>(std::llround(count)));
    for (std::size_t at = digits.size(); at > 3 && digits[at - 4] != '-';) digits.insert(at -= 3, ",");
    return digits;
}

}    // namespace headroom::profile
