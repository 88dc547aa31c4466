// SPDX-License-Identifier: MIT
// The program that measures: headroom-lab-O0 to -O3 are this file and the experiments that want to be measured at that
// level of optimisation.
//
//   list --grid quick|default|full            what this program can run, as one JSON object
//   warm --bytes N                            touches that much memory, and gives it back (see measure/warm_machine.hpp)
//   run --experiment E --contender C --parameters '{...}'
//                                             runs that once and prints one line: {"outcome": ..., "metrics": {...}}
// `headroom lab` starts it afresh for every single measurement. Exit code 2: unknown command, experiment or contender.
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory_resource>
#include <new>
#include <string>

#include "engine/experiment.hpp"
#include "engine/level.hpp"
#include "engine/records.hpp"
#include "measure/resources.hpp"
#include "measure/warm_machine.hpp"

namespace {

using headroom::lab::configuration;
using headroom::lab::contender;
using headroom::lab::experiment;
using nlohmann::json;

json list(headroom::lab::grid_size size) {
    json experiments = json::array();
    for (const experiment& one : headroom::lab::registered_experiment::all()) {
        json contenders = json::array();
        for (const contender& each : one.contenders) {
            contenders.push_back({{"id", each.id}, {"version", each.version}, {"absent", each.absent}});
        }
        json configurations = json::array();
        for (const configuration& each : one.grid(size, headroom::lab::level_of_this_program)) {
            json entry{{"parameters", to_json(each.parameters)},
                       {"rounds", each.rounds},
                       {"counted", each.counted},
                       {"seconds", each.seconds},
                       {"memory", each.memory},
                       {"limited", each.limited},
                       {"warmed", each.warmed},
                       {"huge_pages", each.huge_pages},
                       {"contenders", each.contenders}};
            if (one.check) entry["check"] = to_json(one.check(each.parameters));
            configurations.push_back(std::move(entry));
        }
        experiments.push_back({{"id", one.id},
                               {"question", one.question},
                               {"source", one.source},
                               {"headline", one.headline},
                               {"contenders", contenders},
                               {"preloaded", one.preloaded},
                               {"configurations", configurations}});
    }
    return {{"level", headroom::lab::level_of_this_program},
            {"flags", headroom::lab::flags_of_this_program},
            {"experiments", experiments}};
}

json run(const contender& who, const headroom::lab::parameters& point) {
    try {
        if (!who.absent.empty()) return {{"outcome", "absent"}, {"detail", who.absent}, {"metrics", json::object()}};
        // The pages of the code that reads it are resident from now on: for who gives all memory back they would not count.
        (void)headroom::lab::peak_resident();
        headroom::lab::metrics measured = who.run(point);
        if (!measured.contains("peak_resident")) {
            measured["peak_resident"] = {"B", {static_cast<double>(headroom::lab::peak_resident())}};
        }
        return {{"outcome", "ok"}, {"metrics", to_json(measured)}};
    } catch (const std::bad_alloc& reason) {
        return {{"outcome", "bad_alloc"}, {"detail", reason.what()}, {"metrics", json::object()}};
    } catch (const headroom::lab::cannot_run& reason) {
        return {{"outcome", "not_run"}, {"detail", reason.what()}, {"metrics", json::object()}};
    } catch (const std::exception& reason) {
        return {{"outcome", "error"}, {"detail", reason.what()}, {"metrics", json::object()}};
    }
}

int fail(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 2;
}

int print(const json& line) {
    const std::string text = line.dump() + '\n';
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0 ? 0 : 1;
}

}    // namespace

int main(int argc, char** argv) {
    // A peer's library may have chosen another default while the program began (BDE's does), and all contenders that take
    // their memory from the default would be measured over that.
    std::pmr::set_default_resource(nullptr);
    if (argc < 2 || argc % 2 != 0)
        return fail("usage: list --grid SIZE | warm --bytes N | run --experiment E --contender C --parameters P");
    std::map<std::string, std::string> options;
    for (int i = 2; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    try {
        if (std::strcmp(argv[1], "list") == 0) {
            const std::string size = options["--grid"];
            if (size == "quick") return print(list(headroom::lab::grid_size::quick));
            if (size == "default") return print(list(headroom::lab::grid_size::standard));
            if (size == "full") return print(list(headroom::lab::grid_size::full));
            return fail("unknown grid \"" + size + "\"");
        }
        if (std::strcmp(argv[1], "run") == 0) {
            const headroom::lab::parameters point = headroom::lab::parameters_from(json::parse(options["--parameters"]));
            for (const experiment& one : headroom::lab::registered_experiment::all()) {
                if (one.id != options["--experiment"]) continue;
                for (const contender& each : one.contenders) {
                    if (each.id == options["--contender"]) return print(run(each, point));
                }
            }
            return fail("no contender \"" + options["--contender"] + "\" in experiment \"" + options["--experiment"] + "\"");
        }
        if (std::strcmp(argv[1], "warm") == 0) {
            headroom::lab::warm_machine(std::stoull(options["--bytes"]));
            return 0;
        }
        return fail(std::string("unknown command \"") + argv[1] + "\"");
    } catch (const std::exception& reason) {
        return fail(reason.what());
    }
}
