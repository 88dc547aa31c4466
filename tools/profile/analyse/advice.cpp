// SPDX-License-Identifier: MIT
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
constexpr lab_cell vector_cell{"push-back", "headroom::vector", "element=int elements=1000000", 0.67};
constexpr lab_cell settled_cell{"push-back", "headroom::settled_vector", "element=string elements=1000000", 0.16};
constexpr lab_cell settled_small_cell{"push-back", "headroom::settled_vector", "element=string elements=10000", 0.03};
constexpr lab_cell small_cell{"push-back", "headroom::vector", "element=int elements=10000", 0.72};
constexpr lab_cell monotonic_cell{
    "data-structures", "headroom::monotonic_resource AS4",
    "contents=unordered_set<int> heap=clean leaves_exponent=18 size_exponent=10 structure=DS3 trimming=True", 0.31};
constexpr lab_cell arena_cell{"data-structures", "headroom::arena_resource AS3",
                              "contents=vector<string> heap=clean leaves_exponent=18 size_exponent=6 structure=DS2 trimming=True",
                              0.69};
constexpr lab_cell multipool_cell{
    "data-structures", "headroom::multipool_resource AS7",
    "contents=unordered_set<int> heap=clean leaves_exponent=18 size_exponent=10 structure=DS3 trimming=True", 0.35};
constexpr lab_cell thread_cell{"contention", "headroom::multipool_resource AS7", "N_exponent=18 S_exponent=6 W=2 sharing=private",
                               0.07};

// The first rule that a site meets is its advice. Shares saved are of the time in growing; their ranges are wider than the
// cells, for no program is the lab's.
constexpr rule table[] = {
    {"Headroom's", advice::leave_it, {{{feature::own, 1, 1}}}, "this is Headroom's own memory", 0, 0, no_cell},
    {"not yours",
     advice::leave_it,
     {{{feature::foreign, 1, 1}}},
     "the allocation site is in a library without source lines, whose code you cannot change here",
     0,
     0,
     no_cell},
    {"reserved already", advice::leave_it, {{{feature::reserving, 1, 1}}}, "reserve() is called here already", 0, 0, no_cell},
    {"few hash tables",
     advice::reserve,
     {{{feature::rehashing, 1, 1}, {feature::growing_share, worth_it, any}, {feature::arrays, 0, 7}}},
     "a hash table allocated its buckets again {growths} times",
     0.5,
     0.9,
     no_cell},
    {"hash tables of one size",
     advice::reserve,
     {{{feature::rehashing, 1, 1}, {feature::growing_share, worth_it, any}, {feature::final_spread, 1, 1.5}}},
     "{arrays} hash tables allocated their buckets again {growths} times in all, and ended with nearly the same size",
     0.5,
     0.9,
     no_cell},
    // Of many tables of all sizes: room for the large ones in each would take more than it saves.
    {"hash tables of all sizes",
     advice::leave_it,
     {{{feature::rehashing, 1, 1}}},
     "hash tables allocated their buckets again {growths} times, which is too little to gain by, or their sizes are too different",
     0,
     0,
     no_cell},
    {"same size each time",
     advice::reserve,
     {{{feature::growing_share, worth_it, any},
       {feature::arrays, 8, any},
       {feature::final_spread, 1, 1.5},
       {feature::has_reserve, 1, 1},
       {feature::largest_final, 0,
        mib}}},    // (a block's size tells the array's within a factor of two: of large ones too little)
     "{arrays} arrays grew {growths} times in all, and ended with nearly the same size",
     0.4,
     0.9,
     small_cell},
    {"long text",
     advice::reserve,
     {{{feature::text, 1, 1},
       {feature::growing_share, worth_it, any},
       {feature::most_live, 0, 64},
       {feature::has_reserve, 1, 1}}},
     "text was copied {growths} times while it grew ({copied})",
     0.4,
     0.9,
     small_cell},
    {"large, and a growth was long",
     advice::settled_vector,
     {{{feature::growing_share, worth_it, any},
       {feature::largest_final, mib, any},
       {feature::pinned, 1, 1},
       {feature::longest_ms, 5, any},
       {feature::most_live, 0, 4096}}},
     "elements that cannot be moved as bytes were moved one by one {growths} times, the longest took {longest}; the largest array "
     "held {largest}",
     0.5,
     0.9,
     settled_cell},
    {"large",
     advice::vector,
     {{{feature::growing_share, worth_it, any}, {feature::largest_final, mib, any}}},
     "{copied} were copied by {growths} growths; the largest array held {largest}",
     0.5,
     0.95,
     vector_cell},
    {"few arrays, not large",
     advice::reserve,
     {{{feature::growing_share, worth_it, any},
       {feature::arrays, 0, 7},
       {feature::final_spread, 1, 1.5},
       {feature::has_reserve, 1, 1}}},
     "{arrays} arrays grew {growths} times to {largest}",
     0.4,
     0.9,
     small_cell},
    {"few, and moved one by one",
     advice::settled_vector,
     {{{feature::growing_share, worth_it, any},
       {feature::pinned, 1, 1},
       {feature::largest_final, 65536, any},
       {feature::most_live, 0, 16}}},
     "elements that cannot be moved as bytes were moved one by one {growths} times, in arrays of up to {largest}",
     0.4,
     0.9,
     settled_small_cell},
    {"many, and moved one by one",
     advice::leave_it,
     {{{feature::pinned, 1, 1}}},
     "elements that cannot be moved as bytes are moved one by one by any vector that grows, and these are not large",
     0,
     0,
     no_cell},
    {"arrays of all sizes, not large",
     advice::vector,
     {{{feature::growing_share, worth_it, any}, {feature::largest_final, 4096, any}}},
     "{arrays} arrays of different sizes grew {growths} times, up to {largest}",
     0.2,
     0.7,
     small_cell},
    {"nothing to be had", advice::leave_it, {}, "this site costs too little to be worth a change", 0, 0, no_cell},
};

