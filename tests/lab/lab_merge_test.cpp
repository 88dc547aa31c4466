// Joining result files.
// Labels: lab no-valgrind
#include "engine/merge.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <system_error>

#include "support/scratch_folder.hpp"

namespace {

using headroom::lab::merge_results;
using headroom::lab::merged;
using headroom::lab::read_results;
using headroom::testing_support::scratch_folder;

std::string machine(const std::string& id) { return R"({"v":1,"kind":"machine","id":")" + id + "\"}\n"; }

std::string run(const std::string& contender, int round, double seconds) {
    headroom::lab::run_record one;
    one.machine = "m";
    one.experiment = "throughput";
    one.contender = contender;
    one.parameters = {{"elements", std::int64_t{1000}}};
    one.round = round;
    one.metrics = {{"time", {"s", {seconds}}}};
    return to_json(one).dump() + "\n";
}

TEST(lab_merge, joins_machines_and_runs_in_order) {
    const scratch_folder folder;
    const std::string a = folder.write("a", machine("m") + run("A", 0, 1));
    const std::string b = folder.write("b", machine("n") + run("B", 0, 2));
    const merged done = merge_results({a, b}, folder.file("out"));
    EXPECT_EQ(done.lines, 4U);
    EXPECT_EQ(done.duplicates, 0U);
    const auto read = read_results(folder.file("out"));
    EXPECT_EQ(read.machines.size(), 2U);
    ASSERT_EQ(read.runs.size(), 2U);
    EXPECT_EQ(read.runs[0].contender, "A");
    EXPECT_EQ(read.runs[1].contender, "B");
}

TEST(lab_merge, drops_exact_duplicates_however_they_are_spelled) {
    const scratch_folder folder;
    const std::string a = folder.write("a", machine("m") + run("A", 0, 1));
    const std::string b = folder.write("b", "{\"kind\": \"machine\", \"id\": \"m\", \"v\": 1}\n" + run("A", 0, 1));
    const merged done = merge_results({a, b, a}, folder.file("out"));
    EXPECT_EQ(done.lines, 2U);
    EXPECT_EQ(done.duplicates, 4U);
    EXPECT_EQ(done.conflicts, 0U);
}

TEST(lab_merge, keeps_and_counts_runs_that_contradict_each_other) {
    const scratch_folder folder;
    const std::string a = folder.write("a", run("A", 0, 1));
    const std::string b = folder.write("b", run("A", 0, 2));
    const merged done = merge_results({a, b}, folder.file("out"));
    EXPECT_EQ(done.conflicts, 1U);
    EXPECT_EQ(read_results(folder.file("out")).runs.size(), 2U);
}

TEST(lab_merge, names_the_lines_it_skips) {
    const scratch_folder folder;
    const std::string a = folder.write("a", run("A", 0, 1) + "rubbish\n");
    const merged done = merge_results({a}, folder.file("out"));
    EXPECT_EQ(done.lines, 1U);
    ASSERT_EQ(done.bad.size(), 1U);
    EXPECT_EQ(to_string(done.bad[0]), a + ":2: not JSON");
}

TEST(lab_merge, the_output_may_be_one_of_the_inputs) {
    const scratch_folder folder;
    const std::string a = folder.write("a", run("A", 0, 1));
    const std::string b = folder.write("b", run("B", 0, 1));
    EXPECT_EQ(merge_results({a, b}, a).lines, 2U);
    EXPECT_EQ(read_results(a).runs.size(), 2U);
}

TEST(lab_merge, a_missing_input_throws_and_leaves_the_output_alone) {
    const scratch_folder folder;
    const std::string a = folder.write("a", run("A", 0, 1));
    const std::string out = folder.write("out", "what was there\n");
    EXPECT_THROW((void)merge_results({a, folder.file("missing")}, out), std::system_error);
    EXPECT_EQ(folder.read("out"), "what was there\n");
}

TEST(lab_merge, an_output_that_cannot_be_written_throws) {
    const scratch_folder folder;
    const std::string a = folder.write("a", run("A", 0, 1));
    EXPECT_THROW((void)merge_results({a}, folder.file("no/such/folder")), std::system_error);
}

}    // namespace
