// SPDX-License-Identifier: MIT
#include "engine/records.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "measure/clock.hpp"

namespace headroom::lab {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<outcome, const char*>, 7> words{{{outcome::ok, "ok"},
                                                                {outcome::bad_alloc, "bad_alloc"},
                                                                {outcome::killed, "killed"},
                                                                {outcome::timeout, "timeout"},
                                                                {outcome::error, "error"},
                                                                {outcome::absent, "absent"},
                                                                {outcome::not_run, "not_run"}}};

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

const json& member(const json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end()) refuse(std::string("\"") + name + "\" is missing");
    return *found;
}

std::string text(const json& object, const char* name) {
    const json& value = member(object, name);
    if (!value.is_string()) refuse(std::string("\"") + name + "\" is not a string");
    return value.get<std::string>();
}

double seconds_now() { return std::chrono::duration<double>(stopwatch::now().time_since_epoch()).count(); }

}    // namespace

const char* to_string(outcome of) noexcept {
    for (const auto& [value, word] : words) {
        if (value == of) return word;
    }
    return "error";
}

outcome outcome_from(const std::string& word) {
    for (const auto& [value, name] : words) {
        if (word == name) return value;
    }
    refuse("unknown outcome \"" + word + "\"");
}

std::string to_string(const bad_line& bad) { return bad.file + ":" + std::to_string(bad.line) + ": " + bad.reason; }

json to_json(const parameters& point) {
    json result = json::object();
    for (const auto& [name, value] : point) {
        std::visit([&](const auto& held) { result[name] = held; }, value);
    }
    return result;
}

json to_json(const metrics& measured) {
    json result = json::object();
    for (const auto& [name, one] : measured) {
        json& entry = result[name];
        entry["unit"] = one.unit;
        entry["values"] = one.values;
        if (!one.counts.empty()) entry["counts"] = one.counts;
    }
    return result;
}

json to_json(const run_record& run) {
    json result{{"v", record_version},
                {"kind", "run"},
                {"machine", run.machine},
                {"experiment", run.experiment},
                {"contender", run.contender},
                {"parameters", to_json(run.parameters)},
                {"round", run.round},
                {"outcome", to_string(run.outcome)},
                {"metrics", to_json(run.metrics)}};
    if (!run.detail.empty()) result["detail"] = run.detail;
    return result;
}

parameters parameters_from(const json& object) {
    if (!object.is_object()) refuse("\"parameters\" is not an object");
    parameters result;
    for (const auto& [name, value] : object.items()) {
        if (value.is_boolean()) {
            result.set(name, value.get<bool>());
        } else if (value.is_number_integer()) {
            result.set(name, value.get<std::int64_t>());
        } else if (value.is_string()) {
            result.set(name, value.get<std::string>());
        } else {
            refuse("parameter \"" + name + "\" is neither text, whole number nor truth value");
        }
    }
    return result;
}

metrics metrics_from(const json& object) {
    if (!object.is_object()) refuse("\"metrics\" is not an object");
    metrics result;
    for (const auto& [name, entry] : object.items()) {
        if (!entry.is_object()) refuse("metric \"" + name + "\" is not an object");
        metric one;
        one.unit = text(entry, "unit");
        const json& values = member(entry, "values");
        if (!values.is_array()) refuse("metric \"" + name + "\": \"values\" is not a list");
        for (const json& value : values) {
            if (!value.is_number()) refuse("metric \"" + name + "\": a value is not a number");
            one.values.push_back(value.get<double>());
        }
        if (const auto counts = entry.find("counts"); counts != entry.end()) {
            if (!counts->is_array() || counts->size() != values.size()) {
                refuse("metric \"" + name + "\": not as many counts as values");
            }
            for (const json& count : *counts) {
                if (!count.is_number_unsigned()) refuse("metric \"" + name + "\": a count is not a whole number");
                one.counts.push_back(count.get<std::uint64_t>());
            }
        }
        result.emplace(name, std::move(one));
    }
    return result;
}

run_record run_from(const json& object) {
    run_record run;
    run.machine = text(object, "machine");
    run.experiment = text(object, "experiment");
    run.contender = text(object, "contender");
    run.parameters = parameters_from(member(object, "parameters"));
    const json& round = member(object, "round");
    if (!round.is_number_integer()) refuse("\"round\" is not a whole number");
    run.round = round.get<int>();
    run.outcome = outcome_from(text(object, "outcome"));
    if (object.contains("detail")) run.detail = text(object, "detail");
    run.metrics = metrics_from(member(object, "metrics"));
    return run;
}

std::string to_text(const parameters& point) {
    std::string result;
    for (const auto& [name, value] : point) {
        if (!result.empty()) result += ' ';
        result += name + '=';
        if (const auto* flag = std::get_if<bool>(&value)) result += *flag ? "true" : "false";
        if (const auto* number = std::get_if<std::int64_t>(&value)) result += std::to_string(*number);
        if (const auto* word = std::get_if<std::string>(&value)) result += *word;
    }
    return result;
}

std::string key_of(const run_record& run) {
    return json::array({run.machine, run.experiment, run.contender, to_json(run.parameters), run.round}).dump();
}

results read_results(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::system_error(errno, std::generic_category(), path);
    results result;
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
        const bool ended = !in.eof();
        result.whole = ended;
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        try {
            const json object = json::parse(line);
            if (!object.is_object()) refuse("not an object");
            const json& version = member(object, "v");
            if (!version.is_number_integer()) refuse("\"v\" is not a whole number");
            if (version.get<int>() > record_version) {
                refuse("version " + version.dump() + " is newer than this program reads (" + std::to_string(record_version) +
                       ")");
            }
            const std::string kind = text(object, "kind");
            if (kind == "machine") {
                text(object, "id");
                result.machines.push_back(object);
            } else if (kind == "run") {
                result.runs.push_back(run_from(object));
            } else {
                refuse("unknown kind \"" + kind + "\"");
            }
        } catch (const json::exception&) {
            result.bad.push_back({path, number, ended ? "not JSON" : "cut off: the line is not complete"});
        } catch (const std::invalid_argument& reason) {
            result.bad.push_back({path, number, reason.what()});
        }
    }
    if (in.bad()) throw std::system_error(errno, std::generic_category(), path);
    return result;
}

record_writer::record_writer(const std::string& path)
    : path_(path), file_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), path);
    // The system gives the lock back when this process ends, however it ends. Where the file system has no locks: without.
    if (flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(file_);
        throw std::runtime_error("another run is writing to " + path +
                                 "; wait for it to end, or give this one a file of its own with --out (lab merge joins them)");
    }
}

record_writer::~record_writer() {
    fsync(file_);
    close(file_);
}

void record_writer::append(const json& record) {
    const off_t size = lseek(file_, 0, SEEK_END);
    std::string line = record.dump() + '\n';
    if (!std::exchange(begun_, true)) {
        char last = '\n';
        if (size > 0 && pread(file_, &last, 1, size - 1) == 1 && last != '\n') line.insert(line.begin(), '\n');
    }
    const ssize_t written = write(file_, line.data(), line.size());
    if (written < 0 || static_cast<std::size_t>(written) != line.size()) {
        const int why = written < 0 ? errno : ENOSPC;
        if (written > 0 && ftruncate(file_, size) != 0) begun_ = false;    // the next one closes what is left of this one
        throw std::system_error(why, std::generic_category(), path_);
    }
    if (const double now = seconds_now(); now - synchronised_ > 1) {
        fsync(file_);
        synchronised_ = now;
    }
}

}    // namespace headroom::lab