// The first rule that a site's blocks meet, but for the last two conditions, puts the site into its group; a group that meets them
// too is one recommendation. Sites of groups that do not are put together with the last rule's. Shares saved are of what malloc and
// free took.
constexpr condition enough_share{feature::allocation_share, 0.02, any};
constexpr condition enough_blocks{feature::allocations, 10000, any};
constexpr rule together[] = {
    {"go to other threads",
     advice::leave_it,
     {{{feature::freed_elsewhere, 0.05, any}, enough_share, enough_blocks}},
     "other threads free blocks that were allocated here: another malloc may help, a resource per thread would not fit",
     0,
     0,
     no_cell},
    {"many threads",
     advice::resource_per_thread,
     {{{feature::contention, 0.2, any}, {feature::mean_size, 0, 4096}, enough_share, enough_blocks}},
     "several threads made {allocations} allocations in turn, and each freed its own blocks",
     0.3,
     0.85,
     thread_cell},
    {"all at the end",
     advice::monotonic,
     {{{feature::utilization, 0.8, any}, {feature::mean_size, 0, 1024}, enough_share, enough_blocks}},
     "{allocations} small blocks, nearly all of them in use until the end{phase}",
     0.3,
     0.75,
     monotonic_cell},
    {"temporaries",
     advice::arena_with_marks,
     {{{feature::utilization, 0, 0.01},
       {feature::median_lifetime_us, 0, 100},
       {feature::most_live, 0, 1000},    // (how long they live depends on how fast it is recorded, how many do not)
       {feature::mean_size, 0, 65536},
       enough_share,
       enough_blocks}},
     "{allocations} blocks with a median lifetime of {lifetime}, few of them in use at once",
     0.2,
     0.6,
     arena_cell},
    {"churn",
     advice::multipool,
     {{{feature::mean_size, 0, 4096}, enough_share, enough_blocks}},
     "{allocations} small blocks are allocated and freed, up to {live} of them in use at once{phase}",
     0.3,
     0.75,
     multipool_cell},
};

