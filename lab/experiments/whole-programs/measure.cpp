// Question: what does a change of vector gain in whole programs of other people?
//
// Source: Headroom's own. Programs of Debian's source packages: a solver, a trainer of a text classifier (two threads), a spell
//   checker, a build tool, two readers of data formats, a clipper of polygons; vectors, strings, nodes.
// Method here, and why: programs.py downloads their sources, compiles each as it is and with every std::vector replaced by
//   headroom::vector (jsoncpp's map of members also takes its nodes from one multipool: that is what Headroom would advise
//   there), with the same flags, and runs them on inputs that it makes up. "time" is the program's processor time, user and
//   system. The checksum is of what it prints: the same with either vector. "build_time" is the compiler's processor time for
//   all files in one call, "size" is of the stripped program, with the library linked statically.
//   Both run as well under each allocator that a user could preload.
// Disadvantages: Headroom, where a program's time is not in its vectors: a switch of all of them is the least that its
//   author could do, not the best.
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/child.hpp"
#include "engine/experiment.hpp"

namespace headroom::lab { namespace {

struct program {
    child_request call;
    double build_time = 0;
    std::string result;    // a file whose length is compared, not what is printed
};

program make(const std::string& name, const std::string& container) {
    const child_result done =
        run_child({.program = HEADROOM_LAB_PYTHON,
                   .arguments = {"-B", HEADROOM_LAB_PROGRAMS, name, container, "--folder", HEADROOM_LAB_WHOLE, "--compiler",
                                 HEADROOM_LAB_CXX, "--library", HEADROOM_LAB_LIBRARY},
                   .timeout = 1200});
    if (done.how == child_result::end::not_started) throw cannot_run("there is no Python");
    if (done.code == 3) throw cannot_run(done.output);
    if (done.how != child_result::end::exited || done.code != 0) throw std::runtime_error("programs.py: " + done.errors);
    program made;
    std::istringstream lines(done.output);
    for (std::string word, rest; lines >> word && std::getline(lines >> std::ws, rest);) {
        if (word == "file") made.call.program = rest;
        if (word == "argument") made.call.arguments.push_back(rest);
        if (word == "build_time") made.build_time = std::stod(rest);
        if (word == "result") made.result = rest;
    }
    return made;
}

metrics run_program(const std::string& container, const parameters& point) {
    const program made = make(point.text("program"), container);
    const child_result done = run_child(made.call);
    // A solver's exit code of 10 means "there is a solution".
    if (done.how != child_result::end::exited || (done.code != 0 && done.code != 10)) {
        throw std::runtime_error(made.call.program + " ended with " + std::to_string(done.code) + ": " + done.errors);
    }
    std::uint64_t sum = 14695981039346656037U;
    for (const char letter : done.output) sum = (sum ^ static_cast<unsigned char>(letter)) * 1099511628211U;
    if (!made.result.empty()) sum = std::filesystem::file_size(made.result);
    return {{"time", {"s", {done.cpu_time}}},
            {"wall", {"s", {done.wall_time}}},
            {"peak", {"B", {done.peak_resident}}},
            {"page_faults", {"", {done.page_faults}}},
            {"size", {"B", {static_cast<double>(std::filesystem::file_size(made.call.program))}}},
            {"build_time", {"s", {made.build_time}}},
            {"checksum", {"", {static_cast<double>(sum & 0xffff'ffff'ffff)}}}};
}

experiment whole_programs() {
    std::vector<contender> both;
    for (const char* const container : {"std::vector", "headroom::vector"}) {
        both.push_back({container, "", "", [=](const parameters& point) { return run_program(container, point); }});
    }
    return {.id = "whole-programs",
            .question = "What does it bring to whole programs that nobody here wrote?",
            .source = "Headroom's own",
            .contenders = std::move(both),
            .grid =
                [](grid_size size, const std::string&) {
                    std::vector<configuration> result;
                    if (size == grid_size::quick) return result;
                    for (const char* const program :
                         {"cadical", "fasttext", "hunspell", "jsoncpp", "ninja", "polyclipping", "yaml-cpp"}) {
                        configuration one;
                        one.parameters = {{"program", std::string(program)}};
                        one.rounds = 3;
                        one.seconds = 2;
                        one.memory = 400e6;
                        one.warmed = 400e6;    // a huge page that the host has taken back costs milliseconds
                        result.push_back(std::move(one));
                    }
                    return result;
                },
            .check = [](const parameters& point) { return point; },    // builds them, too
            .preloaded = {"std::vector", "headroom::vector"},
            .place = 125};
}

const registered_experiment registered(whole_programs);

}    // namespace
}    // namespace headroom::lab
