// SPDX-License-Identifier: MIT
// Result files: reading, refusal of bad files, whole lines by writers.
// Labels: lab no-valgrind
#include "engine/records.hpp"

#include <gtest/gtest.h>

#include <system_error>

#include "support/scratch_folder.hpp"

namespace {

using headroom::lab::key_of;
using headroom::lab::outcome;
using headroom::lab::read_results;
using headroom::lab::record_writer;
using headroom::lab::results;
using headroom::lab::run_record;
using headroom::testing_support::scratch_folder;

run_record example() {
    run_record run;
    run.machine = "0123abcd";
    run.experiment = "throughput";
    run.contender = "std::vector";
    run.parameters = {{"element", "int"}, {"elements", std::int64_t{1000}}, {"warm", true}};
    run.round = 2;
    run.metrics = {{"time", {"s", {0.25, 0.5}}}, {"append_histogram", {"s", {1e-8, 1e-6}, {9, 1}}}};
    return run;
}

std::string line_of(const run_record& run) { return to_json(run).dump() + "\n"; }

TEST(lab_results, what_is_written_is_read) {
    const scratch_folder folder;
    run_record failed = example();
    failed.outcome = outcome::bad_alloc;
    failed.detail = "std::bad_alloc";
    failed.metrics.clear();
    {
        record_writer out(folder.file("a"));
        out.append({{"v", 1}, {"kind", "machine"}, {"id", "0123abcd"}});
        out.append(to_json(example()));
        out.append(to_json(failed));
    }
    const results read = read_results(folder.file("a"));
    EXPECT_TRUE(read.bad.empty());
    EXPECT_TRUE(read.whole);
    ASSERT_EQ(read.machines.size(), 1U);
    ASSERT_EQ(read.runs.size(), 2U);
    EXPECT_EQ(to_json(read.runs[0]), to_json(example()));
    EXPECT_EQ(read.runs[0].metrics.at("append_histogram").counts, (std::vector<std::uint64_t>{9, 1}));
    EXPECT_EQ(read.runs[1].outcome, outcome::bad_alloc);
    EXPECT_EQ(read.runs[1].detail, "std::bad_alloc");
}

TEST(lab_results, a_corrupt_line_is_named_and_the_others_are_read) {
    const scratch_folder folder;
    const std::string file = folder.write("a", line_of(example()) + "{\"v\":1,\"kind\":\n" + line_of(example()));
    const results read = read_results(file);
    EXPECT_EQ(read.runs.size(), 2U);
    ASSERT_EQ(read.bad.size(), 1U);
    EXPECT_EQ(to_string(read.bad[0]), file + ":2: not JSON");
}

TEST(lab_results, a_line_that_was_cut_off_is_skipped) {
    const scratch_folder folder;
    const std::string whole = line_of(example());
    // A last line cut at any byte is not read as a shorter one.
    for (std::size_t length = 1; length + 1 < whole.size(); ++length) {
        const std::string file = folder.write("a", whole + whole.substr(0, length));
        const results read = read_results(file);
        ASSERT_EQ(read.runs.size(), 1U) << length;
        ASSERT_EQ(read.bad.size(), 1U) << length;
        ASSERT_FALSE(read.whole);
        EXPECT_EQ(to_string(read.bad[0]), file + ":2: cut off: the line is not complete");
    }
}

TEST(lab_results, a_newer_version_is_said_to_be_newer) {
    const scratch_folder folder;
    nlohmann::json newer = to_json(example());
    newer["v"] = 2;
    newer["parameters"] = "of a shape that this program does not know";
    const std::string file = folder.write("a", newer.dump() + "\n" + line_of(example()));
    const results read = read_results(file);
    EXPECT_EQ(read.runs.size(), 1U);
    ASSERT_EQ(read.bad.size(), 1U);
    EXPECT_EQ(read.bad[0].reason, "version 2 is newer than this program reads (1)");
}

TEST(lab_results, every_missing_or_mistyped_member_is_refused) {
    const scratch_folder folder;
    for (const char* name : {"v", "kind", "machine", "experiment", "contender", "parameters", "round", "outcome", "metrics"}) {
        nlohmann::json line = to_json(example());
        line.erase(name);
        EXPECT_EQ(read_results(folder.write("a", line.dump() + "\n")).bad.size(), 1U) << name;
        line[name] = nlohmann::json::array();
        const results read = read_results(folder.write("a", line.dump() + "\n"));
        EXPECT_EQ(read.bad.size(), 1U) << name;
        EXPECT_TRUE(read.runs.empty()) << name;
    }
}

TEST(lab_results, bad_metrics_are_refused) {
    const scratch_folder folder;
    for (const char* metric : {R"({"values":[1]})", R"({"unit":"s"})", R"({"unit":"s","values":1})",
                               R"({"unit":"s","values":["1"]})", R"({"unit":"s","values":[null]})",
                               R"({"unit":"s","values":[1,2],"counts":[1]})", R"({"unit":"s","values":[1],"counts":[-1]})"}) {
        nlohmann::json line = to_json(example());
        line["metrics"]["time"] = nlohmann::json::parse(metric);
        const results read = read_results(folder.write("a", line.dump() + "\n"));
        EXPECT_TRUE(read.runs.empty()) << metric;
        EXPECT_EQ(read.bad.size(), 1U) << metric;
    }
}

TEST(lab_results, unknown_outcomes_are_refused) {
    const scratch_folder folder;
    nlohmann::json line = to_json(example());
    line["outcome"] = "fine";
    const results read = read_results(folder.write("a", line.dump() + "\n"));
    ASSERT_EQ(read.bad.size(), 1U);
    EXPECT_EQ(read.bad[0].reason, "unknown outcome \"fine\"");
}

TEST(lab_results, empty_lines_mean_nothing) {
    const scratch_folder folder;
    const results read = read_results(folder.write("a", "\n" + line_of(example()) + "  \n"));
    EXPECT_EQ(read.runs.size(), 1U);
    EXPECT_TRUE(read.bad.empty());
}

TEST(lab_results, a_file_that_is_not_there_throws) {
    const scratch_folder folder;
    EXPECT_THROW((void)read_results(folder.file("nothing")), std::system_error);
}

TEST(lab_results, a_writer_closes_a_line_that_another_left_unfinished) {
    const scratch_folder folder;
    const std::string whole = line_of(example());
    const std::string file = folder.write("a", whole.substr(0, 40));
    {
        record_writer out(file);
        out.append(to_json(example()));
    }
    EXPECT_EQ(folder.read("a"), whole.substr(0, 40) + "\n" + whole);
    EXPECT_EQ(read_results(file).runs.size(), 1U);
}

TEST(lab_results, a_writer_that_cannot_write_throws) {
    const scratch_folder folder;
    EXPECT_THROW(record_writer(folder.file("no/such/folder")), std::system_error);
}

TEST(lab_results, a_second_writer_of_a_file_is_refused_while_the_first_lives) {
    const scratch_folder folder;
    {
        record_writer first(folder.file("a"));
        EXPECT_THROW(record_writer(folder.file("a")), std::runtime_error);
        record_writer elsewhere(folder.file("b"));
        first.append(to_json(example()));
    }
    record_writer next(folder.file("a"));
    next.append(to_json(example()));
    EXPECT_EQ(read_results(folder.file("a")).runs.size(), 2U);
}

TEST(lab_results, a_record_that_does_not_fit_on_the_disk_is_reported_and_leaves_the_file_whole) {
    EXPECT_THROW(
        {
            record_writer full("/dev/full");
            full.append(to_json(example()));
        },
        std::system_error);
}

TEST(lab_results, the_key_tells_runs_apart) {
    const run_record run = example();
    const auto differs = [&](auto change) {
        run_record other = run;
        change(other);
        return key_of(other) != key_of(run);
    };
    EXPECT_TRUE(differs([](run_record& r) { r.machine = "x"; }));
    EXPECT_TRUE(differs([](run_record& r) { r.experiment = "x"; }));
    EXPECT_TRUE(differs([](run_record& r) { r.contender = "x"; }));
    EXPECT_TRUE(differs([](run_record& r) { r.round = 3; }));
    EXPECT_TRUE(differs([](run_record& r) { r.parameters.set("elements", std::int64_t{1001}); }));
    EXPECT_TRUE(differs([](run_record& r) { r.parameters.set("more", true); }));
}

TEST(lab_results, the_key_does_not_depend_on_what_was_measured) {
    run_record other = example();
    other.outcome = outcome::killed;
    other.detail = "signal 9";
    other.metrics.clear();
    EXPECT_EQ(key_of(other), key_of(example()));
}

}    // namespace
