// SPDX-License-Identifier: MIT
#include "engine/runner.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "engine/child.hpp"
#include "engine/machine.hpp"
#include "engine/other_load.hpp"
#include "engine/huge_pages.hpp"
#include "engine/preload.hpp"
#include "engine/progress.hpp"
#include "engine/records.hpp"
#include "engine/short_memory.hpp"
#include "engine/stop.hpp"
#include "measure/resources.hpp"
#include "measure/statistics.hpp"

namespace headroom::lab {
namespace {

using nlohmann::json;

// Children that need more than this run under a limit and are watched.
constexpr double hungry = 512e6;
// Share of the machine's memory that no child may take.
constexpr double kept_for_others = 0.1;

std::string gigabytes(double bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GB", bytes * 1e-9);
    return text;
}

// For people: "12.3 ms", "4.5 MB", "21".
std::string figure(double value, const std::string& unit) {
    char text[32];
    const char* prefix = "";
    if (unit == "s") {
        prefix = value < 1e-6 ? "n" : value < 1e-3 ? "u" : value < 1 ? "m" : "";
        value *= value < 1e-6 ? 1e9 : value < 1e-3 ? 1e6 : value < 1 ? 1e3 : 1;
    } else if (unit == "B") {
        prefix = "M";
        value *= 1e-6;
    }
    std::snprintf(text, sizeof text, "%.4g%s%s%s", value, unit.empty() ? "" : " ", prefix, unit.c_str());
    return text;
}

std::filesystem::path folder_of(const std::string& file) { return std::filesystem::absolute(file).parent_path(); }

// Returns the last non-empty line: the reason in a child's own words, where the system granted none of the limits.
std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

// From what the child said and how it ended to what is written down.
void conclude(run_record& run, const child_result& child, const child_request& request) {
    run.metrics.clear();
    run.detail.clear();
    switch (child.how) {
        case child_result::end::not_started:
            run.outcome = outcome::error;
            run.detail = request.program + ": " + std::strerror(child.code);
            return;
        case child_result::end::timed_out:
            run.outcome = outcome::timeout;
            run.detail = "longer than " + progress::duration(request.timeout);
            break;
        case child_result::end::starved:
            run.outcome = outcome::killed;
            run.detail = "the machine had less than " + gigabytes(static_cast<double>(request.keep_available)) + " left";
            break;
        case child_result::end::stopped:
            run.outcome = outcome::killed;
            run.detail = "stopped";
            break;
        case child_result::end::signalled:
            run.outcome = outcome::killed;
            run.detail = std::string("signal ") + std::to_string(child.code) + " (" + strsignal(child.code) + ")";
            break;
        case child_result::end::exited:
            try {
                const json answer = json::parse(child.output);
                run.outcome = outcome_from(answer.at("outcome"));
                if (answer.contains("detail")) run.detail = answer.at("detail");
                run.metrics = metrics_from(answer.at("metrics"));
            } catch (const std::exception&) {
                run.outcome = outcome::error;
                run.detail = "exit code " + std::to_string(child.code) + ": " + last_line(child.errors);
            }
            break;
    }
    if (!run.metrics.contains("peak_resident")) run.metrics["peak_resident"] = {"B", {child.peak_resident}};
    run.metrics["cpu_time"] = {"s", {child.cpu_time}};
}

child_request request_for(const planned& point, const std::string& contender, const parameters& at, double available) {
    child_request request;
    request.program = point.program;
    request.arguments = {"run",          "--experiment",    point.experiment, "--contender", without_preload(unpaired(contender)),
                         "--parameters", to_json(at).dump()};
    if (const preload* const by = preload_of(unpaired(contender))) request.environment = by->environment;
    request.timeout = 60 + 30 * point.seconds;
    if (point.limited <= 0 && point.memory > hungry && available > 0) {
        request.memory_limit = static_cast<std::uint64_t>(available * (1 - kept_for_others));
        request.keep_available = static_cast<std::uint64_t>(available * kept_for_others / 2);
    }
    return request;
}

// True if other programs took more than quiet_limit while it ran. The system counts their time in hundredths of a second.
bool disturbed(const run_record& run) {
    const auto others = run.metrics.find("others_cpu");
    const auto elapsed = run.metrics.find("elapsed");
    if (others == run.metrics.end() || elapsed == run.metrics.end()) return false;    // not started
    return others->second.values.front() > quiet_limit * elapsed->second.values.front() + 0.03;
}

std::optional<double> checksum_of(const run_record& run) {
    const auto found = run.metrics.find("checksum");
    if (run.outcome != outcome::ok || found == run.metrics.end() || found->second.values.empty()) return std::nullopt;
    return found->second.values.front();
}

class session {
public:
    session(const catalogue& all, const run_options& options, const json& machine, std::set<std::string> known,
            record_writer& out, progress& bar)
        : all_(all), options_(options), machine_(machine.at("id")), known_(std::move(known)), out_(out), bar_(bar) {}

