// SPDX-License-Identifier: MIT
// Merging of result files.
// Labels: lab no-valgrind
#include "engine/merge.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
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

TEST(lab_merge, a_link_as_the_output_stays_one) {
    const scratch_folder folder;
    const std::string a = folder.write("a", run("A", 0, 1));
    std::filesystem::create_symlink("there", folder.file("out"));
    for (const char* const when : {"what it leads to is missing", "and is there"}) {
        EXPECT_EQ(merge_results({a}, folder.file("out")).lines, 1U) << when;
        EXPECT_TRUE(std::filesystem::is_symlink(folder.file("out"))) << when;
        EXPECT_EQ(read_results(folder.file("there")).runs.size(), 1U) << when;
    }
}

TEST(lab_merge, a_pipe_as_the_output_is_written_and_stays_one) {
    const scratch_folder folder;
    const std::string a = folder.write("a", run("A", 0, 1));
    const std::string out = folder.file("out");
    ASSERT_EQ(mkfifo(out.c_str(), 0600), 0);
    const int reader = open(out.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(reader, 0);
    EXPECT_EQ(merge_results({a}, out).lines, 1U);
    EXPECT_TRUE(std::filesystem::is_fifo(out));
    std::string text(1000, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(read(reader, text.data(), text.size()), 0)));
    close(reader);
    EXPECT_EQ(text, folder.read("a"));
}

}    // namespace
