// SPDX-License-Identifier: MIT
#include "engine/plan.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "engine/child.hpp"
#include "engine/preload.hpp"
#include "engine/records.hpp"

namespace headroom::lab {
namespace {

using nlohmann::json;

void add_program(catalogue& all, const std::string& program, const json& answer, const std::string& grid) {
    const std::string level = answer.at("level");
    all.flags[level] = answer.at("flags");
    for (const json& one : answer.at("experiments")) {
        announced_experiment experiment{one.at("id"), one.at("question"), one.at("source"), one.at("headline"), {}};
        std::vector<std::string> everyone;
        for (const json& each : one.at("contenders")) {
            experiment.contenders.push_back({each.at("id"), each.at("version"), each.at("absent")});
            everyone.push_back(each.at("id"));
            // Headroom's own version stands elsewhere in a machine's description.
            const std::string version = each.at("version");
            if (!version.empty() && version != HEADROOM_LAB_VERSION) all.libraries[each.at("id")] = version;
        }
        const auto preloaded = one.value("preloaded", std::vector<std::string>{});
        const std::size_t plain = everyone.size();
        for (const preload& by : preloads()) {
            for (std::size_t i = 0; i < plain; ++i) {
                if (std::find(preloaded.begin(), preloaded.end(), everyone[i]) == preloaded.end()) continue;
                const announced_contender& as_it_is = experiment.contenders[i];
                if (!as_it_is.absent.empty()) continue;
                experiment.contenders.push_back({with_preload(as_it_is.id, by), by.version, by.absent});
                everyone.push_back(experiment.contenders.back().id);
                if (!by.version.empty()) all.libraries[everyone.back()] = by.version;
            }
        }
        for (const json& each : one.at("configurations")) {
            planned point;
            point.program = program;
            point.level = level;
            point.experiment = experiment.id;
            point.parameters = parameters_from(each.at("parameters"));
            point.checked = each.contains("check");
            if (point.checked) point.check = parameters_from(each.at("check"));
            point.rounds = each.at("rounds");
            point.counted = each.value("counted", false);
            point.seconds = each.at("seconds");
            point.memory = each.at("memory");
            point.limited = each.value("limited", 0.0);
            point.warmed = each.value("warmed", 0.0);
            point.huge_pages = each.value("huge_pages", "");
            point.contenders = each.at("contenders").get<std::vector<std::string>>();
            if (point.contenders.empty()) {
                // In two minutes there is no time for every allocator, but where a configuration names its contenders.
                point.contenders = everyone;
                if (grid == "quick") point.contenders.resize(plain);
            } else {
                const std::vector<std::string> chosen = point.contenders;
                for (std::size_t i = plain; i < everyone.size(); ++i) {
                    if (std::find(chosen.begin(), chosen.end(), without_preload(everyone[i])) != chosen.end()) {
                        point.contenders.push_back(everyone[i]);
                    }
                }
            }
            all.plan.push_back(std::move(point));
        }
        const bool known = std::any_of(all.experiments.begin(), all.experiments.end(),
                                       [&](const announced_experiment& other) { return other.id == experiment.id; });
        if (!known) all.experiments.push_back(std::move(experiment));
    }
}

// The experiments that a comma-separated list names; empty when it names anything else.
std::vector<std::string> ids_in(const catalogue& all, const std::string& filter) {
    std::vector<std::string> ids;
    std::istringstream parts(filter);
    for (std::string id; std::getline(parts, id, ',');) {
        const bool known = std::any_of(all.experiments.begin(), all.experiments.end(),
                                       [&](const announced_experiment& one) { return one.id == id; });
        if (!known) return {};
        ids.push_back(std::move(id));
    }
    return ids;
}

}    // namespace

catalogue ask(const std::vector<std::string>& programs, const std::string& grid) {
    catalogue all;
    for (const std::string& program : programs) {
        const child_result answer = run_child({.program = program, .arguments = {"list", "--grid", grid}, .timeout = 30});
        if (answer.how == child_result::end::not_started) {
            throw std::runtime_error(program + ": " + std::strerror(answer.code));
        }
        if (answer.how != child_result::end::exited || answer.code != 0) {
            throw std::runtime_error(program + " did not say what it can run: " + answer.errors);
        }
        try {
            add_program(all, program, json::parse(answer.output), grid);
        } catch (const json::exception& reason) {
            throw std::runtime_error(program + " gave an answer that cannot be read: " + reason.what());
        }
    }
    // All levels of one experiment belong together, in the order in which the programs announce the experiments.
    std::vector<planned> ordered;
    for (const announced_experiment& experiment : all.experiments) {
        for (const planned& one : all.plan) {
            if (one.experiment == experiment.id) ordered.push_back(one);
        }
    }
    all.plan = std::move(ordered);
    return all;
}

void keep_matching(catalogue& all, const std::string& filter) {
    if (filter.empty()) return;
    const std::vector<std::string> ids = ids_in(all, filter);
    std::regex pattern;
    if (ids.empty()) {
        try {
            pattern = std::regex(filter);
        } catch (const std::regex_error&) {
            throw std::invalid_argument("\"" + filter + "\" is neither a list of experiments nor a regular expression");
        }
    }
    std::vector<planned> kept;
    for (planned& one : all.plan) {
        if (ids.empty()) {
            std::erase_if(one.contenders, [&](const std::string& contender) {
                return !std::regex_search(one.experiment + " " + contender + " " + to_text(one.parameters), pattern);
            });
        } else if (std::find(ids.begin(), ids.end(), one.experiment) == ids.end()) {
            one.contenders.clear();
        }
        if (!one.contenders.empty()) kept.push_back(std::move(one));
    }
    all.plan = std::move(kept);
    if (all.plan.empty()) {
        throw std::invalid_argument("\"" + filter +
                                    "\" matches no experiment, contender or parameter; see what there is: headroom lab list");
    }
}

void pair_first(catalogue& all) {
    // With one round there is still something to see over many configurations of times; counts are the same every time.
    constexpr double dear = 5;
    const auto timed = [&](const planned& one) {
        return std::any_of(all.experiments.begin(), all.experiments.end(), [&](const announced_experiment& each) {
            return each.id == one.experiment && each.headline == "time";
        });
    };
    for (planned& one : all.plan) {
        const bool tells = one.rounds > 1 || (timed(one) && one.seconds < dear);
        if (one.checked && tells && one.contenders.size() > 1) one.contenders.push_back(one.contenders.front() + "#2");
    }
}

std::string unpaired(const std::string& contender) {
    return contender.ends_with("#2") ? contender.substr(0, contender.size() - 2) : contender;
}

std::vector<planned> shard(const std::vector<planned>& plan, std::size_t index, std::size_t count) {
    // The dearest first, each to the part that has least to do so far.
    std::vector<std::size_t> order(plan.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return plan[a].cost() != plan[b].cost() ? plan[a].cost() > plan[b].cost() : a < b;
    });
    std::vector<double> load(count, 0.0);
    std::vector<bool> mine(plan.size(), false);
    for (const std::size_t which : order) {
        const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
        load[least] += plan[which].cost();
        mine[which] = least + 1 == index;
    }
    std::vector<planned> result;
    for (std::size_t i = 0; i < plan.size(); ++i) {
        if (mine[i]) result.push_back(plan[i]);
    }
    return result;
}

}    // namespace headroom::lab
