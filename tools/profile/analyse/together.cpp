// SPDX-License-Identifier: MIT
// All small blocks of a program together: what is little at each of a hundred sites may be a fifth of the program.
#include <algorithm>
#include <cstdio>
#include <map>

#include "advice.hpp"

namespace headroom::profile {
namespace {

// A malloc that can be preloaded, where the lab has containers that live and die.
constexpr lab_cell preload_cell{"lives", "std::allocator AS1 under mimalloc 3.4", "container=map elements=1000 order=random",
                                0.68};

constexpr double beyond_caches_bytes = 1 << 20;    // of one processor's own

std::string percent(double share) {
    char text[16];
    std::snprintf(text, sizeof text, "%.0f%%", share * 100);
    return text;
}

// Everything but whether it is worth while.
bool meets_but_for_size(const rule& one, const site& of) {
    rule without = one;
    for (condition& each : without.when) {
        if (each.what == feature::allocation_share || each.what == feature::allocations) each = {};
    }
    return meets(without, of);
}

site sum_of(const std::vector<const site*>& sites, const profile_result& profile) {
    site sum;
    for (const site* const one : sites) sum.totals.merge(one->totals);
    sum.seconds = sites.front()->seconds;
    double ns = 0;
    for (const site* const one : sites) ns += one->totals.allocations * one->allocation_ns;
    sum.allocation_ns = sum.totals.allocations > 0 ? ns / sum.totals.allocations : profile.allocation_ns;
    sum.five = five_dimensions(sum.totals, profile.seconds);
    return sum;
}

// The innermost function of the program that nine of ten of the blocks are allocated in.
std::string function_around(const std::vector<const site*>& sites) {
    struct presence {
        double blocks = 0;
        double depths = 0;
    };
    std::map<std::string_view, presence> functions;
    double all = 0;
    for (const site* const one : sites) {
        for (const stack_share& stack : one->stacks) {
            all += stack.allocations;
            std::map<std::string_view, std::size_t> innermost;
            for (std::size_t i = 0; i < stack.frames.size(); ++i) {
                const std::string_view name = stack.frames[i];
                if (name == "?" || name.starts_with("std::") || name.starts_with("_") || name.starts_with("operator ") ||
                    name.starts_with("headroom::memory") || name.find('/') != std::string_view::npos)
                    continue;
                innermost[name] = i;
            }
            for (const auto& [name, depth] : innermost) {
                functions[name].blocks += stack.allocations;
                functions[name].depths += stack.allocations * static_cast<double>(depth);
            }
        }
    }
    std::string_view best;
    double deepest = -1;
    for (const auto& [name, present] : functions) {
        if (present.blocks < 0.9 * all || present.depths / present.blocks <= deepest) continue;
        best = name;
        deepest = present.depths / present.blocks;
    }
    return std::string(best);
}

// "std::pmr::map<...>" of what the profile calls the container.
std::string pmr_name(const std::string& container) {
    const std::string_view name = outer_name(container);
    for (const std::string_view each : {"unordered_map", "map", "forward_list", "list", "deque", "vector", "string", "set",
                                        "unordered_set", "multimap", "multiset", "unordered_multimap", "unordered_multiset"}) {
        if (name == each) return "std::pmr::" + std::string(each) + (each == "string" ? "" : "<...>");
    }
    return {};
}

std::string code_for(const shared_recommendation& what) {
    const char* header = "multipool.hpp";
    const char* type = "headroom::multipool_resource";
    std::string where = what.function.empty() ? "" : "    // in " + what.function.substr(what.function.rfind(':') + 1) + "()";
    switch (what.what) {
        case advice::monotonic:
            header = "monotonic.hpp";
            type = "headroom::monotonic_resource";
            break;
        case advice::arena_with_marks:
            header = "arena.hpp";
            type = "headroom::arena_resource";
            break;
        case advice::resource_per_thread: where = "    // one in each thread"; break;
        default: break;
    }
    std::string code = std::string("#include <headroom/") + header + ">\n" + type + " memory;" + where;
    std::map<std::string, double> names;
    double others = 0;
    double all = 0;
    for (const site* const one : what.sites) {
        const std::string name = pmr_name(one->container);
        all += one->totals.allocations;
        if (name.empty()) others += one->totals.allocations;
        else names[name] += one->totals.allocations;
    }
    for (const auto& [name, blocks] : names) code += "\n" + name + " x(&memory);    // as std::" + name.substr(10);
    if (others > all / 20)
        code += "\nstd::pmr::polymorphic_allocator<> make(&memory);    // make.new_object<T>(...), instead of new T(...)";
    if (what.what == advice::arena_with_marks)
        code += "\nconst auto before = memory.mark();    // and memory.rewind(before), when the temporaries are gone";
    return code;
}

std::string phase_of(const site& sum, const std::string& function, const profile_result& profile) {
    std::string text;
    if (!function.empty() && function != "main") text = "; all allocated in " + function + "()";
    if (sum.totals.live <= sum.totals.allocations / 100 && sum.totals.last_death < 0.9 * profile.seconds)
        text += ", and gone after " + time_text(sum.totals.last_death * 1e9) + " of " + time_text(profile.seconds * 1e9);
    return text;
}

}    // namespace

const lab_cell& other_malloc_cell() { return preload_cell; }

std::vector<shared_recommendation> advise_together(const profile_result& profile) {
    const std::span<const rule> all = together_rules();
    std::vector<std::vector<const site*>> groups(all.size());
    for (const site& one : profile.sites) {
        if (one.headroom || value_of(feature::foreign, one) != 0 || advise(one).what != advice::leave_it) continue;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!meets_but_for_size(all[i], one)) continue;
            groups[i].push_back(&one);
            break;
        }
    }
    std::vector<shared_recommendation> result;
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<const site*>& sites = groups[i];
        if (sites.empty()) continue;
        const site sum = sum_of(sites, profile);
        if (value_of(feature::allocation_share, sum) < 0.02 || sum.totals.allocations < 10000) {
            // Too little for a resource of its own; but a multipool serves any life that stays in its thread.
            if (i != 0 && i + 1 < all.size()) groups.back().insert(groups.back().end(), sites.begin(), sites.end());
            continue;
        }
        const rule& one = all[i];
        if (one.what == advice::leave_it) continue;
        shared_recommendation what;
        what.because_of = &one;
        what.what = one.what;
        what.sites = std::move(sites);
        std::sort(what.sites.begin(), what.sites.end(),
                  [](const site* a, const site* b) { return a->totals.allocations > b->totals.allocations; });
        what.function = function_around(what.sites);
        what.text = what.what == advice::resource_per_thread ? "a headroom::multipool_resource in each thread"
                                                             : "one " + std::string(name_of(what.what));
        what.evidence = filled_in(std::string(one.because), sum);
        const std::string phase = phase_of(sum, what.function, profile);
        if (const std::size_t at = what.evidence.find("{phase}"); at != std::string::npos) what.evidence.replace(at, 7, phase);
        const double cost = std::min(sum.totals.allocations * sum.allocation_ns, sum.seconds * 1e9);
        // Where the blocks are more than a cache holds, whatever walks through them gains as well, as they lie together, and on
        // pages that cost less to be touched first: 0.4 to 3.1 times what malloc and free took was saved in ten programs in which
        // the advice was followed (one of them lost in a second series).
        const bool beyond_caches = sum.totals.most_live_bytes >= beyond_caches_bytes;
        what.saves_least_ns = cost * one.saves_least * (beyond_caches ? 1.5 : 1);
        what.saves_most_ns = std::min(cost * one.saves_most * (beyond_caches ? 3.5 : 1), sum.seconds * 1e9 / 2);
        if (what.saves_least_ns > what.saves_most_ns) what.saves_least_ns = what.saves_most_ns;
        if (beyond_caches) what.evidence += "; they lie together then, which also saves time where they are used";
        what.code = code_for(what);
        result.push_back(std::move(what));
    }
    std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.saves_most_ns > b.saves_most_ns; });
    return result;
}

