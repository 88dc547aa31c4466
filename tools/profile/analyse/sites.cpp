// SPDX-License-Identifier: MIT
#include "sites.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "printable.hpp"
#include "symbols.hpp"
#include "unseen.hpp"

namespace headroom::profile {

using tools::printable;

std::string site::place() const {
    if (file.empty() || line == 0) return function;
    return file.substr(file.rfind('/') + 1) + ":" + std::to_string(line);
}

bool counts_as_growth(growth_class kind, doing what, bool has_names, const stack_totals& totals) {
    if (kind == growth_class::in_place) return false;
    if (kind == growth_class::moved) return what != doing::making;
    switch (what) {
        case doing::growing:
        case doing::reserving:
        case doing::rehashing: return true;
        case doing::making: return false;
        case doing::unknown: break;
    }
    const auto number = [&](growth_class of) { return totals.growth[static_cast<std::size_t>(of)].count; };
    const double copies = number(growth_class::same_bytes);
    const double doubles = number(growth_class::doubled);
    const double others = number(growth_class::adjacent);
    // An array written by hand, or a container that is not known: the bytes went over, again and again.
    if (copies >= 2 && copies >= 4 * others) return kind == growth_class::same_bytes || kind == growth_class::doubled;
    // Without names, a run of exact doublings: elements that change when they are moved, strings for one.
    if (!has_names && copies + doubles >= 3 && copies + doubles >= 4 * others) {
        return kind == growth_class::same_bytes || kind == growth_class::doubled;
    }
    return false;
}

double allocation_ns_of(const stack_totals& totals, double average) {
    constexpr double enough = 50;
    if (totals.timed_mallocs < enough) return average;
    const double malloc_ns = totals.timed_malloc_ns / totals.timed_mallocs;
    // What lives until the process ends is never freed.
    if (totals.frees <= totals.allocations / 100) return malloc_ns;
    if (totals.timed_frees < enough) return average;
    return malloc_ns + totals.timed_free_ns / totals.timed_frees * std::min(1.0, totals.frees / totals.allocations);
}

dimensions five_dimensions(const stack_totals& totals, double seconds) {
    dimensions five;
    if (totals.allocations <= 0) return five;
    five.density = seconds > 0 ? totals.allocations / (seconds * 1000) : 0;
    double all = 0;
    for (const auto& [size, count] : totals.sizes.counts) all += count;
    for (const auto& [size, count] : totals.sizes.counts) {
        if (count > 0) five.variation -= count / all * std::log2(count / all);
    }
    five.variation = std::max(five.variation, 0.0);
    five.locality = totals.near + totals.far > 0 ? totals.near / (totals.near + totals.far) : 0;
    five.utilization = totals.bytes > 0 ? std::min(1.0, totals.most_live_bytes / totals.bytes) : 0;
    five.contention = std::min(1.0, (totals.reshared + totals.frees_elsewhere) / totals.allocations);
    return five;
}

namespace {

constexpr std::size_t most_named_frames = 256;

std::vector<source_frame> named_frames(const process_totals::call_stack& stack, symbols& names) {
    std::vector<source_frame> frames;
    frames.reserve(stack.names.size() + 4 * stack.frames.size());    // about three of four functions were inlined
    for (const std::string& text : stack.names) {
        source_frame frame;
        const std::size_t tab = text.find('\t');
        frame.function = text.substr(0, tab);
        if (tab != std::string::npos) {
            const std::string place = text.substr(tab + 1);
            const std::size_t colon = place.rfind(':');
            frame.file = place.substr(0, colon);
            if (colon != std::string::npos) frame.line = std::atoi(place.c_str() + colon + 1);
        }
        frames.push_back(frame);
        if (frames.size() >= most_named_frames) return frames;
    }
    for (const std::uint64_t address : stack.frames) {
        const std::vector<source_frame>& here = names.at(address, stack.generation);
        frames.insert(frames.end(), here.begin(), here.end());
    }
    if (frames.size() > most_named_frames) frames.resize(most_named_frames);
    return frames;
}

std::string offset_name(const process_totals& process, const process_totals::call_stack& stack, std::uint64_t address) {
    for (const code_module& module : process.modules) {
        if (module.generation != stack.generation || address < module.begin || address >= module.end) continue;
        char text[32];
        std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(address - module.bias));
        return module.path.substr(module.path.rfind('/') + 1) + text;
    }
    return "?";
}

// The address that frame `wanted` of the named ones belongs to.
std::uint64_t address_of(const process_totals::call_stack& stack, symbols& names, std::size_t wanted) {
    for (const std::uint64_t address : stack.frames) {
        const std::size_t here = names.at(address, stack.generation).size();
        if (wanted < here) return address;
        wanted -= here;
    }
    return stack.frames.empty() ? 0 : stack.frames.back();
}

void measure_elements(site& one) {
    std::uint64_t divisor = 0;
    const bool text = one.element == "char" && one.container.find("string") != std::string::npos;
    for (const auto* sizes : {&one.totals.sizes, &one.totals.final_sizes}) {
        for (const auto& [size, count] : sizes->counts) {
            if (sizes->counts.size() < 256) divisor = std::gcd(divisor, size);
        }
    }
    one.element_size = text || divisor == 0 ? 1 : static_cast<double>(divisor);
}

bool runs_own_new(const process_totals& process, const std::vector<source_frame>& frames) {
    for (const source_frame& frame : frames) {
        if (frame.function.compare(0, 13, "operator new(") != 0 && frame.function.compare(0, 15, "operator new[](") != 0)
            continue;
        if (!frame.module.empty() && frame.module == process.path) return true;
    }
    return false;
}

}    // namespace

