// headroom tune: what pages cost on this machine, and how containers should grow here.
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

#include "check.hpp"
#include "files.hpp"
#include "measure.hpp"
#include "rules.hpp"
#include "show.hpp"
#include "verb.hpp"

namespace headroom::tools { namespace {

// The signal that asked for an end. Nothing is written before all is measured, so that there is nothing to tidy up.
volatile std::sig_atomic_t asked_to_stop = 0;
// (A second one ends the program at once: a run of the comparison takes seconds, and more where the machine swaps.)
void note_signal(int which) {
    asked_to_stop = which;
    std::signal(which, SIG_DFL);
}
bool stopped() { return asked_to_stop != 0; }

struct wishes {
    double seconds = 10;
    std::string json;
    std::string header;
    bool check = false;
};

int interrupted() {
    std::fprintf(stderr, "headroom: interrupted; nothing was written\n");
    return 128 + asked_to_stop;
}

int tune_machine(const wishes& wish) {
    std::signal(SIGINT, note_signal);
    std::signal(SIGTERM, note_signal);
    // Ten seconds for nothing would be a pity.
    if (!wish.header.empty() && wish.header == wish.json) {
        throw std::runtime_error("--json and --header want to write to the same place: " + wish.json);
    }
    if (!wish.header.empty()) tune::require_writable(wish.header);
    if (!wish.json.empty()) tune::require_writable(wish.json);
    tune::require_memory();
    const bool table = wish.json != "-" && wish.header != "-";

    const tune::occasion when = tune::here_and_now();
    const tune::costs measured = tune::measure(wish.seconds, stopped);
    if (stopped()) return interrupted();
    const tune::advice found = tune::advise(measured);
    const auto show_table = [&] {
        if (table) tune::write_whole("-", tune::table_text(when, measured, found));
    };
    const auto write_json = [&] {
        if (!wish.json.empty()) tune::write_whole(wish.json, tune::json_text(when, measured, found));
    };
    const auto write_header = [&] {
        if (!wish.header.empty()) tune::write_whole(wish.header, tune::header_text(when, measured, found));
    };
    if (!wish.check) {
        // Files first: whoever reads the table may stop reading.
        write_json();
        write_header();
        show_table();
        return 0;
    }
    show_table();
    const auto compared = tune::compare(found.commit, found.map_threshold, wish.seconds, stopped);
    if (stopped()) return interrupted();
    const std::string text = tune::check_text(compared);
    if (table) tune::write_whole("-", text);
    else std::fputs(text.c_str(), stderr);
    write_json();
    if (tune::any_slower(compared)) {
        std::fprintf(stderr, "headroom: the policy was slower than the default%s\n",
                     wish.header.empty() ? "" : ": no header was written");
        return 1;
    }
    write_header();
    return 0;
}

std::function<int()> set_up(CLI::App& app) {
    auto wish = std::make_shared<wishes>();
    const CLI::Validator named([](const std::string& name) { return name.empty() ? "it has no name" : std::string(); }, "FILE");
    app.add_option("--seconds", wish->seconds, "How long to measure; --check takes about as long again")
        ->check(CLI::Range(0.01, 3600.0))
        ->capture_default_str();
    app.add_option("--json", wish->json, "Write costs and policy as JSON (\"-\": to standard output)")->check(named);
    app.add_option("--header", wish->header,
                   "Write a header with the policy, for programs to include (\"-\": to standard output)")
        ->check(named);
    app.add_flag("--check", wish->check, "Compare the policy with the default; exit code 1 if it is slower beyond noise");
    return [wish] { return tune_machine(*wish); };
}

const registered_verb tune_verb("tune", "Measure what pages cost here, and say how containers should grow", set_up);

}    // namespace
}    // namespace headroom::tools