// The size up to which this share of all is: of arrays, or of the bytes in them.
double percentile(const block_sizes& sizes, double share, bool of_bytes) {
    const auto weight = [&](const auto& entry) { return entry.second * (of_bytes ? static_cast<double>(entry.first) : 1); };
    double all = 0;
    for (const auto& each : sizes.counts) all += weight(each);
    double seen = 0;
    for (const auto& each : sizes.counts) {
        seen += weight(each);
        if (seen >= all * share) return static_cast<double>(each.first);
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

// The names of a type's template arguments, or of what an array holds.
std::vector<std::string_view> arguments_of(std::string_view type) {
    std::vector<std::string_view> result;
    const std::size_t open = type.find('<');
    if (open == std::string_view::npos) return result;
    int depth = 0;
    std::size_t begin = open + 1;
    for (std::size_t i = open; i < type.size(); ++i) {
        if (type[i] == '<') ++depth;
        if (type[i] == '>') --depth;
        if ((type[i] == ',' && depth == 1) || (type[i] == '>' && depth == 0)) {
            result.push_back(type.substr(begin, i - begin));
            begin = i + 1;
            if (depth == 0) break;
        }
    }
    return result;
}

// True if elements of the named type are known not to be relocatable. False for unknown types.
bool is_pinned(std::string_view type) {
    while (!type.empty() && type.front() == ' ') type.remove_prefix(1);
    while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
    if (type.starts_with("const ")) type.remove_prefix(6);
    if (type.ends_with('*') || type.ends_with('&') || !type.starts_with("std::")) return false;
    const std::string_view name = type.substr(5, type.find('<') - 5);
    for (const std::string_view each : {"string", "basic_string", "list", "map", "set", "multimap", "multiset", "unordered_map",
                                        "unordered_set", "unordered_multimap", "unordered_multiset", "any", "function"}) {
        if (name == each) return true;
    }
    for (const std::string_view each : {"pair", "tuple", "array", "optional", "variant"}) {
        if (name != each) continue;
        const std::vector<std::string_view> parts = arguments_of(type);
        return std::any_of(parts.begin(), parts.end(), is_pinned);
    }
    return false;
}

// What growing cost: copying, and a malloc and a free each time. Never more than the run.
double growing_ns(const site& of) {
    if (of.growth.ns <= 0) return 0;    // no times: an import
    const double ns = of.growth.ns + of.growth.count * of.allocation_ns;
    return of.seconds > 0 ? std::min(ns, of.seconds * 1e9) : ns;
}

bool is_text(const site& of) { return outer_name(of.container).ends_with("string"); }

// The name of a class that may or may not be movable as bytes.
bool is_unknown_class(std::string_view type) {
    if (type.empty() || type.ends_with('*') || is_pinned(type)) return type.empty();
    for (const std::string_view each : {"bool", "char", "short", "int", "long", "float", "double", "unsigned", "signed",
                                        "wchar_t", "std::byte", "std::unique_ptr", "std::shared_ptr", "std::vector"}) {
        if (type.starts_with(each)) return false;
    }
    return true;
}
// Bytes that went over unchanged have been seen.
bool moved_as_bytes(const site& of) {
    return of.totals.growth[static_cast<std::size_t>(growth_class::same_bytes)].count > 0 ||
           of.totals.growth[static_cast<std::size_t>(growth_class::moved)].count > 0;
}

std::string replaced(std::string text, std::string_view what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
    return text;
}

}    // namespace

std::string_view outer_name(std::string_view container) {
    if (!container.starts_with("std::")) return {};
    container.remove_prefix(container.starts_with("std::pmr::") ? 10 : 5);
    return container.substr(0, container.find_first_of("< ,"));
}

std::span<const rule> rules() { return table; }
std::span<const rule> together_rules() { return together; }

double value_of(feature what, const site& of) {
    const stack_totals& totals = of.totals;
    switch (what) {
        case feature::none: return 0;
        case feature::own: return of.headroom ? 1 : 0;
        case feature::foreign: return of.line == 0 && of.function.find(".so") != std::string::npos ? 1 : 0;
        case feature::reserving: return of.what == doing::reserving ? 1 : 0;
        case feature::rehashing: return of.what == doing::rehashing ? 1 : 0;
        case feature::text: return is_text(of) ? 1 : 0;
        case feature::has_reserve:
            return of.adapter.empty() && outer_name(of.container) != "deque" && !outer_name(of.container).ends_with("list") ? 1
                                                                                                                            : 0;
        case feature::longest_ms: return static_cast<double>(of.growth.longest_ns) * 1e-6;
        case feature::growing_share:
            if (of.growth.count <= 0) return 0;
            if (of.growth.ns <= 0) return of.growth.bytes >= mib ? 1 : 0;    // no times: an import
            return of.seconds > 0 ? growing_ns(of) * 1e-9 / of.seconds : 0;
        case feature::arrays: return totals.arrays;
        case feature::most_live: return totals.most_live;
        case feature::largest_final: {
            double largest = static_cast<double>(totals.largest_final);
            if (of.growth.count > 0 && !totals.sizes.counts.empty())
                largest = std::max(largest, static_cast<double>(totals.sizes.counts.rbegin()->first));
            return largest;
        }
        case feature::final_spread: {
            const double low = percentile(totals.final_sizes, 0.1, false);
            return low > 0 ? percentile(totals.final_sizes, 0.9, true) / low : any;
        }
        case feature::pinned: return is_pinned(of.element) && !moved_as_bytes(of) ? 1 : 0;
        case feature::allocations: return totals.allocations;
        case feature::mean_size: return totals.allocations > 0 ? totals.bytes / totals.allocations : 0;
        case feature::allocation_share: return of.seconds > 0 ? totals.allocations * of.allocation_ns * 1e-9 / of.seconds : 0;
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

std::string filled_in(std::string text, const site& of) {
    text = replaced(text, "{growths}", count_text(of.growth.count));
    text = replaced(text, "{copied}", bytes_text(of.growth.bytes));
    text = replaced(text, "{arrays}", count_text(of.totals.arrays));
    text = replaced(text, "{largest}", bytes_text(value_of(feature::largest_final, of)));
    text = replaced(text, "{longest}", time_text(static_cast<double>(of.growth.longest_ns)));
    text = replaced(text, "{allocations}", count_text(of.totals.allocations));
    text = replaced(text, "{live}", count_text(of.totals.most_live));
    return replaced(text, "{lifetime}", time_text(std::min(median_lifetime_us(of.totals), 1e15) * 1000));
}

namespace {

// How much to reserve: as nine of ten bytes were in arrays up to that size; where ends are not known, as the largest block.
void advise_reserve(recommendation& result, const site& of) {
    double room = percentile(of.totals.final_sizes, 0.9, true);
    if (room <= 0) room = value_of(feature::largest_final, of);
    const bool text = is_text(of);
    const double elements = std::floor((room - (text ? 1 : 0)) / of.element_size);
    const std::string count = replaced(count_text(elements), ",", "'");
    if (of.container.empty() || (of.element_size <= 1 && !text)) {
        result.text = "reserve room for " + bytes_text(room);
    } else {
        result.text = "reserve(" + count + ")";
        const std::string variable = text ? "text" : of.what == doing::rehashing ? "table" : "v";
        result.code = variable + (".reserve(" + count + ");    // before it is filled; " + of.container);
    }
    if (of.totals.arrays < 8 && outer_name(of.container) == "vector")
        result.evidence += " (in this run: where the number is not known before, headroom::vector)";
    // The heap keeps the holes that large blocks of slightly different sizes leave, and none of them serves the next.
    if (room >= 65536 && of.totals.arrays >= 8 && of.totals.arrays >= 4 * of.totals.most_live)
        result.evidence +=
            ". Reserve one round size: rooms for exactly what each needs leave holes in malloc's heap, each a little "
            "too small for the next";
}

void advise_vector(recommendation& result, const site& of) {
    const bool settled = result.what == advice::settled_vector;
    const std::string name = settled ? "headroom::settled_vector" : "headroom::vector";
    if (!of.container.starts_with("std::vector<")) return;
    const std::string type = name + "<" + of.element + ">";
    result.code = !of.adapter.empty() ? of.adapter.substr(0, of.adapter.find('<')) + "<" + of.element + ", " + type +
                                            ">    // instead of " + of.adapter
                                      : type + "    // instead of " + of.container;
    result.code += settled ? "; #include <headroom/settled_vector.hpp>" : "; #include <headroom/vector.hpp>";
}

}    // namespace

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
    result.evidence = filled_in(std::string(one.because), of);
    if (one.what == advice::leave_it) return result;
    if (one.what == advice::reserve) advise_reserve(result, of);
    else advise_vector(result, of);
    result.code = replaced(result.code, "(anonymous namespace)::", "");
    const double cost = growing_ns(of);
    // A class that nothing is known of may have to be moved one by one, and then a small headroom::vector saves nothing.
    const bool unsure = one.what == advice::vector && value_of(feature::largest_final, of) < mib &&
                        is_unknown_class(of.element) && !moved_as_bytes(of);
    result.saves_least_ns = unsure ? 0 : cost * one.saves_least;
    result.saves_most_ns = cost * one.saves_most;
    // From 4 MiB on huge pages may save half of what the first touch of the array itself costs, too: about what copying costs.
    if (one.what == advice::vector && value_of(feature::largest_final, of) >= 4 * mib && of.growth.bytes > 0) {
        const double used = of.totals.final_bytes - of.totals.slack_bound / 2;
        result.saves_most_ns = std::min(result.saves_most_ns + used * 0.5 * of.growth.ns / of.growth.bytes, of.seconds * 1e9);
    }
    result.saved_bytes_copied = of.growth.bytes;
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
