// SPDX-License-Identifier: MIT
// What to do about a site that grows, and about all small blocks of a program together: the first rule of a table whose
// conditions are met.
//
// The tables are data. A test reads them: every rule can be reached, every measurement that a rule leans on is in the
// published report, and the last rule takes whatever is left.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "sites.hpp"

namespace headroom::profile {

enum class advice { leave_it, reserve, vector, settled_vector, arena_with_marks, monotonic, multipool, resource_per_thread };

// Properties of a site that rules test. All are numbers; a flag is 0 or 1.
enum class feature {
    none,
    own,          // Headroom's own memory
    foreign,      // the code that allocates is a library's without source lines, not the program's
    reserving,    // reserve() has been called already
    rehashing,
    text,             // a std::string or its like
    has_reserve,      // the container has a function reserve(): not what a priority_queue holds
    growing_share,    // time in growing / run's processor time; 1 where times are not known
    longest_ms,       // the longest single growth
    arrays,           // that grew, and have died or were alive at the end
    most_live,        // blocks alive at once
    largest_final,    // bytes of the largest array that had grown
    final_spread,     // of ten bytes nine are in arrays up to this size / of ten arrays one is smaller than this
    pinned,           // elements that cannot be moved as bytes, told by their names: strings, maps, lists
    allocations,
    mean_size,           // bytes
    allocation_share,    // of the run's processor time, at what a malloc and a free took in it
    utilization,
    contention,
    freed_elsewhere,    // share of frees by another thread than allocated
    median_lifetime_us
};

struct condition {
    feature what = feature::none;
    double least = 0;
    double most = 0;
};

inline constexpr double any = 1e300;

// The result set in docs/report/results that the ratios of all lab_cells are of.
inline constexpr std::string_view measured_on = "amd-epyc";

// A cell of the published report: what was measured there stands behind the estimate.
struct lab_cell {
    std::string_view experiment;
    std::string_view contender;
    std::string_view parameters;    // "element=int elements=1000000"
    double ratio;                   // time / the baseline's, as published
};

struct rule {
    std::string_view name;
    advice what;
    std::array<condition, 6> when;
    std::string_view because;    // evidence; {growths} and the like are filled in
    double saves_least;          // share of the cost that goes away, from
    double saves_most;           // to
    lab_cell cell;
};

std::span<const rule> rules();             // for sites
std::span<const rule> together_rules();    // for the small blocks of many sites

double value_of(feature what, const site& of);
bool meets(const rule& one, const site& of);

struct recommendation {
    const rule* because_of = nullptr;
    advice what = advice::leave_it;
    std::string text;    // "reserve(100000)"
    std::string evidence;
    std::string code;    // what to write, in a line or a few; empty where nothing is known of the container
    double saves_least_ns = 0;
    double saves_most_ns = 0;
    double saved_bytes_copied = 0;
};

recommendation advise(const site& of);

// The evidence with its numbers.
std::string filled_in(std::string text, const site& of);

// One recommendation for all sites whose blocks live alike.
struct shared_recommendation : recommendation {
    std::vector<const site*> sites;    // the most allocations first
    std::string function;              // in which nearly all of them allocate: "analyse"
};
// The dearest first. Only what would gain.
std::vector<shared_recommendation> advise_together(const profile_result& profile);

// What another malloc would do, with no change of the program.
struct malloc_estimate {
    double share = 0;    // of the processor time, that malloc and free took
    double saves_least_ns = 0;
    double saves_most_ns = 0;
    std::string text;    // empty where it is not worth a word
};
malloc_estimate other_malloc(const profile_result& profile);
const lab_cell& other_malloc_cell();

// "vector" of "std::vector<std::list<int>>": what the container itself is, whatever it holds. Empty where that is not std's.
std::string_view outer_name(std::string_view container);

std::string_view name_of(advice what);

// Readable numbers: "1.5 MiB", "3.2 ms", "12,345".
std::string bytes_text(double bytes);
std::string time_text(double ns);
std::string count_text(double count);

}    // namespace headroom::profile
