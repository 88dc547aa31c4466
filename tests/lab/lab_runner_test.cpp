// SPDX-License-Identifier: MIT
// The runner's record of each way a child can end, with programs that measure nothing.
// Labels: lab no-valgrind
#include "engine/runner.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>

#include "engine/records.hpp"
#include "support/scratch_folder.hpp"

namespace {

using headroom::lab::catalogue;
using headroom::lab::outcome;
using headroom::lab::planned;
using headroom::lab::read_results;
using headroom::lab::results;
using headroom::lab::run_record;
using headroom::testing_support::scratch_folder;

// A shell script whose $5 is the contender: "run --experiment E --contender C ..."
class lab_runner : public ::testing::Test {
protected:
    void program(const std::string& script) {
        const std::string path = folder_.write("program", "#!/bin/sh\n" + script);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }

    static std::string answering(const std::string& checksum) {
        return R"(echo '{"outcome":"ok","metrics":{"time":{"unit":"s","values":[1]},"checksum":{"unit":"","values":[)" +
               checksum + R"(]}}}')";
    }

    int run(bool checked = false, double memory = 1e6, const std::string& grid = "default", const std::string& absent = "") {
        planned point;
        point.program = folder_.file("program");
        point.level = "O2";
        point.experiment = "growth";
        point.parameters = {{"elements", std::int64_t{5000}}};
        point.check = {{"elements", std::int64_t{10}}};
        point.checked = checked;
        point.rounds = rounds_;
        point.counted = counted_;
        point.memory = memory;
        point.contenders = {"A", "B"};
        catalogue all;
        all.experiments = {{"growth", "", "", "time", {{"A", "1", ""}, {"B", "1", absent}}}};
        return headroom::lab::run_plan(
            all, {point}, {.out = folder_.file("out"), .grid = grid, .rounds = asked_, .waiting = waiting_, .resume_hint = ""});
    }

    std::map<std::string, std::vector<run_record>> records() const {
        std::map<std::string, std::vector<run_record>> by_contender;
        for (const run_record& one : read_results(folder_.file("out")).runs) by_contender[one.contender].push_back(one);
        return by_contender;
    }