malloc_estimate other_malloc(const profile_result& profile) {
    malloc_estimate result;
    if (profile.processor_seconds <= 0 || !profile.unseen.empty()) return result;    // a share of a part says nothing
    const double cost = std::min(profile.allocations * profile.allocation_ns, profile.processor_seconds * 1e9);
    result.share = cost * 1e-9 / profile.processor_seconds;
    if (result.share < 0.05 || profile.allocations < 10000) return result;
    if (profile.other_malloc) return result;    // what a third would save was not measured
    // In five programs with many blocks, which then lie closer together, another malloc saved 0.3 to 2.4 times that; in one with few
    // short-lived blocks, nothing.
    double small_bytes = 0;
    for (const site& one : profile.sites)
        if (value_of(feature::mean_size, one) <= 4096) small_bytes += one.totals.most_live_bytes;
    const bool beyond_caches = small_bytes >= beyond_caches_bytes;
    result.saves_least_ns = beyond_caches ? cost * 0.25 : 0;
    result.saves_most_ns = std::min(cost * (beyond_caches ? 2.4 : 0.65), profile.processor_seconds * 1e9 / 2);
    result.text = "malloc and free take about " + percent(result.share) + " of the processor time. Another malloc may save " +
                  (beyond_caches ? time_text(result.saves_least_ns) + " to " : "up to ") + time_text(result.saves_most_ns) +
                  " with nothing changed: LD_PRELOAD=libmimalloc.so.2 (docs/in-the-wild.md)";
    return result;
}

}    // namespace headroom::profile