profile_result find_sites(const trace_totals& trace) {
    profile_result result;
    result.source = printable(trace.source);
    std::map<std::string, site> sites;
    const process_totals* main = nullptr;
    std::set<std::string> without_lines;
    bool own_new = false;
    double unknown_stack = 0;
    double used = 0;
    double recording = 0;
    double costs = 0;
    double costed = 0;
    std::vector<const process_totals*> lost;    // that did not complete events
    const auto add_once = [](std::vector<std::string>& to, const std::string& text) {
        std::string shown = printable(text);
        if (std::find(to.begin(), to.end(), shown) == to.end()) to.push_back(std::move(shown));
    };
    const auto add_reason = [&](const std::string& reason) { add_once(result.unseen, reason); };
    for (const std::string& reason : trace.unseen) add_reason(reason);
    if (!trace.damage.empty()) add_reason("the end of the trace could not be read (" + trace.damage + ")");
    if (trace.processes.empty() && result.unseen.empty()) add_reason("the trace has nothing of any process");
    for (const process_totals& process : trace.processes) {
        if (main == nullptr || process.allocations > main->allocations) main = &process;
        ++result.processes;
        result.allocations += process.allocations;
        result.frees += process.frees;
        result.bytes += process.bytes;
        result.peak_bytes = std::max(result.peak_bytes, process.peak_bytes);
        result.peak_held = std::max(result.peak_held, process.peak_held);
        result.resident = std::max(result.resident, process.resident);
        used += process.processor_seconds;
        recording += process.recorder_seconds;
        if (process.malloc_ns + process.free_ns > 0) {
            costs += process.allocations * (process.malloc_ns + process.free_ns);
            costed += process.allocations;
        }
        result.seconds = std::max(result.seconds, process.seconds);
        result.sample = std::max(result.sample, process.sample);
        if (result.command_line.empty()) result.command_line = printable(process.command_line);
        for (const std::string& note : process.notes) add_once(result.notes, note);
        if (process.lost != 0) lost.push_back(&process);
        for (const std::string& reason : process.unseen) add_reason(reason);
        if (!process.complete && trace.unseen.empty() && trace.damage.empty())
            add_reason("the end of process " + std::to_string(process.pid) + " is missing from the trace");
        own_new_calls through_own_new;
        symbols names(process.modules);
        for (const auto& [where, frames] : process.names) names.remember(where.first, where.second, frames);
        for (const auto& [number, totals] : process.totals) {
            if (totals.allocations <= 0) continue;
            const auto stack = process.stacks.find(number);
            if (stack == process.stacks.end()) {
                unknown_stack += totals.allocations;
                continue;
            }
            const std::vector<source_frame> frames = named_frames(stack->second, names);
            const bool by_own_new = runs_own_new(process, frames);
            own_new = own_new || by_own_new;
            const recognised known = recognise(frames);
            site one;
            const bool inside = known.user < frames.size();
            const bool has_names = inside && !frames[known.user].function.empty();
            if (has_names) {
                one.function = printable(readable(frames[known.user].function));
                one.file = printable(frames[known.user].file);
                one.line = frames[known.user].line;
            } else if (inside && !stack->second.frames.empty()) {
                one.function = printable(offset_name(process, stack->second, address_of(stack->second, names, known.user)));
            } else {
                one.function = known.headroom ? "(Headroom)" : frames.empty() ? "?" : printable(readable(frames.back().function));
            }
            one.container = printable(known.container);
            one.element = printable(known.element);
            one.adapter = printable(known.adapter);
            one.headroom = known.headroom;
            one.what = known.what;
            growth_sum growth;
            for (std::size_t i = 0; i < totals.growth.size(); ++i) {
                if (counts_as_growth(static_cast<growth_class>(i), known.what, has_names, totals)) growth += totals.growth[i];
            }
            if (by_own_new) {
                through_own_new.allocations += totals.allocations;
                through_own_new.growths += growth.count;
                through_own_new.sizes.merge(totals.sizes);
            }
            stack_share share;
            for (std::size_t i = frames.size(); i-- > 0;) {
                const std::string& function = frames[i].function;
                share.frames.push_back(
                    *result.names->insert(function.empty() ? "?" : printable(without_arguments(readable(function)))).first);
            }
            share.allocations = totals.allocations;
            share.copied = growth.bytes;
            share.allocated = totals.bytes;
            const std::string key = one.function + '\n' + one.file + '\n' + std::to_string(one.line) + '\n' + one.container +
                                    '\n' + std::to_string(static_cast<int>(one.what)) + one.adapter;
            site& into = sites.try_emplace(key, std::move(one)).first->second;
            into.totals.merge(totals);
            into.growth += growth;
            into.in_place += totals.growth[static_cast<std::size_t>(growth_class::in_place)];
            into.stacks.push_back(std::move(share));
        }
        for (const std::string& reason : unseen_memory(process, through_own_new)) add_reason(reason);
        for (const std::string& module : names.without_lines()) {
            if (module == process.path) without_lines.insert(module);
        }
    }
    if (costed > 0) result.allocation_ns = std::clamp(costs / costed, 5.0, 500.0);
    // What recording took is an estimate, so that something is always left.
    if (used > 0) result.processor_seconds = std::max(used - recording, used / 10);
    for (auto& [key, one] : sites) {
        one.seconds = result.processor_seconds > 0 ? result.processor_seconds : result.seconds;
        one.allocation_ns = allocation_ns_of(one.totals, result.allocation_ns);
        result.interrupted += one.growth.interrupted;
        one.five = five_dimensions(one.totals, result.seconds);
        measure_elements(one);
        result.copied += one.growth.bytes;
        result.growing_ns += one.growth.ns;
        result.growths += one.growth.count;
        result.sites.push_back(std::move(one));
    }
    std::sort(result.sites.begin(), result.sites.end(), [](const site& a, const site& b) {
        if (a.growth.bytes != b.growth.bytes) return a.growth.bytes > b.growth.bytes;
        if (a.totals.allocations != b.totals.allocations) return a.totals.allocations > b.totals.allocations;
        return a.place() < b.place();
    });
    if (main != nullptr) {
        result.times = main->times;
        result.other_malloc = main->other_malloc;
    }
    if (!lost.empty()) {
        std::uint64_t events = 0;
        for (const process_totals* const process : lost) events += process->lost;
        result.notes.push_back(
            std::to_string(events) + " events were not completed, by threads that were killed while writing them, of " +
            (lost.size() == 1 ? "process " + std::to_string(lost.front()->pid) : std::to_string(lost.size()) + " processes"));
    }
    if (!without_lines.empty()) {
        const bool alone = without_lines.size() == 1;
        result.notes.push_back((alone ? printable(*without_lines.begin()) + " has"
                                      : std::to_string(without_lines.size()) + " programs (" + printable(*without_lines.begin()) +
                                            " and others) have") +
                               " no line numbers; compile with -g to see source lines and inlined functions");
    }
    if (own_new) {
        result.notes.push_back(
            "this program has an operator new of its own: blocks that it cuts out of larger blocks are not "
            "recorded");
    }
    if (unknown_stack > 0)
        result.notes.push_back("the call stacks of " + std::to_string(static_cast<long long>(unknown_stack)) +
                               " allocations are missing");
    return result;
}

}    // namespace headroom::profile
