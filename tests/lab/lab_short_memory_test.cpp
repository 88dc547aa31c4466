// SPDX-License-Identifier: MIT
// The control group and swap file that an experiment creates: they limit memory and are removed however the experiment ends. A
// refusal to create them is recorded.
// Labels: lab no-valgrind alone
#include "engine/short_memory.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "engine/child.hpp"
#include "engine/records.hpp"
#include "engine/runner.hpp"
#include "support/scratch_folder.hpp"

namespace {

using headroom::lab::child_request;
using headroom::lab::child_result;
using headroom::lab::outcome;
using headroom::lab::planned;
using headroom::lab::run_child;
using headroom::lab::run_record;
using headroom::lab::short_memory;
using headroom::lab::short_memory_places;
using headroom::testing_support::scratch_folder;
namespace fs = std::filesystem;

constexpr std::uint64_t mib = 1 << 20;

std::string swaps() {
    std::ifstream in("/proc/swaps");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Returns the swap files and the groups below `parent` made by the process.
std::vector<std::string> left_by(pid_t maker, const fs::path& parent) {
    const std::string name = "headroom-lab-" + std::to_string(maker) + "-";
    std::vector<std::string> found;
    if (swaps().find(name) != std::string::npos) found.push_back("swap");
    std::error_code ignored;
    for (fs::directory_iterator at(parent, ignored), end; !ignored && at != end; at.increment(ignored)) {
        if (at->path().filename().string().starts_with(name)) found.push_back(at->path().string());
    }
    return found;
}

int exit_code(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

bool wait_for(const std::string& file) {
    for (int tries = 0; tries < 3000; ++tries) {
        if (fs::exists(file)) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

// --- Without permission of the system.

TEST(short_memory_refused, says_that_there_are_no_groups) {
    const scratch_folder folder;
    const short_memory none(mib, mib, {.groups = folder.file("none"), .own = folder.write("own", ""), .swap_folders = {}});
    EXPECT_EQ(none.refusal(), "this system has no control groups");
}

TEST(short_memory_refused, says_that_no_group_hands_its_controller_on) {
    const scratch_folder folder;
    fs::create_directories(folder.file("groups/mine"));
    const short_memory none(mib, mib,
                            {.groups = folder.file("groups"), .own = folder.write("own", "0::/mine\n"), .swap_folders = {}});
    EXPECT_EQ(none.refusal(), "no control group here hands its memory controller on");
}

TEST(short_memory_refused, leaves_no_group_when_its_limit_cannot_be_set) {
    for (const char* own : {"4:memory:/mine\n0::/other\n", "0::/memory/mine\n"}) {
        const scratch_folder folder;
        fs::create_directories(folder.file("groups/memory/mine"));
        folder.write("groups/memory/mine/cgroup.subtree_control", "cpu memory\n");
        const short_memory none(mib, mib,
                                {.groups = folder.file("groups"), .own = folder.write("own", own), .swap_folders = {"/var/tmp"}});
        EXPECT_NE(none.refusal().find("No such file"), std::string::npos) << none.refusal();
        fs::remove(folder.file("groups/memory/mine/cgroup.subtree_control"));
        EXPECT_TRUE(fs::is_empty(folder.file("groups/memory/mine"))) << own;
    }
}

TEST(short_memory_refused, leaves_no_group_when_there_is_no_swap) {
    const short_memory none(16 * mib, 16 * mib, {.swap_folders = {"/proc", "/no/such/folder"}});
    EXPECT_FALSE(none.refusal().empty());
    EXPECT_TRUE(none.group().empty());
    EXPECT_TRUE(none.swap_file().empty());
}

// --- With permission. Skipped if the tests may not make groups or swap files.

class memory_that_is_short : public ::testing::Test {
protected:
    void SetUp() override {
        const short_memory probe(16 * mib, 16 * mib);
        if (!probe.refusal().empty()) GTEST_SKIP() << "not allowed here: " << probe.refusal();
        parent_ = probe.group().parent_path();
    }

    // Runs a plan of one child, the shell script `script`, in 16 MiB. Returns the runner's exit code.
    int run(const std::string& script) const {
        const std::string path = folder_.write("program", "#!/bin/sh\n" + script);
        fs::permissions(path, fs::perms::owner_all);
        return headroom::lab::run_plan(catalogue(), {point(path)},
                                       {.out = folder_.file("out"), .grid = "default", .rounds = 0, .resume_hint = ""});
    }
    static headroom::lab::catalogue catalogue() {
        headroom::lab::catalogue all;
        all.experiments = {{"pressure", "", "", "time", {{"A", "1", ""}}}};
        return all;
    }
    static planned point(const std::string& program) {
        planned result;
        result.program = program;
        result.level = "O2";
        result.experiment = "pressure";
        result.memory = 32 * mib;
        result.limited = 16 * mib;
        result.contenders = {"A"};
        return result;
    }

    scratch_folder folder_;
    fs::path parent_;
};

TEST_F(memory_that_is_short, is_there_and_is_taken_away) {
    fs::path group;
    {
        const short_memory here(16 * mib, 32 * mib);
        ASSERT_EQ(here.refusal(), "");
        group = here.group();
        EXPECT_TRUE(fs::exists(here.entrance()));
        EXPECT_NE(swaps().find(here.swap_file().string()), std::string::npos);
        EXPECT_EQ(fs::file_size(here.swap_file()), 32 * mib);
    }
    EXPECT_FALSE(fs::exists(group));
    EXPECT_TRUE(left_by(getpid(), parent_).empty());
    EXPECT_TRUE(left_by(getpid(), "/var/tmp").empty());
}

TEST_F(memory_that_is_short, takes_its_children_in_and_limits_them) {
    const short_memory here(16 * mib, 16 * mib);
    child_request request{.program = "/bin/sh", .arguments = {"-c", "cat /proc/self/cgroup"}, .entrance = here.entrance()};
    EXPECT_NE(run_child(request).output.find(here.group().filename().string()), std::string::npos);
    // It holds 200 MB at once, more than memory and swap.
    request.arguments = {"-c", "head -c 200000000 /dev/zero | tail -c 200000000 | wc -c"};
    EXPECT_NE(run_child(request).output, "200000000\n");
    request.entrance.clear();
    EXPECT_EQ(run_child(request).output, "200000000\n");
}

TEST_F(memory_that_is_short, is_taken_away_with_processes_still_in_it) {
    fs::path group;
    pid_t sleeper = 0;
    {
        const short_memory here(16 * mib, 16 * mib);
        group = here.group();
        sleeper = fork();
        if (sleeper == 0) {
            std::ofstream(here.entrance()) << "0" << std::flush;
            std::ofstream(folder_.file("in")) << "in";
            for (;;) pause();
        }
        ASSERT_TRUE(wait_for(folder_.file("in")));
        // Its parent waits for it as late as possible.
        std::thread([=] { waitpid(sleeper, nullptr, 0); }).detach();
    }
    EXPECT_FALSE(fs::exists(group));
}

TEST_F(memory_that_is_short, is_taken_away_when_its_child_is_killed) {
    EXPECT_EQ(run("kill -9 $$"), 0);
    const std::vector<run_record> runs = headroom::lab::read_results(folder_.file("out")).runs;
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].outcome, outcome::killed);
    EXPECT_TRUE(left_by(getpid(), parent_).empty());
}

TEST_F(memory_that_is_short, is_taken_away_when_the_run_is_interrupted) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const std::string started = folder_.file("started" + std::to_string(signal));
        const pid_t runner = fork();
        if (runner == 0) {
            _exit(run("grep -q headroom-lab- /proc/self/cgroup && echo yes > " + started + ".part; mv " + started + ".part " +
                      started + "; sleep 100"));
        }
        ASSERT_TRUE(wait_for(started));
        EXPECT_EQ(left_by(runner, parent_).size(), 2U);
        kill(runner, signal);
        EXPECT_EQ(exit_code(runner), 128 + signal);
        EXPECT_TRUE(left_by(runner, parent_).empty());
    }
}

TEST_F(memory_that_is_short, of_a_killed_process_is_taken_away_by_the_next) {
    const pid_t maker = fork();
    if (maker == 0) {
        const short_memory here(16 * mib, 16 * mib);
        kill(getpid(), SIGKILL);
    }
    EXPECT_EQ(exit_code(maker), 1000 + SIGKILL);
    EXPECT_EQ(left_by(maker, parent_).size(), 2U);
    const short_memory next(16 * mib, 16 * mib);
    EXPECT_TRUE(left_by(maker, parent_).empty());
    EXPECT_TRUE(left_by(maker, "/var/tmp").empty());
}

// --- A refusal is recorded as a result.

class a_run_that_is_refused : public memory_that_is_short {
protected:
    void SetUp() override {}
};

TEST_F(a_run_that_is_refused, is_recorded_as_not_run_with_the_reason) {
    const pid_t runner = fork();
    if (runner == 0) {
        // Limits files to less than the swap file; without permission to make a group, that is refused first.
        signal(SIGXFSZ, SIG_IGN);
        const rlimit small{1 << 20, 1 << 20};
        setrlimit(RLIMIT_FSIZE, &small);
        _exit(run("echo '{\"outcome\":\"ok\",\"metrics\":{}}'"));
    }
    EXPECT_EQ(exit_code(runner), 0);
    const std::vector<run_record> runs = headroom::lab::read_results(folder_.file("out")).runs;
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].outcome, outcome::not_run);
    EXPECT_TRUE(runs[0].detail.starts_with("memory cannot be made short here: ")) << runs[0].detail;
    EXPECT_GT(runs[0].detail.size(), 40U);
    EXPECT_TRUE(left_by(runner, "/var/tmp").empty());
}

}    // namespace