    void run(const planned& point) {
        check(point);
        const std::string headline = headline_of(point.experiment);
        std::vector<std::vector<double>> figures(point.contenders.size());
        std::string unit;
        std::string odd;
        std::optional<std::pair<std::string, double>> agreed;
        const int rounds = point.rounds_of(options_.rounds);
        bool fresh = false;
        conditions made;
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < point.contenders.size(); ++i) {
                if (stop_signal() != 0) return;
                const std::string& contender = point.contenders[i];
                run_record record{machine_, point.experiment, contender, point.parameters, round, {}, {}, {}};
                if (absent(record)) continue;
                if (known_.contains(key_of(record))) continue;
                bar_.begin(point.experiment + "  " + contender + "  " + to_text(point.parameters));
                measure(point, record, agreed, made);
                for (int again = 0; again < 3 && stop_signal() == 0 && must_repeat(point, record); ++again) {
                    measure(point, record, agreed, made);
                }
                if (stop_signal() != 0) return;
                out_.append(to_json(record));
                known_.insert(key_of(record));
                fresh = true;
                bar_.done(point.expected());
                if (record.outcome == outcome::error) failed_ = true;
                if (record.outcome != outcome::ok && round == 0) {
                    odd += "\n    " + contender + ": " + to_string(record.outcome) + ", " + record.detail;
                }
                const auto shown = record.metrics.find(headline);
                if (record.outcome == outcome::ok && shown != record.metrics.end()) {
                    figures[i].push_back(median(shown->second.values));
                    unit = shown->second.unit;
                }
            }
        }
        if (!fresh) return;
        if (!options_.figures) {
            if (!odd.empty()) bar_.say(point.experiment + "  " + to_text(point.parameters) + odd);
            return;
        }
        std::string line = point.experiment + "  " + to_text(point.parameters);
        for (std::size_t i = 0; i < figures.size(); ++i) {
            if (figures[i].empty()) continue;
            line += "\n    " + point.contenders[i] + ": " + figure(median(figures[i]), unit);
            if (figures[i].size() > 1) line += " +- " + figure(spread(figures[i]) / 2, unit);
            if (i != 0 && !figures[0].empty() && median(figures[0]) > 0) {
                line += "   (" + figure(median(figures[i]) / median(figures[0]), "") + ")";
            }
        }
        bar_.say(line + odd);
    }

    [[nodiscard]] bool failed() const { return failed_; }

    // Says in one line who was absent, and how to bring him; nothing if nobody was.
    void say_absent() {
        std::string names;
        for (const std::string& one : absent_) names += (names.empty() ? "" : ", ") + one;
        if (!names.empty()) bar_.say("absent: " + names + " (lab/peers/README.md says how to have them)");
    }

    // Why the contender is absent, or nothing.
    static std::string absent_reason(const catalogue& all, const std::string& experiment, const std::string& contender) {
        for (const announced_experiment& one : all.experiments) {
            if (one.id != experiment) continue;
            for (const announced_contender& each : one.contenders) {
                if (each.id == unpaired(contender)) return each.absent;
            }
        }
        return {};
    }

private:
    // What a configuration needs of the machine: made when first needed, taken away when the configuration is left.
    struct conditions {
        std::optional<short_memory> squeeze;
        std::optional<huge_page_setting> setting;
    };

