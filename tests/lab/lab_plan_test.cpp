// SPDX-License-Identifier: MIT
// Filters and shards: selection, and every configuration in exactly one shard.
// Labels: lab
#include "engine/child.hpp"
#include "engine/plan.hpp"
#include "engine/preload.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include "support/scratch_folder.hpp"

namespace {

using headroom::lab::catalogue;
using headroom::lab::keep_matching;
using headroom::lab::planned;

planned point(const std::string& experiment, std::int64_t elements, double seconds) {
    planned one;
    one.experiment = experiment;
    one.parameters = {{"elements", elements}};
    one.seconds = seconds;
    one.contenders = {"std::vector", "headroom::settled_vector"};
    return one;
}

catalogue example() {
    catalogue all;
    all.experiments = {{"growth", "", "", "", {}}, {"throughput", "", "", "", {}}};
    all.plan.push_back(point("growth", 1'000'000, 0.1));
    for (std::int64_t n = 10; n <= 1'000'000'000; n *= 10) {
        all.plan.push_back(point("throughput", n, 1e-8 * static_cast<double>(n) + 0.01));
    }
    return all;
}

// "X under NAME" runs contender X in another environment; all other properties are X's.
TEST(lab_preload, a_contender_under_an_allocator_is_itself_in_another_environment) {
    ASSERT_FALSE(headroom::lab::preloads().empty());
    for (const headroom::lab::preload& by : headroom::lab::preloads()) {
        const std::string name = headroom::lab::with_preload("std::vector", by);
        EXPECT_EQ(headroom::lab::without_preload(name), "std::vector");
        ASSERT_NE(headroom::lab::preload_of(name), nullptr) << name;
        EXPECT_EQ(headroom::lab::preload_of(name)->name, by.name);
        EXPECT_NE(by.absent.empty(), by.environment.empty()) << by.name << " can be had, or says why not";
    }
    EXPECT_EQ(headroom::lab::preload_of("std::vector"), nullptr);
    EXPECT_EQ(headroom::lab::without_preload("std::vector"), "std::vector");
}

TEST(lab_preload, a_library_that_would_not_be_loaded_is_absent) {
    const headroom::testing_support::scratch_folder folder;
    const auto absent = [](const std::string& file) { return headroom::lab::preload_from("some", file).absent; };
    Dl_info loadable{};
    ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "malloc"), &loadable), 0);
    EXPECT_EQ(absent(loadable.dli_fname), "");
    for (const char* const name : {"a b.so", "a:b.so"}) {
        std::filesystem::copy_file(loadable.dli_fname, folder.file(name));
        EXPECT_NE(absent(folder.file(name)).find("space or a colon"), std::string::npos) << absent(folder.file(name));
    }
    const std::string broken = absent(folder.write("broken.so", "no library"));
    EXPECT_NE(broken.find("broken.so"), std::string::npos) << broken;
}

TEST(lab_preload, a_child_is_started_with_the_variables_asked_for_and_its_parents_others) {
    ASSERT_EQ(setenv("HEADROOM_TEST_OTHER", "kept", 1), 0);
    ASSERT_EQ(setenv("HEADROOM_TEST_SAME", "before", 1), 0);
    const headroom::lab::child_result said =
        headroom::lab::run_child({.program = "/bin/sh",
                                  .arguments = {"-c", "echo $HEADROOM_TEST_SAME $HEADROOM_TEST_OTHER $HEADROOM_TEST_NEW"},
                                  .environment = {{"HEADROOM_TEST_SAME", "after"}, {"HEADROOM_TEST_NEW", "new"}},
                                  .timeout = 20});
    EXPECT_EQ(said.output, "after kept new\n") << said.errors;
    EXPECT_STREQ(std::getenv("HEADROOM_TEST_SAME"), "before");
}

TEST(lab_plan, shards_hold_every_configuration_exactly_once) {
    const catalogue all = example();
    for (std::size_t count = 1; count <= all.plan.size() + 2; ++count) {
        std::map<std::string, int> seen;
        for (std::size_t index = 1; index <= count; ++index) {
            for (const planned& one : headroom::lab::shard(all.plan, index, count)) {
                ++seen[one.experiment + std::to_string(one.parameters.number("elements"))];
                EXPECT_EQ(one.contenders.size(), 2U);
            }
        }
        EXPECT_EQ(seen.size(), all.plan.size()) << count;
        for (const auto& [which, times] : seen) EXPECT_EQ(times, 1) << which << " of " << count;
    }
}