    scratch_folder folder_;
    int rounds_ = 2;
    int asked_ = 0;
    bool counted_ = false;
    std::optional<double> waiting_;
};

TEST_F(lab_runner, what_a_child_measured_is_written_down) {
    program(answering("7"));
    EXPECT_EQ(run(), 0);
    auto found = records();
    ASSERT_EQ(found["A"].size(), 2U);
    ASSERT_EQ(found["B"].size(), 2U);
    EXPECT_EQ(found["A"][0].outcome, outcome::ok);
    EXPECT_EQ(found["A"][1].round, 1);
    EXPECT_DOUBLE_EQ(found["A"][0].metrics.at("time").values.at(0), 1);
    EXPECT_TRUE(found["A"][0].metrics.contains("peak_resident"));
    EXPECT_TRUE(found["A"][0].metrics.contains("cpu_time"));
}

TEST_F(lab_runner, a_contender_that_computed_something_else_is_an_error) {
    program("[ \"$5\" = A ] && " + answering("7") + " || " + answering("8"));
    EXPECT_EQ(run(), 1);
    auto found = records();
    EXPECT_EQ(found["A"][0].outcome, outcome::ok);
    ASSERT_EQ(found["B"].size(), 2U);
    EXPECT_EQ(found["B"][0].outcome, outcome::error);
    EXPECT_EQ(found["B"][0].detail, "checksum 8, but A has 7");
}

TEST_F(lab_runner, a_contender_that_fails_the_check_is_not_timed) {
    program("echo \"$5 $7\" >> " + folder_.file("calls") + "; [ \"$5\" = A ] && " + answering("7") + " || " + answering("8"));
    EXPECT_EQ(run(true), 1);
    EXPECT_EQ(records()["B"].size(), 2U);
    EXPECT_EQ(records()["B"][1].outcome, outcome::error);
    EXPECT_EQ(folder_.read("calls"), "A {\"elements\":10}\nB {\"elements\":10}\nA {\"elements\":5000}\nA {\"elements\":5000}\n");
}

TEST_F(lab_runner, a_killed_child_is_a_result) {
    program("[ \"$5\" = A ] && kill -KILL $$; " + answering("7"));
    EXPECT_EQ(run(), 0);
    auto found = records();
    EXPECT_EQ(found["A"][0].outcome, outcome::killed);
    EXPECT_NE(found["A"][0].detail.find("signal 9"), std::string::npos);
    EXPECT_EQ(found["B"][0].outcome, outcome::ok);
}

TEST_F(lab_runner, a_bad_alloc_is_a_result) {
    program(R"(echo '{"outcome":"bad_alloc","detail":"std::bad_alloc","metrics":{}}')");
    EXPECT_EQ(run(), 0);
    EXPECT_EQ(records()["A"][0].outcome, outcome::bad_alloc);
    EXPECT_EQ(records()["A"][0].detail, "std::bad_alloc");
}

TEST_F(lab_runner, a_child_that_talks_nonsense_is_an_error_in_its_own_words) {
    program("echo nonsense; echo 'what went wrong' >&2; exit 5");
    EXPECT_EQ(run(), 1);
    EXPECT_EQ(records()["A"][0].outcome, outcome::error);
    EXPECT_EQ(records()["A"][0].detail, "exit code 5: what went wrong");
}

TEST_F(lab_runner, an_absent_peer_is_recorded_once) {
    program(answering("7"));
    EXPECT_EQ(run(false, 1e6, "default", "not installed"), 0);
    EXPECT_EQ(run(false, 1e6, "default", "not installed"), 0);
    auto found = records();
    ASSERT_EQ(found["B"].size(), 1U);
    EXPECT_EQ(found["B"][0].outcome, outcome::absent);
    EXPECT_EQ(found["B"][0].detail, "not installed");
}

TEST_F(lab_runner, what_needs_more_memory_than_there_is_is_not_run_and_tried_again_later) {
    program(answering("7"));
    EXPECT_EQ(run(false, 1e18), 0);
    EXPECT_EQ(records()["A"][0].outcome, outcome::not_run);
    EXPECT_EQ(run(), 0);
    ASSERT_EQ(records()["A"].size(), 4U);
    EXPECT_EQ(records()["A"][2].outcome, outcome::ok);
}

TEST_F(lab_runner, the_full_grid_tries_under_a_limit) {
    program("[ \"$(ulimit -d)\" = unlimited ] && exit 9; " + answering("7"));
    EXPECT_EQ(run(false, 1e18, "full"), 0);
    EXPECT_EQ(records()["A"][0].outcome, outcome::ok);
}

TEST_F(lab_runner, what_is_there_is_not_measured_again) {
    program("echo x >> " + folder_.file("calls") + "; " + answering("7"));
    run();
    run();
    EXPECT_EQ(folder_.read("calls"), "x\nx\nx\nx\n");
    EXPECT_EQ(records()["A"].size(), 2U);
}

TEST_F(lab_runner, as_many_rounds_are_made_as_are_asked_for_but_of_counts) {
    program(answering("7"));
    rounds_ = 1;
    asked_ = 3;
    counted_ = true;
    run();
    EXPECT_EQ(records()["A"].size(), 1U);
    counted_ = false;
    run();
    EXPECT_EQ(records()["A"].size(), 3U);
}

TEST_F(lab_runner, a_measurement_that_others_disturbed_is_repeated_at_most_three_times) {
    program("echo x >> " + folder_.file("calls") + "; sleep 0.3; " + answering("7"));
    rounds_ = 1;
    waiting_ = 0;
    const pid_t busy = fork();
    if (busy == 0) {
        for (volatile int turn = 0;; turn = turn + 1) {}
    }
    run();
    kill(busy, SIGKILL);
    waitpid(busy, nullptr, 0);
    EXPECT_EQ(folder_.read("calls"), "x\nx\nx\nx\nx\nx\nx\nx\n");    // four times each of the two contenders
    auto found = records();
    EXPECT_EQ(found["A"].size(), 1U);
    EXPECT_GT(found["A"][0].metrics.at("others_cpu").values.at(0), 0.04);
}

}    // namespace
