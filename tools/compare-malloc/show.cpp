// SPDX-License-Identifier: MIT
#include "show.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "printable.hpp"
#include "shell_words.hpp"

namespace headroom::tools {
namespace {

struct column {
    const char* title;
    const char* key;
    comparison::measure what;
    bool bytes;
};
constexpr column columns[] = {{"CPU time", "cpu_time", &program_run::cpu, false},
                              {"elapsed", "elapsed", &program_run::wall, false},
                              {"peak memory", "peak_memory", &program_run::peak, true}};

template <class... T>
std::string formatted(const char* format, T... values) {
    char text[128];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

std::string quantity(double value, bool bytes) {
    if (bytes) return formatted("%.1f MiB", value / 1048576);
    return value < 0.9995 ? formatted("%.1f ms", value * 1e3) : formatted("%.2f s", value);
}

std::string cell(const std::optional<compared_figure>& figure, const column& of, bool system) {
    if (!figure) return formatted("%20s", "-");
    const std::string ratio = system ? "" : formatted("%.2f%s", figure->ratio, figure->differs() ? " " : "~");
    return formatted("%13s %6s", quantity(figure->median, of.bytes).c_str(), ratio.c_str());
}

std::string command_line(const program_call& call) {
    std::string line;
    for (const std::string& word : call.command) line += (line.empty() ? "" : " ") + printable(for_shell(word));
    return line;
}

// "LD_PRELOAD=FILE NAME=VALUE ", as a shell takes it before a command.
std::string environment_of(const malloc_choice& over) {
    std::string text = over.library.empty() ? "" : "LD_PRELOAD=" + printable(for_shell(over.library)) + " ";
    if (!over.setting.name.empty()) text += over.setting.name + "=" + printable(for_shell(over.setting.value)) + " ";
    return text;
}

// Returns the sentences that say which malloc to take.
std::string advice(const comparison& what) {
    if (!what.compared()) return "The program ran over no other malloc: this says nothing about yours.";
    if (what.rounds_done < 3) return "Fewer than three rounds say little.";
    const compared_malloc* best = what.best(&program_run::cpu);
    if (best == nullptr) {
        best = what.best(&program_run::peak);
        if (best != nullptr && what.figure(*best, &program_run::cpu)->differs()) best = nullptr;    // it takes more time
        const bool all_tried =
            std::none_of(what.mallocs.begin(), what.mallocs.end(), [](const compared_malloc& one) { return one.was_unused; });
        if (best == nullptr && !all_tried)
            return "No malloc that was in use takes less CPU time, beyond the noise; of the others nothing is known.";
        if (best == nullptr) return "No malloc that is installed takes less CPU time, beyond the noise: stay with yours.";
    }
    const compared_figure cpu = *what.figure(*best, &program_run::cpu);
    const compared_figure peak = *what.figure(*best, &program_run::peak);
    std::string text = "Over " + printable(best->name) + " it takes ";
    if (cpu.differs()) text += formatted("%.2f of its CPU time", cpu.ratio);
    if (peak.differs()) text += (cpu.differs() ? " and " : "") + formatted("%.2f of its memory", peak.ratio);
    text += ". Try it:\n    " + environment_of(best->over) + command_line(what.call());
    if (best->over.library.empty() || !best->over.setting.name.empty()) return text;
    return text + "\nWhat is left to gain over it: headroom profile --malloc " + printable(for_shell(best->name)) + " -- PROGRAM";
}

}    // namespace

std::string comparison_text(const comparison& what) {
    std::string text =
        command_line(what.call()) + "\n" + std::to_string(what.rounds_done) + (what.rounds_done == 1 ? " round" : " rounds") +
        ", each malloc in turn; medians, and their ratio to the program as it is\n\n" + formatted("%-19s", "malloc");
    for (const column& one : columns) text += formatted("%20s", one.title);
    text += "\n";
    for (const compared_malloc& one : what.mallocs) {
        text += padded_to(printable(one.name), 19);
        if (!one.refused.empty()) {
            text += "    " + printable(one.refused) + "\n";
            continue;
        }
        for (const column& each : columns) text += cell(what.figure(one, each.what), each, what.is_base(one));
        text.erase(text.find_last_not_of(' ') + 1);
        text += "\n";
    }
    text += formatted("%-19s", "noise");
    for (const column& one : columns) {
        const double noise = what.noise(one.what);
        text +=
            std::isfinite(noise) ? formatted("%21s", formatted("±%.1f%%", noise * 100).c_str()) : formatted("%20s", "unknown");
    }
    text += "\n(~: no more than noise)\n\n";
    if (what.status() && *what.status() != 0) text += "As it is, the program ends with " + ending(*what.status()) + ".\n";
    if (!what.note.empty()) text += "Note: " + printable(what.note) + ".\n";
    return text + advice(what) + "\n";
}

std::string comparison_json(const comparison& what) {
    nlohmann::ordered_json all;
    all["command"] = what.call().command;
    all["input"] = what.call().input;
    all["rounds"] = what.rounds_done;
    if (what.status()) all["status"] = ending(*what.status());
    if (!what.note.empty()) all["note"] = what.note;
    for (const column& one : columns) all["noise"][one.key] = what.noise(one.what);
    for (const compared_malloc& one : what.mallocs) {
        nlohmann::ordered_json entry;
        entry["name"] = one.name;
        entry["file"] = one.over.library;
        if (!one.over.setting.name.empty()) entry["setting"] = one.over.setting.name + "=" + one.over.setting.value;
        if (!one.refused.empty()) entry["refused"] = one.refused;
        for (const column& each : columns) {
            const std::optional<compared_figure> figure = what.figure(one, each.what);
            if (!figure) continue;
            auto& of = entry[each.key];
            of["values"] = what.values(one, each.what);
            of["median"] = figure->median;
            of["ratio"] = figure->ratio;
            of["differs"] = figure->differs();
        }
        all["mallocs"].push_back(entry);
    }
    const compared_malloc* const best = what.best(&program_run::cpu);
    all["best"] = best != nullptr ? nlohmann::ordered_json(best->name) : nlohmann::ordered_json();
    return printable_json(all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)) + "\n";
}

}    // namespace headroom::tools
