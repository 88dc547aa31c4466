// SPDX-License-Identifier: MIT
// headroom lab: list, run, report, compare, merge.
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/merge.hpp"
#include "engine/other_load.hpp"
#include "engine/plan.hpp"
#include "engine/progress.hpp"
#include "engine/runner.hpp"
#include "engine/stop.hpp"
#include "shell_words.hpp"
#include "printable.hpp"
#include "verb.hpp"

namespace headroom::tools { namespace {

namespace fs = std::filesystem;

fs::path program() {
    std::error_code error;
    fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (error) throw std::runtime_error("cannot find the folder of this program: " + error.message());
    return self;
}

// The programs that measure stand next to this one.
std::vector<std::string> programs() {
    const fs::path self = program();
    std::vector<std::string> result;
    for (const char* name : {HEADROOM_LAB_PROGRAMS}) {
        const fs::path beside = self.parent_path() / name;
        if (!fs::exists(beside)) throw std::runtime_error("missing beside this program: " + beside.string());
        result.push_back(beside.string());
    }
    return result;
}

std::string setting(const char* variable, const char* otherwise) {
    const char* const value = std::getenv(variable);
    return value != nullptr && *value != '\0' ? value : otherwise;
}

// "2/4": part 2 of 4.
std::pair<std::size_t, std::size_t> parse_shard(const std::string& text) {
    unsigned long index = 0;
    unsigned long count = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%lu/%lu%c", &index, &count, &rest) != 2 || index < 1 || index > count) {
        throw std::invalid_argument("--shard wants i/n with 1 <= i <= n, as in 2/4, not \"" + text + "\"");
    }
    return {index, count};
}

class lab_command {
public:
    // Adds its subcommands to `lab`.
    explicit lab_command(CLI::App& lab);

    // Carries out the command. Returns an exit code; throws std::exception on failure.
    int run();

private:
    int list();
    int measure();
    [[nodiscard]] bool begin_beside_others(double& waiting) const;
    int merge();
    // Hands over to the report's own program with these words; does not return.
    int report(std::vector<std::string> arguments);
    [[nodiscard]] const char* grid() const;

    CLI::App* list_;
    CLI::App* run_;
    CLI::App* report_;
    CLI::App* compare_;
    CLI::App* merge_;

