// The headroom command: one binary, a verb for each tool (verb.hpp).
//
// Exit codes: 0 done; 1 done, but something that was measured or read was wrong; 2 it was asked for something it cannot do;
// 128 + signal when stopped.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

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

}    // namespace

int main(int argc, char** argv) {
    if (argc > 1) {
        if (const missing_verb* const one = find_missing(argv[1])) {
            std::fprintf(stderr, "headroom: this build has no \"headroom %s\": %s\n", one->name, one->reason);
            return 2;
        }
    }
    CLI::App app("Growable memory: measured, inspected and tuned.", "headroom");
    app.set_version_flag("--version", "headroom " HEADROOM_COMMAND_VERSION);
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
    try {
        app.parse(argc, argv);
    } catch (const CLI::RequiredError& error) {
        // A misspelled command reads as a missing one; say which word was not understood.
        for (const std::string& word : app.remaining(true)) {
            std::fprintf(stderr, "headroom: unknown command or flag \"%s\"\n", word.c_str());
        }
        app.exit(error);
        return 2;
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    for (const auto& [subcommand, run] : verbs) {
        if (!subcommand->parsed()) continue;
        try {
            return run();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "headroom: %s\n", error.what());
        }
    }
    return 2;
}
