// The headroom command: one binary, a subcommand for each tool.
//
// Exit codes: 0 done; 1 done, but something that was measured or read was wrong; 2 it was asked for something it cannot do;
// 128 + signal when stopped.
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include "lab_command.hpp"

int main(int argc, char** argv) {
    CLI::App app("Growable memory, measured and tuned.", "headroom");
    app.set_version_flag("--version", "headroom " HEADROOM_LAB_VERSION);
    app.require_subcommand(1);
    headroom::tools::lab_command lab(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::RequiredError& error) {
        // A misspelled command reads as a missing one; say which word was not understood.
        for (const std::string& word : app.remaining(true)) std::fprintf(stderr, "headroom: what is \"%s\"?\n", word.c_str());
        app.exit(error);
        return 2;
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        return lab.run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "headroom: %s\n", error.what());
        return 2;
    }
}