TEST(lab_plan, shards_are_the_same_every_time) {
    const catalogue all = example();
    const auto first = headroom::lab::shard(all.plan, 2, 3);
    const auto second = headroom::lab::shard(all.plan, 2, 3);
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].parameters, second[i].parameters);
}

TEST(lab_plan, shards_take_about_equally_long) {
    catalogue all;
    for (int i = 0; i < 30; ++i) all.plan.push_back(point("throughput", i, 1.0 + i % 7));
    std::vector<double> loads;
    for (std::size_t index = 1; index <= 3; ++index) {
        double load = 0;
        for (const planned& one : headroom::lab::shard(all.plan, index, 3)) load += one.cost();
        loads.push_back(load);
    }
    EXPECT_LT(*std::max_element(loads.begin(), loads.end()), 1.1 * *std::min_element(loads.begin(), loads.end()));
}

TEST(lab_plan, a_list_of_experiments_selects_them) {
    catalogue all = example();
    keep_matching(all, "growth");
    ASSERT_EQ(all.plan.size(), 1U);
    EXPECT_EQ(all.plan[0].experiment, "growth");
    catalogue both = example();
    keep_matching(both, "throughput,growth");
    EXPECT_EQ(both.plan.size(), example().plan.size());
}

TEST(lab_plan, a_regular_expression_selects_sizes) {
    catalogue all = example();
    keep_matching(all, "throughput .*elements=1000$");
    ASSERT_EQ(all.plan.size(), 1U);
    EXPECT_EQ(all.plan[0].parameters.number("elements"), 1000);
    EXPECT_EQ(all.plan[0].contenders.size(), 2U);
}

TEST(lab_plan, a_regular_expression_selects_contenders) {
    catalogue all = example();
    keep_matching(all, "settled");
    EXPECT_EQ(all.plan.size(), example().plan.size());
    for (const planned& one : all.plan) EXPECT_EQ(one.contenders, std::vector<std::string>{"headroom::settled_vector"});
}

TEST(lab_plan, a_filter_that_leaves_nothing_throws) {
    catalogue all = example();
    EXPECT_THROW(keep_matching(all, "no such thing"), std::invalid_argument);
    catalogue other = example();
    EXPECT_THROW(keep_matching(other, "growth,("), std::invalid_argument);
}

TEST(lab_plan, the_first_contender_is_paired_where_times_are_compared) {
    catalogue all = example();
    all.plan.resize(3);
    all.plan[0].rounds = all.plan[1].rounds = 3;
    all.plan[0].checked = all.plan[2].checked = true;
    headroom::lab::pair_first(all);
    EXPECT_EQ(all.plan[0].contenders, (std::vector<std::string>{"std::vector", "headroom::settled_vector", "std::vector#2"}));
    EXPECT_EQ(all.plan[1].contenders.size(), 2U);    // it computes nothing comparable
    EXPECT_EQ(all.plan[2].contenders.size(), 2U);    // one round of a possible count: not paired
    all.experiments = {{.id = all.plan[2].experiment, .question = "", .source = "", .headline = "time", .contenders = {}}};
    all.plan.resize(3);
    all.plan[0].checked = all.plan[1].checked = false;
    headroom::lab::pair_first(all);
    EXPECT_EQ(all.plan[2].contenders.size(), 3U);    // one round of times is a noise sample
    EXPECT_EQ(headroom::lab::unpaired("std::vector#2"), "std::vector");
    EXPECT_EQ(headroom::lab::unpaired("std::vector"), "std::vector");
}

TEST(lab_plan, counts_take_no_more_rounds_than_they_need_whatever_is_asked_for) {
    planned one = point("growth", 1000, 1.0);
    one.rounds = 1;
    EXPECT_EQ(one.rounds_of(0), 1);
    EXPECT_EQ(one.rounds_of(3), 3);
    one.counted = true;
    EXPECT_EQ(one.rounds_of(3), 1);
    one.rounds = 3;
    EXPECT_EQ(one.rounds_of(2), 2);
}

TEST(lab_plan, what_is_touched_before_a_child_is_expected_to_take_time) {
    planned one = point("throughput", 1000, 1.0);
    const double cold = one.expected();
    one.warmed = 1e9;
    EXPECT_GT(one.expected(), cold);
    EXPECT_GT(one.cost(), cold * static_cast<double>(one.contenders.size()) * one.rounds);
}

TEST(lab_plan, an_empty_filter_keeps_everything) {
    catalogue all = example();
    keep_matching(all, "");
    EXPECT_EQ(all.plan.size(), example().plan.size());
}

}    // namespace
