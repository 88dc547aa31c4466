// SPDX-License-Identifier: MIT
#include "engine/other_load.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "engine/stop.hpp"
#include "measure/clock.hpp"
#include "measure/resources.hpp"

namespace headroom::lab {
namespace {

struct process_time {
    std::string name;
    double seconds = 0;    // of processors, since it began
};

// Of all processes but this one, by their numbers.
std::map<long, process_time> process_times() {
    std::map<long, process_time> all;
    std::error_code error;
    const auto second = static_cast<double>(sysconf(_SC_CLK_TCK));
    for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
        const std::string number = at->path().filename().string();
        if (std::isdigit(static_cast<unsigned char>(number[0])) == 0 || number == std::to_string(getpid())) continue;
        std::ifstream in(at->path() / "stat");
        std::string line;
        // "12 (name) S 1 ...": user and system ticks are the 12th and 13th word behind the name, which may hold anything
        const bool read = static_cast<bool>(std::getline(in, line));
        const std::size_t open = line.find('(');
        const std::size_t close = line.rfind(')');
        if (!read || open == std::string::npos || close == std::string::npos) continue;    // it has ended
        std::istringstream words(line.substr(close + 1));
        std::string skipped;
        for (int word = 0; word < 11; ++word) words >> skipped;
        double user = 0;
        double system = 0;
        if (words >> user >> system) all[std::stol(number)] = {line.substr(open + 1, close - open - 1), (user + system) / second};
    }
    return all;
}

}    // namespace

other_load observe_other_load(double seconds) {
    const machine_time before = machine_time_so_far();
    const std::map<long, process_time> processes_before = process_times();
    const stopwatch::time_point begin = stopwatch::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const double passed = seconds_between(begin, stopwatch::now());
    other_load load;
    load.processors = (machine_time_so_far().busy - before.busy) / passed;
    std::map<std::string, double> by_name;
    for (const auto& [number, process] : process_times()) {
        const auto earlier = processes_before.find(number);
        const double used = process.seconds - (earlier == processes_before.end() ? 0 : earlier->second.seconds);
        if (used > 0) by_name[process.name] += used / passed;
    }
    for (const auto& [name, processors] : by_name) load.programs.push_back({name, processors});
    std::sort(load.programs.begin(), load.programs.end(),
              [](const other_load::program& one, const other_load::program& two) { return one.processors > two.processors; });
    load.programs.resize(std::min<std::size_t>(load.programs.size(), 3));
    return load;
}

std::string to_string(const other_load& load) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f processors", load.processors);
    std::string result = text;
    for (const other_load::program& one : load.programs) {
        std::snprintf(text, sizeof text, " %.2f", one.processors);
        result += (&one == load.programs.data() ? " (" : ", ") + one.name + text;
    }
    return result + (load.programs.empty() ? "" : ")");
}

other_load wait_until_quiet(double& seconds) {
    for (;;) {
        const other_load load = observe_other_load(1);
        seconds -= 1;
        if (load.quiet() || seconds <= 0 || stop_signal() != 0) return load;
    }
}

}    // namespace headroom::lab
