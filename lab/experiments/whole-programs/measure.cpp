// SPDX-License-Identifier: MIT
// Question: what is left to gain in whole programs of other people, beside the best malloc?
//
// Source: Headroom's own. Programs of Debian's source packages. Seven were there first: a solver, a trainer of a text classifier
//   (two threads), a spell checker, a build tool, two readers of data formats, a clipper of polygons. Six were chosen by their kind,
//   before they were profiled: a mesh reducer (OpenMesh), a solver of round trips (LEMON), a trainer of forests (ranger, two
//   threads), a translator of a binary format (wabt), an interpreter with a syntax tree (jsonnet), a text indexer (CLucene).
// Method here, and why: programs.py downloads their sources, compiles each as it is, with every std::vector replaced by
//   headroom::vector, and with what `headroom profile` advises for it (patches/, where it advises anything; at most forty lines),
//   with the same flags, and runs them on inputs that it makes up. "time" is the program's processor time, user and system. The
//   checksum is of what it prints: the same for all. "build_time" is the compiler's processor time for all files, "size" is of the
//   stripped program, with the library linked statically. As it is and as advised it runs under each allocator that a user could
//   preload as well; replaced vectors do not, because under those they gained nothing (docs/dead-ends.md).
// Disadvantages: Headroom, where a program's time is not in its memory; those whose advice promises too little to be followed
//   take part without it.
#include <cstdint>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/child.hpp"
#include "engine/experiment.hpp"

namespace headroom::lab { namespace {

constexpr const char* as_it_is = "std::vector";
constexpr const char* replaced = "headroom::vector";
constexpr const char* advised = "headroom::advised";

struct program {
    child_request call;
    double build_time = 0;
    std::string result;    // a file whose length is compared, not what is printed
};

program make(const std::string& name, const std::string& contender) {
    const child_result done =
        run_child({.program = HEADROOM_LAB_PYTHON,
                   .arguments = {"-B", HEADROOM_LAB_PROGRAMS, name, contender, "--folder", HEADROOM_LAB_WHOLE, "--compiler",
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

metrics run_program(const std::string& contender, const parameters& point) {
    const program made = make(point.text("program"), contender);
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

bool has_advice(const std::string& name) {
    return std::filesystem::exists(std::filesystem::path(HEADROOM_LAB_PROGRAMS).parent_path() / "patches" / (name + ".patch"));
}

experiment whole_programs() {
    std::vector<contender> all;
    for (const char* const contender : {as_it_is, replaced, advised}) {
        all.push_back({contender, "", "", [=](const parameters& point) { return run_program(contender, point); }});
    }
    return {.id = "whole-programs",
            .question = "What is left to gain in whole programs that nobody here wrote, beside the best malloc?",
            .source = "Headroom's own",
            .contenders = std::move(all),
            .grid =
                [](grid_size size, const std::string&) {
                    std::vector<configuration> result;
                    if (size == grid_size::quick) return result;
                    for (const char* const program : {"cadical", "clucene", "fasttext", "hunspell", "jsoncpp", "jsonnet", "lemon",
                                                      "ninja", "openmesh", "polyclipping", "ranger", "wabt", "yaml-cpp"}) {
                        const bool large =
                            std::set<std::string>{"cadical", "fasttext", "jsoncpp", "wabt", "yaml-cpp"}.contains(program);
                        configuration one;
                        one.parameters = {{"program", std::string(program)}};
                        one.rounds = 5;
                        one.seconds = 0.8;
                        one.memory = large ? 350e6 : 60e6;
                        one.warmed = one.memory;    // a huge page that the host has taken back costs milliseconds
                        one.contenders = {as_it_is};
                        // In two of them a replaced text does not compile.
                        if (!std::set<std::string>{"clucene", "ranger"}.contains(program)) one.contenders.emplace_back(replaced);
                        if (has_advice(program)) one.contenders.emplace_back(advised);
                        result.push_back(std::move(one));
                    }
                    return result;
                },
            .check = [](const parameters& point) { return point; },    // builds them, too
            .preloaded = {as_it_is, advised},
            .place = 125};
}

const registered_experiment registered(whole_programs);

}    // namespace
}    // namespace headroom::lab
