// SPDX-License-Identifier: MIT
#include "command.hpp"

#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "analyse/add_up.hpp"
#include "analyse/symbols.hpp"
#include "preload/mallocs.hpp"
#include "printable.hpp"
#include "record/record.hpp"
#include "show/show.hpp"
#include "verb.hpp"

namespace headroom::tools {
namespace {

namespace fs = std::filesystem;

// Beside this program where it was built, or where an installation puts it.
std::string recorder_path() {
    if (const char* const given = std::getenv("HEADROOM_RECORDER"); given != nullptr && *given != '\0') return given;
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (error) throw std::runtime_error("cannot find the folder of this program: " + error.message());
    for (const fs::path& candidate : {self.parent_path() / "headroom-recorder.so",
                                      self.parent_path() / ".." / HEADROOM_RECORDER_FOLDER / "headroom-recorder.so"}) {
        if (fs::exists(candidate)) return fs::canonical(candidate).string();
    }
    throw std::runtime_error("headroom-recorder.so is missing beside this program; set HEADROOM_RECORDER to its path");
}

std::size_t terminal_width() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
    return 160;
}

// "512k" is 524,288 bytes.
std::uint64_t parse_bytes(const std::string& text) {
    char* end = nullptr;
    const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
    std::uint64_t unit = 1;
    switch (*end) {
        case 'k':
        case 'K':
            unit = std::uint64_t{1} << 10;
            ++end;
            break;
        case 'm':
        case 'M':
            unit = std::uint64_t{1} << 20;
            ++end;
            break;
        default: break;
    }
    if (text.empty() || text[0] == '-' || *end != '\0' || number == 0 || number > (std::uint64_t{1} << 40)) {
        throw std::invalid_argument("--sample wants a number of bytes, as in 524288 or 512k, not \"" + text + "\"");
    }
    return number * unit;
}

}    // namespace

profile_command::profile_command(CLI::App& profile) {
    const auto outputs = [&](CLI::App* to) {
        to->add_option("--page", page_, "Write a page for a browser: time line, flame graph, advice");
        to->add_option("--sources", sources_,
                       "The folder whose files the page may show lines of (of a program that is run: where it is run)");
        to->add_option("--json", json_, "Write everything as JSON (\"-\": to standard output)");
        to->add_option("--pprof", pprof_, "Write a profile that `go tool pprof` reads");
        to->add_option("--folded", folded_, "Write call stacks and the bytes they copied, for flame graph programs");
    };
    profile.footer(
        "headroom profile [FLAGS] -- COMMAND [ARGUMENTS]\nheadroom profile import FILE [FLAGS]\n"
        "headroom profile diff BEFORE AFTER");
    outputs(&profile);
    profile.add_option("-o,--out", trace_, "The file to write the trace to (default: PROGRAM.headroom)");
    profile.add_option("--sample", sample_,
                       "Record one block in about so many bytes (512k), rather than all: next to no overhead");
    profile.add_option(
        "--malloc", malloc_,
        "The malloc that the program runs over, as headroom compare-malloc names it, or NAME=FILE (default: its own)");
    profile.add_option("command", command_, "The program to run, and its arguments; write -- before it");
    profile.require_subcommand(0, 1);
    import_ = profile.add_subcommand("import", "Show a trace that was recorded before, by headroom profile or by heaptrack");
    import_->add_option("file", files_, "The trace")->required()->expected(1);
    outputs(import_);
    diff_ = profile.add_subcommand("diff", "Compare two traces: what changed from the first to the second");
    diff_->add_option("files", both_, "The trace before a change, and the trace after it")->required()->expected(2);
}

int profile_command::run() {
    if (import_->parsed()) {
        show(profile::add_up(files_.front()));
        return 0;
    }
    if (diff_->parsed()) {
        const auto before = profile::find_sites(profile::add_up(both_[0]));
        const auto after = profile::find_sites(profile::add_up(both_[1]));
        std::fputs(profile::difference_text(before, after, terminal_width()).c_str(), stdout);
        return 0;
    }
    return record();
}

int profile_command::record() {
    if (command_.empty()) throw std::invalid_argument("no command was given: headroom profile -- COMMAND [ARGUMENTS]");
    if (!malloc_.empty()) {    // the recorder comes before what is preloaded
        const malloc_library over = malloc_named(malloc_);
        if (const std::string why = why_not_preloadable(over); !why.empty()) throw std::runtime_error(over.name + ": " + why);
        setenv("LD_PRELOAD", preload_value(over.file).c_str(), 1);
    }
    profile::recording what;
    what.command = command_;
    what.sample = sample_.empty() ? 0 : parse_bytes(sample_);
    what.recorder = recorder_path();
    if (sources_.empty()) sources_ = ".";
    what.trace = trace_.empty() ? fs::path(command_.front()).filename().string() + ".headroom" : trace_;
    const profile::recorded result = profile::record_command(what);
    std::fflush(stdout);
    for (const std::string& message : result.messages) std::fprintf(stderr, "headroom: %s\n", printable(message).c_str());
    for (const std::string& failure : result.failures) std::fprintf(stderr, "headroom: %s\n", printable(failure).c_str());
    if (result.processes != 0) {
        profile::trace_totals totals = profile::add_up(what.trace);
        totals.unseen = result.failures;
        if (const std::string failure = profile::write_names(totals); !failure.empty()) {
            std::fprintf(stderr,
                         "headroom: cannot write names into %s: %s; it has them only while its programs stay as they are\n",
                         printable(what.trace).c_str(), printable(failure).c_str());
        }
        std::fprintf(stderr, "headroom: the trace was written to %s (%s)\n", printable(what.trace).c_str(),
                     profile::bytes_text(static_cast<double>(result.trace_size)).c_str());
        show(totals);
    }
    if (WIFSIGNALED(result.status)) return 128 + WTERMSIG(result.status);
    if (WEXITSTATUS(result.status) != 0) return WEXITSTATUS(result.status);
    if (!result.failures.empty()) return 2;
    return result.processes == 0 ? 1 : 0;
}

void profile_command::show(const profile::trace_totals& trace) {
    const profile::profile_result found = profile::find_sites(trace);
    if (json_ != "-" && folded_ != "-") std::fputs(profile::terminal_text(found, terminal_width()).c_str(), stdout);
    if (!json_.empty()) profile::write_output(json_, profile::json_text(found));
    if (!folded_.empty()) profile::write_output(folded_, profile::folded_text(found));
    if (!pprof_.empty()) profile::write_output(pprof_, profile::pprof_bytes(found));
    if (!page_.empty()) profile::write_output(page_, profile::page_text(found, sources_));
}

namespace {

std::function<int()> set_up(CLI::App& app) {
    auto command = std::make_shared<profile_command>(app);
    return [command] { return command->run(); };
}
const registered_verb registered("profile", "Run a program and say which allocation sites would gain from a change", set_up);

}    // namespace

}    // namespace headroom::tools
