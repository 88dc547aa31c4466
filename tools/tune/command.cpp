// headroom tune: what pages cost on this machine, and how containers should grow here.
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
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
void note_signal(int which) { asked_to_stop = which; }
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
    // Ten seconds for nothing would be a pity.
    if (!wish.header.empty()) tune::require_writable(wish.header);
    if (!wish.json.empty()) tune::require_writable(wish.json);
    const bool table = wish.json != "-" && wish.header != "-";
    std::signal(SIGINT, note_signal);
    std::signal(SIGTERM, note_signal);

    const tune::occasion when = tune::here_and_now();
    const tune::costs measured = tune::measure(wish.seconds, stopped);
    if (stopped()) return interrupted();
    const tune::advice found = tune::advise(measured);
    if (table) tune::write_whole("-", tune::table_text(when, measured, found));
    bool slower = false;
    if (wish.check) {
        const auto compared = tune::compare(found.commit, found.map_threshold, wish.seconds, stopped);
        if (stopped()) return interrupted();
        slower = tune::any_slower(compared);
        const std::string text = tune::check_text(compared);
        if (table) tune::write_whole("-", text);
        else std::fputs(text.c_str(), stderr);
    }
    if (!wish.json.empty()) tune::write_whole(wish.json, tune::json_text(when, measured, found));
    if (slower) {
        std::fprintf(stderr, "headroom: the policy was slower than the default%s\n",
                     wish.header.empty() ? "" : ": no header was written");
        return 1;
    }
    if (!wish.header.empty()) tune::write_whole(wish.header, tune::header_text(when, measured, found));
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