    [[nodiscard]] std::string headline_of(const std::string& experiment) const {
        for (const announced_experiment& one : all_.experiments) {
            if (one.id == experiment) return one.headline;
        }
        return "time";
    }

    // Writes the one record that an absent peer gets in each experiment. True when the contender is absent.
    bool absent(const run_record& of) {
        const std::string why = absent_reason(all_, of.experiment, of.contender);
        if (why.empty()) return false;
        run_record record{machine_, of.experiment, of.contender, {}, 0, outcome::absent, why, {}};
        if (known_.insert(key_of(record)).second) {
            out_.append(to_json(record));
            // Under an allocator that is not here, each contender is absent.
            const preload* const by = preload_of(of.contender);
            absent_.insert(by != nullptr ? by->name : of.contender.substr(0, of.contender.find(' ')));
        }
        return true;
    }

    // Before anything is timed, all contenders go through a short form of the configuration, and must agree.
    void check(const planned& point) {
        if (!point.checked || !checks_.insert(point.program + point.experiment + to_text(point.check)).second) return;
        std::optional<std::pair<std::string, double>> agreed;
        for (const std::string& contender : point.contenders) {
            if (stop_signal() != 0) return;
            if (contender != unpaired(contender)) continue;
            if (!absent_reason(all_, point.experiment, contender).empty()) continue;
            run_record record{machine_, point.experiment, contender, point.check, 0, {}, {}, {}};
            const child_request request = request_for(point, contender, point.check, 0);
            conclude(record, run_child(request), request);
            compare(record, agreed);
            if (record.outcome == outcome::error && stop_signal() == 0) {
                failed_ = true;
                wrong_.emplace(point.level + point.experiment + contender, record.detail);
                bar_.say(point.experiment + "  " + contender + ": " + record.detail);
            }
        }
    }

    // A contender that computed something else than the first of this configuration has not done the work.
    static void compare(run_record& record, std::optional<std::pair<std::string, double>>& agreed) {
        const std::optional<double> sum = checksum_of(record);
        if (!sum) return;
        if (!agreed) {
            agreed.emplace(record.contender, *sum);
        } else if (agreed->second != *sum) {
            char text[160];
            std::snprintf(text, sizeof text, "checksum %.0f, but %.60s has %.0f", *sum, agreed->first.c_str(), agreed->second);
            record.outcome = outcome::error;
            record.detail = text;
        }
    }

    // True if the measurement must be repeated, because other programs disturbed it; then it has waited for a quiet machine. Counts are
    // never repeated.
    bool must_repeat(const planned& point, const run_record& record) {
        if (!options_.waiting || point.counted || !disturbed(record)) return false;
        (void)wait_until_quiet(waiting_left_);
        return true;
    }

    void measure(const planned& point, run_record& record, std::optional<std::pair<std::string, double>>& agreed,
                 conditions& made) {
        if (const auto found = wrong_.find(point.level + point.experiment + unpaired(record.contender)); found != wrong_.end()) {
            record.outcome = outcome::error;
            record.detail = found->second;
            return;
        }
        const double needed = point.limited > 0 ? point.limited : point.memory;
        const double available = needed > hungry ? static_cast<double>(available_memory()) : 0;
        // The documents' own grid lets programs run out of memory, and records how: under a limit that keeps the machine
        // alive. The other grids only ask for what can be had.
        if (available > 0 && needed > available * (1 - kept_for_others) && options_.grid != "full") {
            record.outcome = outcome::not_run;
            record.detail = "needs about " + gigabytes(needed) + "; " + gigabytes(available) + " are available";
            return;
        }
        child_request request = request_for(point, record.contender, point.parameters, available);
        if (point.limited > 0) {
            if (!made.squeeze) {
                short_memory_places places;
                places.swap_folders.insert(places.swap_folders.begin(), folder_of(options_.out));
                made.squeeze.emplace(static_cast<std::uint64_t>(point.limited), static_cast<std::uint64_t>(point.memory), places);
            }
            if (!made.squeeze->refusal().empty()) {
                record.outcome = outcome::not_run;
                record.detail = "memory cannot be made short here: " + made.squeeze->refusal();
                return;
            }
            request.entrance = made.squeeze->entrance();
        }
        if (!point.huge_pages.empty()) {
            if (!made.setting) made.setting.emplace(point.huge_pages);
            if (!made.setting->refusal().empty()) {
                record.outcome = outcome::not_run;
                record.detail = "huge pages cannot be set: " + made.setting->refusal();
                return;
            }
        }
        if (point.warmed > 0) {
            // Warms the machine alike before every contender. If that fails, the figures are only less even.
            child_request warming = request;
            warming.arguments = {"warm", "--bytes", std::to_string(static_cast<std::uint64_t>(point.warmed))};
            (void)run_child(warming);
        }
        const stopwatch::time_point begin = stopwatch::now();
        const machine_time before = machine_time_so_far();
        const child_result child = run_child(request);
        const machine_time after = machine_time_so_far();
        conclude(record, child, request);
        // Records other load, so that readers of the figures know how busy the machine was.
        record.metrics["elapsed"] = {"s", {seconds_between(begin, stopwatch::now())}};
        record.metrics["others_cpu"] = {"s", {std::max(0.0, after.busy - before.busy - child.cpu_time)}};
        record.metrics["stolen"] = {"s", {after.stolen - before.stolen}};
        compare(record, agreed);
    }