    bool quick_ = false;
    bool default_ = false;    // what no flag means; said, it only keeps the others away
    bool full_ = false;
    std::string filter_;
    std::string shard_;
    std::string out_ = "headroom-results.jsonl";
    int rounds_ = 0;
    double wait_ = -1;    // minutes; negative: measure beside others
    bool figures_ = false;
    std::string merge_out_;
    std::vector<std::string> merge_files_;
};

lab_command::lab_command(CLI::App& lab) {
    lab.require_subcommand(1);

    const auto add_grid = [&](CLI::App* to) {
        CLI::Option* const quick = to->add_flag("--quick", quick_, "Every experiment with small sizes, in a few minutes");
        CLI::Option* const full = to->add_flag("--full", full_, "The sizes of the documents; takes days, and all memory");
        full->excludes(quick);
        to->add_flag("--default", default_, "What is measured without a flag: the sizes between those two, in about an hour")
            ->excludes(quick)
            ->excludes(full);
        to->add_option("--filter", filter_,
                       "Experiment ids (a,b,c), or a regular expression over \"experiment contender name=value ...\"");
    };
    list_ = lab.add_subcommand("list", "Show the experiments, their contenders and sizes");
    add_grid(list_);

    run_ = lab.add_subcommand("run", "Measure, and append to a result file; what is already in it is not run again");
    add_grid(run_);
    run_->add_option("--out", out_, "The result file")->capture_default_str();
    run_->add_option("--rounds", rounds_,
                     "How often each contender runs each configuration; counts that are the same every time are taken once")
        ->check(CLI::Range(1, 10000));
    run_->add_option("--wait", wait_,
                     "Minutes: begin when other programs use less than a twentieth of a processor, and repeat what they disturb; "
                     "give up after so many minutes of waiting")
        ->check(CLI::Range(0.0, 100000.0));
    run_->add_flag("--figures", figures_, "Print each configuration's figures as they are measured");
    run_->add_option("--shard", shard_, "i/n: run only part i of n; lab merge joins the parts");

    report_ = lab.add_subcommand("report", "Make the report from result files; all arguments go to it (see report --help)");
    report_->prefix_command();
    report_->set_help_flag();

    compare_ = lab.add_subcommand("compare", "Compare two result files A B: what changed by more than the noise");
    compare_->prefix_command();
    compare_->set_help_flag();

    merge_ = lab.add_subcommand("merge", "Merge result files into one");
    merge_->add_option("files", merge_files_, "Result files")->required();
    merge_->add_option("--out", merge_out_, "The file to write")->required();
}

const char* lab_command::grid() const { return quick_ ? "quick" : full_ ? "full" : "default"; }

int lab_command::run() {
    if (list_->parsed()) return list();
    if (run_->parsed()) return measure();
    if (report_->parsed()) return report(report_->remaining());
    if (compare_->parsed()) {
        std::vector<std::string> words = compare_->remaining();
        words.insert(words.begin(), "compare");
        return report(std::move(words));
    }
    if (merge_->parsed()) return merge();
    return 2;
}

int lab_command::list() {
    lab::catalogue all = lab::ask(programs(), grid());
    lab::keep_matching(all, filter_);
    double total = 0;
    for (const lab::announced_experiment& one : all.experiments) {
        std::size_t configurations = 0;
        double seconds = 0;
        std::map<std::string, bool> taking_part;
        std::map<std::string, std::map<std::string, bool>> axes;
        for (const lab::planned& point : all.plan) {
            if (point.experiment != one.id) continue;
            ++configurations;
            seconds += point.cost();
            for (const std::string& contender : point.contenders) taking_part[contender] = true;
            for (const auto& [name, value] : point.parameters) axes[name][lab::to_text({{name, value}})] = true;
        }
        if (configurations == 0) continue;
        total += seconds;
        std::printf("%s\n    %s\n    from: %s; %zu configurations, about %s\n", one.id.c_str(), one.question.c_str(),
                    one.source.c_str(), configurations, lab::progress::duration(seconds).c_str());
        for (const auto& [name, values] : axes) {
            std::printf("    %s:", name.c_str());
            // Prints values in the order of the grid; sorted as text, sizes would be out of order.
            std::map<std::string, bool> printed;
            for (const lab::planned& point : all.plan) {
                if (point.experiment != one.id || !point.parameters.contains(name)) continue;
                for (const auto& [axis, value] : point.parameters) {
                    const std::string text = lab::to_text({{axis, value}}).substr(axis.size() + 1);
                    if (axis == name && !printed[text]) {
                        printed[text] = true;
                        std::printf(" %s", text.c_str());
                    }
                }
            }
            std::printf("\n");
        }
        std::printf("    contenders:\n");
        for (const lab::announced_contender& each : one.contenders) {
            if (!taking_part[each.id]) continue;
            std::printf("        %s%s%s\n", each.id.c_str(),
                        each.absent.empty() ? "" : "  (absent: ", each.absent.empty() ? "" : (each.absent + ")").c_str());
        }
    }
    std::printf("about %s in all\n", lab::progress::duration(total).c_str());
    return 0;
}

// Names the programs that use the machine. With --wait it waits for at most `waiting` seconds until the machine is quiet, and subtracts
// what that took. Returns true if the run may begin.
bool lab_command::begin_beside_others(double& waiting) const {
    const bool waits = wait_ >= 0;
    lab::other_load load = lab::observe_other_load(0.2);
    if (load.quiet()) return true;
    load = lab::observe_other_load(1);    // a tick of the system's clock is a twentieth of 0.2 s
    if (load.quiet()) return true;
    std::fprintf(stderr, "This machine is busy: other programs use %s.\n", lab::to_string(load).c_str());
    if (!waits) {
        std::fprintf(
            stderr,
            "Figures will be less even, and fewer cells decided. --wait 30 waits for up to 30 minutes until it is quiet.\n");
        return true;
    }
    std::fprintf(stderr, "Waiting for up to %s until it is quiet.\n", lab::progress::duration(waiting).c_str());
    lab::note_stop_signals();
    load = lab::wait_until_quiet(waiting);
    if (load.quiet()) return true;
    if (lab::stop_signal() == 0) {
        std::fprintf(stderr, "Still %s. Nothing was measured; end those programs, or give a longer --wait.\n",
                     lab::to_string(load).c_str());
    }
    return false;
}

int lab_command::measure() {
    lab::catalogue all = lab::ask(programs(), grid());
    lab::keep_matching(all, filter_);
    lab::pair_first(all);
    std::vector<lab::planned> plan = all.plan;
    if (!shard_.empty()) {
        const auto [index, count] = parse_shard(shard_);
        plan = lab::shard(all.plan, index, count);
    }
    // As it is typed anywhere: the program's own place, the file's own place, and what the shell would read otherwise in quotes.
    std::string again = for_shell(program().string()) + " lab run" + (quick_ ? " --quick" : full_ ? " --full" : "");
    if (!filter_.empty()) again += " --filter " + for_shell(filter_);
    if (!shard_.empty()) again += " --shard " + shard_;
    if (rounds_ > 0) again += " --rounds " + std::to_string(rounds_);
    if (figures_) again += " --figures";
    if (wait_ >= 0) again += " --wait " + for_shell(run_->get_option("--wait")->as<std::string>());
    again += " --out " + for_shell(fs::absolute(out_).string());
    if (const char* const outer = std::getenv("HEADROOM_LAB_AGAIN")) again = outer;    // a script that does more than measure
    double waiting = wait_ * 60;
    if (!begin_beside_others(waiting)) return lab::stop_signal() != 0 ? 128 + lab::stop_signal() : 3;
    return lab::run_plan(all, plan,
                         {.out = out_,
                          .grid = grid(),
                          .rounds = rounds_,
                          .figures = figures_,
                          .waiting = wait_ >= 0 ? std::optional<double>(waiting) : std::nullopt,
                          .resume_hint = again});
}

int lab_command::merge() {
    const lab::merged done = lab::merge_results(merge_files_, merge_out_);
    for (const lab::bad_line& bad : done.bad) std::fprintf(stderr, "%s\n", printable(lab::to_string(bad)).c_str());
    std::fprintf(stderr, "%s: %zu lines; %zu duplicates left out, %zu lines skipped", printable(merge_out_).c_str(), done.lines,
                 done.duplicates, done.bad.size());
    if (done.conflicts != 0) {
        std::fprintf(stderr, "; %zu runs were measured twice with different results: all are kept, the report takes the last",
                     done.conflicts);
    }
    std::fprintf(stderr, "\n");
    return 0;
}

int lab_command::report(std::vector<std::string> arguments_for_it) {
    fs::path folder = setting("HEADROOM_REPORT_DIR", "");
    if (folder.empty()) {
        // Where an installation puts it, or where this program was built.
        folder = program().parent_path() / ".." / "share" / "headroom" / "lab" / "report";
        if (!fs::exists(folder / "headroom_report")) folder = HEADROOM_DEFAULT_REPORT_DIR;
    }
    std::string python = setting("HEADROOM_PYTHON", HEADROOM_DEFAULT_PYTHON);
    if (!fs::exists(folder / "headroom_report")) {
        throw std::runtime_error("the report is not in " + folder.string() + "; set HEADROOM_REPORT_DIR to where it is");
    }
    if (python.find('/') != std::string::npos && !fs::exists(python)) {
        throw std::runtime_error("there is no Python at " + python +
                                 "; ./dev makes one with all that the report needs, or set HEADROOM_PYTHON");
    }
    const std::string path = setting("PYTHONPATH", "");
    setenv("PYTHONPATH", (folder.string() + (path.empty() ? "" : ":" + path)).c_str(), 1);
    std::vector<std::string> words{python, "-m", "headroom_report"};
    for (std::string& one : arguments_for_it) words.push_back(std::move(one));
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(python.c_str(), arguments.data());
    throw std::runtime_error(python + ": " + std::strerror(errno));
}

std::function<int()> set_up(CLI::App& app) {
    auto command = std::make_shared<lab_command>(app);
    return [command] { return command->run(); };
}
const registered_verb registered("lab", "Measure vectors and memory resources side by side on this machine", set_up);

}    // namespace
}    // namespace headroom::tools
