// SPDX-License-Identifier: MIT
// The lab through its user interface: the headroom command, run as a program.
// Labels: lab no-valgrind alone
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "engine/records.hpp"
#include "support/scratch_folder.hpp"
#include "support/shell.hpp"

namespace {

using headroom::lab::read_results;
using headroom::lab::results;
using headroom::lab::run_record;
using headroom::testing_support::answer;
using headroom::testing_support::scratch_folder;

answer headroom_command(const std::string& arguments, const std::string& environment = "") {
    return headroom::testing_support::shell(environment + " '" HEADROOM_COMMAND "' " + arguments);
}

const std::string tiny = "lab run --quick --filter 'throughput .*element=int elements=1000 .*O2' --rounds 2 --out ";

TEST(lab_command, list_names_experiments_and_contenders) {
    const answer list = headroom_command("lab list --quick");
    EXPECT_EQ(list.code, 0) << list.text;
    for (const char* word : {"throughput", "latency", "memory", "growth", "commit-cost", "one-growth", "std::vector",
                             "headroom::settled_vector/page_by_page"}) {
        EXPECT_NE(list.text.find(word), std::string::npos) << word;
    }
}

TEST(lab_command, a_run_leaves_one_record_for_each_contender_and_round) {
    const scratch_folder folder;
    const answer run = headroom_command(tiny + folder.file("r"));
    EXPECT_EQ(run.code, 0) << run.text;
    const results read = read_results(folder.file("r"));
    EXPECT_TRUE(read.bad.empty());
    ASSERT_EQ(read.machines.size(), 1U);
    for (const char* name : {"cpu", "kernel", "compiler", "flags", "libraries", "commit", "page_size"}) {
        EXPECT_TRUE(read.machines[0].contains(name)) << name;
    }
    std::map<std::string, int> rounds;
    std::set<double> sums;
    for (const run_record& one : read.runs) {
        ++rounds[one.contender];
        if (one.outcome != headroom::lab::outcome::ok) continue;
        EXPECT_EQ(one.machine, read.machines[0].at("id").get<std::string>());
        for (const char* metric : {"time", "time_steady", "destroy", "peak_resident", "cpu_time"}) {
            ASSERT_TRUE(one.metrics.contains(metric)) << one.contender << " " << metric;
            EXPECT_GT(one.metrics.at(metric).values.at(0), 0) << one.contender << " " << metric;
        }
        sums.insert(one.metrics.at("checksum").values.at(0));
    }
    EXPECT_EQ(rounds["std::vector"], 2);
    EXPECT_EQ(rounds["headroom::settled_vector"], 2);
    EXPECT_EQ(rounds["std::vector#2"], 2);
    EXPECT_EQ(sums.size(), 1U);
}

TEST(lab_command, what_is_said_to_a_closed_stream_is_not_among_the_results) {
    const scratch_folder folder;
    EXPECT_EQ(headroom_command(tiny + folder.file("r") + " 2>&-").code, 0);
    const results read = read_results(folder.file("r"));
    EXPECT_FALSE(read.runs.empty());
    EXPECT_TRUE(read.bad.empty()) << to_string(read.bad.front());
}

TEST(lab_command, rounds_interleave_the_contenders) {
    const scratch_folder folder;
    headroom_command(tiny + folder.file("r"));
    int last = 0;
    for (const run_record& one : read_results(folder.file("r")).runs) {
        EXPECT_GE(one.round, last);
        last = one.round;
    }
    EXPECT_EQ(last, 1);
}

// A program that keeps a processor busy while this lives.
class busy_program {
public:
    busy_program() : process_(fork()) {
        if (process_ == 0) {
            execl("/bin/sh", "busy-loop", "-c", "while :; do :; done", nullptr);
            _exit(127);
        }
    }
    ~busy_program() {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    busy_program(const busy_program&) = delete;
    busy_program& operator=(const busy_program&) = delete;

private:
    pid_t process_;
};

TEST(lab_command, a_busy_machine_is_named_with_what_keeps_it_busy) {
    const scratch_folder folder;
    const busy_program other;
    const answer run = headroom_command("lab run --quick --filter growth --out " + folder.file("r"));
    EXPECT_EQ(run.code, 0) << run.text;
    EXPECT_NE(run.text.find("This machine is busy: other programs use "), std::string::npos) << run.text;
    EXPECT_NE(run.text.find("--wait"), std::string::npos) << run.text;
    EXPECT_FALSE(read_results(folder.file("r")).runs.empty());
}

TEST(lab_command, nothing_is_measured_on_a_machine_that_does_not_become_quiet) {
    const scratch_folder folder;
    const busy_program other;
    const answer run = headroom_command("lab run --quick --filter growth --wait 0.01 --out " + folder.file("r"));
    EXPECT_EQ(run.code, 3) << run.text;
    EXPECT_NE(run.text.find("Nothing was measured"), std::string::npos) << run.text;
    EXPECT_FALSE(std::filesystem::exists(folder.file("r")));
}

TEST(lab_command, a_second_run_measures_nothing_again) {
    const scratch_folder folder;
    headroom_command(tiny + folder.file("r"));
    const std::size_t runs = read_results(folder.file("r")).runs.size();
    const answer again = headroom_command(tiny + folder.file("r"));
    EXPECT_EQ(again.code, 0);
    EXPECT_EQ(read_results(folder.file("r")).runs.size(), runs);
}

TEST(lab_command, a_run_goes_on_where_another_was_cut_off) {
    const scratch_folder folder;
    headroom_command(tiny + folder.file("r"));
    std::string text = folder.read("r");
    const std::size_t runs = read_results(folder.file("r")).runs.size();
    folder.write("r", text.substr(0, text.size() - 100));    // within the last record
    const answer again = headroom_command(tiny + folder.file("r"));
    EXPECT_EQ(again.code, 0) << again.text;
    EXPECT_NE(again.text.find("cut off"), std::string::npos) << again.text;
    const results read = read_results(folder.file("r"));
    EXPECT_EQ(read.runs.size(), runs);
    EXPECT_EQ(read.bad.size(), 1U);
}

TEST(lab_command, shards_together_are_the_whole) {
    const scratch_folder folder;
    const std::string some = "lab run --quick --filter 'throughput .*element=int elements=10*0 .*O2' --rounds 1";
    headroom_command(some + " --out " + folder.file("whole"));
    for (const char* part : {"1/2", "2/2"}) {
        const answer run = headroom_command(some + " --shard " + part + " --out " + folder.file("part" + std::string(part, 1)));
        EXPECT_EQ(run.code, 0) << run.text;
    }
    const answer merge =
        headroom_command("lab merge " + folder.file("part1") + " " + folder.file("part2") + " --out " + folder.file("both"));
    EXPECT_EQ(merge.code, 0) << merge.text;
    const auto keys = [&](const std::string& file) {
        std::multiset<std::string> found;
        for (const run_record& one : read_results(folder.file(file)).runs) found.insert(key_of(one));
        return found;
    };
    EXPECT_FALSE(keys("whole").empty());
    EXPECT_EQ(keys("both"), keys("whole"));
    EXPECT_FALSE(keys("part1").empty());
    EXPECT_FALSE(keys("part2").empty());
}

TEST(lab_command, what_it_cannot_do_is_a_clear_error_with_code_two) {
    const scratch_folder folder;
    const auto refused = [](const std::string& arguments, const std::string& word) {
        const answer run = headroom_command(arguments);
        EXPECT_EQ(run.code, 2) << arguments << ": " << run.text;
        EXPECT_NE(run.text.find(word), std::string::npos) << arguments << ": " << run.text;
    };
    refused("lab run --qiuck", "--qiuck");
    refused("lab fly", "fly");
    refused("", "Subcommands");
    refused("lab run --quick --full", "excludes");
    refused("lab run --quick --filter nonsense --out " + folder.file("r"), "nonsense");
    refused("lab run --quick --filter '(' --out " + folder.file("r"), "regular expression");
    refused("lab run --quick --shard 0/2 --out " + folder.file("r"), "--shard");
    refused("lab run --quick --shard 3/2 --out " + folder.file("r"), "--shard");
    refused("lab run --quick --rounds 0 --out " + folder.file("r"), "rounds");
    refused(tiny + folder.file("no/such/folder"), "no/such/folder");
    refused("lab merge " + folder.file("missing") + " --out " + folder.file("out"), "missing");
    EXPECT_FALSE(std::filesystem::exists(folder.file("r")));
    EXPECT_FALSE(std::filesystem::exists(folder.file("out")));
}

TEST(lab_command, a_report_without_a_report_folder_is_a_clear_error) {
    const answer run = headroom_command("lab report x.jsonl", "HEADROOM_REPORT_DIR=/nowhere");
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.text.find("HEADROOM_REPORT_DIR"), std::string::npos) << run.text;
}

// Runs the command with a report folder in `folder` and a Python that prints the shell words `said`, each in angle brackets.
answer with_fake_python(const scratch_folder& folder, const std::string& arguments, const std::string& said) {
    std::filesystem::create_directory(folder.file("headroom_report"));
    const std::string python = folder.write("python", "#!/bin/sh\nprintf '<%s>' " + said + "\n");
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    return headroom_command(arguments, "PYTHONPATH= HEADROOM_REPORT_DIR=" + folder.file(".") + " HEADROOM_PYTHON=" + python);
}

TEST(lab_command, the_report_gets_all_arguments_as_they_are) {
    const scratch_folder folder;
    const answer run = with_fake_python(folder, "lab report 'a b.jsonl' --out c.html -v", "\"$PYTHONPATH\" \"$@\"");
    EXPECT_EQ(run.text, "<" + folder.file(".") + "><-m><headroom_report><a b.jsonl><--out><c.html><-v>");
}

TEST(lab_command, two_result_files_are_compared_by_the_report) {
    const scratch_folder folder;
    const answer run = with_fake_python(folder, "lab compare a.jsonl 'b c.jsonl'", "\"$@\"");
    EXPECT_EQ(run.text, "<-m><headroom_report><compare><a.jsonl><b c.jsonl>");
}

TEST(lab_command, ctrl_c_leaves_whole_records_and_says_how_to_go_on) {
    const scratch_folder folder;
    const std::string out = folder.file("r");
    const std::string said = folder.file("said");
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        if (std::freopen(said.c_str(), "w", stderr) == nullptr) _exit(99);
        execl(HEADROOM_COMMAND, HEADROOM_COMMAND, "lab", "run", "--quick", "--filter", "throughput .*elements=1000 .*O2",
              "--rounds", "1000", "--out", out.c_str(), static_cast<char*>(nullptr));
        _exit(99);
    }
    // Waits for the first results, then interrupts a measurement.
    for (int i = 0; i < 3000; ++i) {
        std::error_code error;
        if (std::filesystem::exists(out, error) && read_results(out).runs.size() >= 5) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(child, SIGINT);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 130);
    const results read = read_results(out);
    EXPECT_TRUE(read.bad.empty());
    EXPECT_TRUE(read.whole);
    EXPECT_GE(read.runs.size(), 5U);
    const std::string text = folder.read("said");
    EXPECT_NE(text.find("--rounds 1000"), std::string::npos) << text;
    // It prints a command that resumes the run from any folder.
    const std::size_t from = text.find("To go on:\n  ");
    ASSERT_NE(from, std::string::npos) << text;
    const std::size_t start = from + std::string("To go on:\n  ").size();
    std::string again = text.substr(start, text.find('\n', start) - start);
    again.replace(again.find("--rounds 1000"), std::string("--rounds 1000").size(), "--rounds 1");
    EXPECT_EQ(std::system(("cd / && " + again + " >/dev/null 2>&1").c_str()), 0) << again;
    EXPECT_GT(read_results(out).runs.size(), read.runs.size());
}

TEST(lab_command, a_second_run_into_the_same_file_is_refused_while_the_first_lives) {
    const scratch_folder folder;
    const headroom::lab::record_writer first(folder.file("r"));
    const answer second = headroom_command(tiny + folder.file("r"));
    EXPECT_EQ(second.code, 2);
    EXPECT_NE(second.text.find("another run is writing"), std::string::npos) << second.text;
}

}    // namespace
