// SPDX-License-Identifier: MIT
// The headroom command: one binary, a verb for each tool (verb.hpp).
//
// Exit codes: 0 done; 1 done, but a measurement or an input was wrong; 2 the command line or the task was impossible;
// 128 + signal when stopped.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "command_line.hpp"
#include "printable.hpp"
#include "verb.hpp"

namespace {

using headroom::tools::missing_verb;
using headroom::tools::missing_verbs;
using headroom::tools::registered_verb;

std::vector<const registered_verb*> verbs_by_name() {
    std::vector<const registered_verb*> all;
    for (const registered_verb* one = registered_verb::first; one != nullptr; one = one->next) all.push_back(one);
    std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return std::strcmp(a->name, b->name) < 0; });
    return all;
}

const missing_verb* find_missing(const std::string& name) {
    for (const missing_verb* one = missing_verbs; one->name != nullptr; ++one) {
        if (name == one->name) return one;
    }
    return nullptr;
}

// Opens /dev/null for each standard stream that the caller closed (2>&-): the next file opened would get its number, and our output.
void open_closed_streams() {
    int file = 0;
    while (file >= 0 && file <= STDERR_FILENO) file = open("/dev/null", O_RDWR);
    if (file >= 0) close(file);
}

// Prints why a verb failed. The library's own exceptions begin with its name, as this command's complaints do.
void print_failure(std::string_view why) {
    constexpr std::string_view name = "headroom: ";
    if (why.starts_with(name)) why.remove_prefix(name.size());
    std::fprintf(stderr, "headroom: %s\n", headroom::tools::printable(why).c_str());
}

}    // namespace

int main(int argc, char** argv) {
    open_closed_streams();
    if (argc > 1) {
        if (const missing_verb* const one = find_missing(argv[1])) {
            std::fprintf(stderr, "headroom: this build has no \"headroom %s\": %s\n", one->name, one->reason);
            return 2;
        }
    }
    CLI::App app("Growable memory: measured and inspected.", "headroom");
    app.set_version_flag("--version", "headroom " HEADROOM_COMMAND_VERSION);
    app.set_help_all_flag("--help-all", "The help of every command");
    app.require_subcommand(1);
    std::string left_out;
    for (const missing_verb* one = missing_verbs; one->name != nullptr; ++one) {
        left_out += std::string("\n  ") + one->name + ": " + one->reason;
    }
    if (!left_out.empty()) app.footer("Not in this build:" + left_out);

    std::vector<std::pair<const CLI::App*, std::function<int()>>> verbs;
    for (const registered_verb* const one : verbs_by_name()) {
        CLI::App* const subcommand = app.add_subcommand(one->name, one->summary);
        verbs.emplace_back(subcommand, one->set_up(*subcommand));
    }
    std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    if (words.empty()) {
        std::fputs(app.help().c_str(), stderr);
        return 2;
    }
    if (words.front() == "--complete") {    // asked by the completions of shells, packaging/completions/
        words.erase(words.begin());
        std::fputs(headroom::tools::offered(app, words).c_str(), stdout);
        return 0;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const std::string unknown = error.get_exit_code() == 0 ? "" : headroom::tools::unknown_word(app, words);
        if (unknown.empty()) {
            std::ostringstream out;
            std::ostringstream complaint;    // may repeat words of the command line
            const int code = app.exit(error, out, complaint);
            std::fputs(out.str().c_str(), stdout);
            std::fputs(headroom::tools::printable_lines(complaint.str()).c_str(), stderr);
            return code == 0 ? 0 : 2;
        }
        std::fprintf(stderr, "%s\n", unknown.c_str());
        return 2;
    }
    for (const auto& [subcommand, run] : verbs) {
        if (!subcommand->parsed()) continue;
        try {
            return run();
        } catch (const std::exception& error) {
            print_failure(error.what());
        }
    }
    return 2;
}