    const catalogue& all_;
    const run_options& options_;
    std::string machine_;
    std::set<std::string> known_;
    std::set<std::string> checks_;
    std::map<std::string, std::string> wrong_;    // contenders that failed their check, and how
    record_writer& out_;
    progress& bar_;
    bool failed_ = false;
    std::set<std::string> absent_;                          // peers, without their strategies, and allocators
    double waiting_left_ = options_.waiting.value_or(0);    // s
};

}    // namespace

int run_plan(const catalogue& all, const std::vector<planned>& plan, const run_options& options) {
    note_stop_signals();
    const json machine = describe_machine(all.flags, all.libraries, options.grid);
    std::set<std::string> known;
    record_writer out(options.out);    // opened first: its lock keeps other writers out from here on
    {
        const results before = read_results(options.out);
        for (const bad_line& bad : before.bad) std::fprintf(stderr, "%s\n", to_string(bad).c_str());
        for (const run_record& run : before.runs) {
            // What could not be started then may have its chance now; a later record of the same run replaces it.
            if (run.outcome != outcome::not_run) known.insert(key_of(run));
        }
    }
    double expected = 0;
    std::size_t children = 0;
    std::size_t there = 0;
    for (const planned& point : plan) {
        for (int round = 0; round < point.rounds_of(options.rounds); ++round) {
            for (const std::string& contender : point.contenders) {
                if (!session::absent_reason(all, point.experiment, contender).empty()) continue;
                const run_record run{machine.at("id"), point.experiment, contender, point.parameters, round, {}, {}, {}};
                if (known.contains(key_of(run))) {
                    ++there;
                } else {
                    ++children;
                    expected += point.expected();
                }
            }
        }
    }
    if (there != 0) {
        std::fprintf(stderr, "%zu of %zu measurements are already in %s\n", there, there + children, options.out.c_str());
    }
    out.append(machine);
    progress bar(expected, children);
    session work(all, options, machine, std::move(known), out, bar);
    try {
        const std::string* experiment = nullptr;
        for (const planned& point : plan) {
            if (experiment == nullptr || *experiment != point.experiment) bar.chapter(point.experiment);
            experiment = &point.experiment;
            work.run(point);
            if (stop_signal() != 0) break;
        }
    } catch (const std::system_error&) {
        bar.say("Stopped. " + options.out + " holds what was measured before. When the reason is gone, go on with\n  " +
                options.resume_hint);
        throw;
    }
    if (const int signal = stop_signal(); signal != 0) {
        bar.say("Stopped. " + options.out + " holds what was measured. To go on:\n  " + options.resume_hint);
        return 128 + signal;
    }
    work.say_absent();
    bar.say("Results are in " + options.out);
    return work.failed() ? 1 : 0;
}

}    // namespace headroom::lab
