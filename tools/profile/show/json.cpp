// SPDX-License-Identifier: MIT
#include <cmath>

#include <nlohmann/json.hpp>

#include "printable.hpp"
#include "show.hpp"

namespace headroom::profile {

namespace {

using nlohmann::ordered_json;

long long whole(double value) { return static_cast<long long>(std::llround(value)); }

ordered_json advice_json(const recommendation& what) {
    ordered_json entry = {
        {"what", name_of(what.what)}, {"text", what.text}, {"rule", what.because_of->name},
        {"evidence", what.evidence},  {"code", what.code}, {"saves_ns", {whole(what.saves_least_ns), whole(what.saves_most_ns)}}};
    const lab_cell& cell = what.because_of->cell;
    if (!cell.experiment.empty()) {
        entry["measured_in"] = {{"experiment", cell.experiment},
                                {"contender", cell.contender},
                                {"parameters", cell.parameters},
                                {"ratio", cell.ratio}};
    }
    return entry;
}

}    // namespace

std::string json_text(const profile_result& profile) {
    ordered_json all;
    all["format"] = 1;
    all["command"] = profile.command_line;
    all["trace"] = profile.source;
    all["seconds"] = profile.seconds;
    all["processor_seconds"] = profile.processor_seconds;
    all["allocation_ns"] = profile.allocation_ns;
    all["processes"] = profile.processes;
    all["sample_bytes"] = profile.sample;
    all["allocations"] = whole(profile.allocations);
    all["frees"] = whole(profile.frees);
    all["bytes"] = whole(profile.bytes);
    all["peak_bytes"] = whole(profile.peak_bytes);
    all["headroom_bytes"] = whole(profile.peak_held);
    all["resident_bytes"] = whole(profile.resident);
    all["growths"] = whole(profile.growths);
    all["copied_bytes"] = whole(profile.copied);
    all["growing_ns"] = whole(profile.growing_ns);
    all["interrupted"] = whole(profile.interrupted);
    all["verdict"] = profile.unseen.empty();
    all["no_verdict_since"] = profile.unseen;
    all["notes"] = profile.notes;
    if (const malloc_estimate other = other_malloc(profile); other.share > 0) {
        all["malloc"] = {{"share", other.share},
                         {"saves_ns", {whole(other.saves_least_ns), whole(other.saves_most_ns)}},
                         {"text", other.text}};
    }
    all["together"] = ordered_json::array();
    for (const shared_recommendation& what : advise_together(profile)) {
        ordered_json entry = advice_json(what);
        entry["function"] = what.function;
        entry["places"] = ordered_json::array();
        for (const site* const one : what.sites) entry["places"].push_back(one->place());
        all["together"].push_back(std::move(entry));
    }
    all["sites"] = ordered_json::array();
    for (const site& one : profile.sites) {
        const recommendation what = advise(one);
        ordered_json entry;
        entry["function"] = one.function;
        entry["file"] = one.file;
        entry["line"] = one.line;
        entry["container"] = one.container;
        entry["element"] = one.element;
        entry["allocations"] = whole(one.totals.allocations);
        entry["bytes"] = whole(one.totals.bytes);
        entry["most_alive"] = whole(one.totals.most_live);
        entry["most_alive_bytes"] = whole(one.totals.most_live_bytes);
        entry["growth"] = {{"count", whole(one.growth.count)},
                           {"copied_bytes", whole(one.growth.bytes)},
                           {"ns", whole(one.growth.ns)},
                           {"longest_ns", one.growth.longest_ns},
                           {"interrupted", whole(one.growth.interrupted)},
                           {"in_place", whole(one.in_place.count)},
                           {"arrays", whole(one.totals.arrays)},
                           {"largest_bytes", one.totals.largest_final},
                           {"slack_at_death_at_most_bytes", whole(one.totals.slack_bound)}};
        ordered_json lifetimes = ordered_json::object();
        for (std::size_t i = 0; i < one.totals.lifetimes.size(); ++i) {
            if (one.totals.lifetimes[i] > 0) lifetimes[std::to_string(i)] = whole(one.totals.lifetimes[i]);
        }
        entry["lifetimes_log2_ns"] = lifetimes;
        entry["dimensions"] = {{"density", one.five.density},
                               {"variation", one.five.variation},
                               {"locality", one.five.locality},
                               {"utilization", one.five.utilization},
                               {"contention", one.five.contention}};
        entry["threads"] = one.totals.threads.size();
        entry["advice"] = advice_json(what);
        all["sites"].push_back(std::move(entry));
    }
    return tools::printable_json(all.dump(1, ' ', false, ordered_json::error_handler_t::replace)) + "\n";
}

}    // namespace headroom::profile
