// headroom tune: from costs that are invented to the policy that follows from them.
// Labels: tools
#include <gtest/gtest.h>

#include <string>

#include "costs.hpp"
#include "rules.hpp"

namespace {

using namespace headroom::tools::tune;
using headroom::commit_policy;

constexpr std::size_t KiB = std::size_t{1} << 10;
constexpr std::size_t MiB = std::size_t{1} << 20;

// A machine whose page costs `page_seconds`, and whose every call costs `call_seconds` more.
costs machine(double page_seconds, double call_seconds, std::size_t page = 4096) {
    costs of;
    of.page = page;
    of.cores = 4;
    of.huge_page = 2 * MiB;
    of.huge_granted = 1.0;
    const auto pages = [&](std::size_t bytes) { return static_cast<double>(bytes) / static_cast<double>(page); };
    for (std::size_t bytes = page; bytes <= 2 * MiB; bytes *= 2)
        of.set(populate, bytes, call_seconds + page_seconds * pages(bytes));
    of.set(huge_touch, 2 * MiB, 0.5 * page_seconds * pages(2 * MiB));
    of.set(range_cold, largest_range, 10e-6);
    of.set(first_touch, touched_at_once, page_seconds * pages(touched_at_once));
    of.set(first_touch_all, touched_at_once, page_seconds * pages(touched_at_once) * 1.5);
    return of;
}
costs usual() { return machine(1e-6, 0.5e-6); }

figure& figure_of(costs& of, const char* what, std::size_t bytes) {
    for (figure& one : of.figures)
        if (one.what == what && one.bytes == bytes) return one;
    throw std::logic_error("no such figure");
}

void set_seconds(costs& of, const char* what, std::size_t bytes, double seconds) {
    figure& one = figure_of(of, what, bytes);
    one.seconds = one.low = one.high = seconds;
}

TEST(tune_rules, an_ordinary_machine_keeps_the_default) {
    const advice found = advise(usual());
    EXPECT_EQ(found.rule, "huge pages");
    EXPECT_EQ(found.commit, commit_policy());
    EXPECT_TRUE(found.is_default());
    EXPECT_EQ(code_of(found.commit), "headroom::commit_policy()");
}

TEST(tune_rules, without_populate_it_is_the_default_with_the_reason) {
    costs of;
    of.huge_page = 2 * MiB;
    for (std::size_t bytes = 4 * KiB; bytes <= 2 * MiB; bytes *= 2)
        of.set_missing(populate, bytes, "this system has no such call");
    const advice found = advise(of);
    EXPECT_EQ(found.rule, "populate unknown");
    EXPECT_TRUE(found.is_default());
    EXPECT_NE(found.because.find("no such call"), std::string::npos) << found.because;
}

TEST(tune_rules, where_nothing_was_measured_it_is_the_default) {
    const advice found = advise(costs{});
    EXPECT_EQ(found.rule, "populate unknown");
    EXPECT_TRUE(found.is_default());
}

TEST(tune_rules, where_only_some_sizes_were_measured_it_is_the_default) {
    costs of;
    of.set(populate, 4 * KiB, 1e-6);
    EXPECT_EQ(advise(of).rule, "populate unknown");
    EXPECT_TRUE(advise(of).is_default());
}

TEST(tune_rules, refused_huge_pages_give_steps) {
    costs of = usual();
    of.huge_granted = 0.2;
    const advice found = advise(of);
    EXPECT_EQ(found.rule, "huge pages refused");
    EXPECT_EQ(found.commit, headroom::stepped(32 * KiB, 256 * KiB));
    EXPECT_NE(found.because.find("20%"), std::string::npos);
    EXPECT_EQ(code_of(found.commit), "headroom::stepped(32768, 262144)");
}

TEST(tune_rules, a_system_without_huge_pages_keeps_the_defaults_steps) {
    costs of = usual();
    of.huge_page = 0;
    of.huge_granted.reset();
    EXPECT_EQ(advise(of).rule, "no huge pages");
    EXPECT_EQ(advise(of).commit, commit_policy());
}

TEST(tune_rules, huge_pages_that_cost_more_than_ordinary_ones_are_not_taken) {
    costs of = usual();
    set_seconds(of, huge_touch, 2 * MiB, 600e-6);
    const advice found = advise(of);
    EXPECT_EQ(found.rule, "huge pages dear");
    EXPECT_EQ(found.commit.which(), commit_policy::kind::stepped);
    set_seconds(of, huge_touch, 2 * MiB, 400e-6);
    EXPECT_EQ(advise(of).rule, "huge pages");
}

TEST(tune_rules, huge_pages_whose_cost_is_unknown_are_the_defaults_business) {
    costs of = usual();
    figure_of(of, huge_touch, 2 * MiB).missing = "refused";
    of.huge_granted.reset();
    EXPECT_EQ(advise(of).rule, "huge pages");
    EXPECT_TRUE(advise(of).is_default());
}

TEST(tune_rules, dear_calls_give_larger_steps_up_to_a_bound) {
    const advice dear = advise(machine(0.5e-6, 10e-6));
    EXPECT_EQ(dear.commit, headroom::balanced(64 * KiB, 4 * MiB, 2 * MiB)) << code_of(dear.commit);
    EXPECT_FALSE(dear.is_default());
    EXPECT_EQ(code_of(dear.commit), "headroom::balanced(65536, 4194304, 2097152)");
}

TEST(tune_rules, no_step_makes_an_append_wait_too_long) {
    // Every call is so dear that larger steps would always pay, and pages are, too.
    const advice slow = advise(machine(20e-6, 400e-6));
    EXPECT_EQ(slow.commit.max_step(), 32 * KiB);
    EXPECT_LE(slow.commit.large_step(), 256 * KiB);
}

// The costs, with the step of `bytes` made so cheap that a byte costs `share` of what it costs in the step of `than`.
costs cheaper(std::size_t bytes, double share, std::size_t than) {
    costs of = usual();
    for (figure& one : of.figures) {    // all larger steps gain nothing over it
        if (one.what == populate && one.bytes > bytes) set_seconds(of, populate, one.bytes, one.seconds * 10);
    }
    set_seconds(of, populate, bytes, share * static_cast<double>(bytes / than) * *of.seconds(populate, than));
    return of;
}

TEST(tune_rules, a_large_step_must_gain_a_tenth) {
    EXPECT_EQ(advise(cheaper(512 * KiB, 0.91, 256 * KiB)).commit.large_step(), 256 * KiB);
    EXPECT_EQ(advise(cheaper(512 * KiB, 0.89, 256 * KiB)).commit.large_step(), 512 * KiB);
}

TEST(tune_rules, a_small_step_must_gain_a_third_for_most_of_it_may_stay_unused) {
    EXPECT_EQ(advise(cheaper(64 * KiB, 0.68, 32 * KiB)).commit.max_step(), 32 * KiB);
    EXPECT_EQ(advise(cheaper(64 * KiB, 0.65, 32 * KiB)).commit.max_step(), 64 * KiB);
}

TEST(tune_rules, what_may_be_chance_changes_nothing) {
    costs of = cheaper(64 * KiB, 0.5, 32 * KiB);
    EXPECT_EQ(advise(of).commit.max_step(), 64 * KiB);
    figure_of(of, populate, 64 * KiB).high *= 3;
    EXPECT_EQ(advise(of).commit.max_step(), 32 * KiB);
    of = usual();
    set_seconds(of, huge_touch, 2 * MiB, 600e-6);
    figure_of(of, huge_touch, 2 * MiB).low = 300e-6;
    EXPECT_EQ(advise(of).rule, "huge pages");
    of = usual();
    set_seconds(of, range_cold, largest_range, 1e-3);
    figure_of(of, range_cold, largest_range).low = 10e-6;
    EXPECT_EQ(advise(of).map_threshold, 1 * MiB);
}

TEST(tune_rules, large_pages_keep_the_default_though_its_steps_are_smaller_than_a_page) {
    const advice found = advise(machine(10e-6, 0.5e-6, 64 * KiB));
    EXPECT_TRUE(found.is_default()) << code_of(found.commit);
}

TEST(tune_rules, a_dear_range_raises_the_threshold_of_vectors) {
    costs of = usual();
    EXPECT_EQ(advise(of).map_threshold, 1 * MiB);
    set_seconds(of, range_cold, largest_range, 1e-3);
    EXPECT_EQ(advise(of).map_threshold, 4 * MiB);
    EXPECT_FALSE(advise(of).is_default());
    set_seconds(of, range_cold, largest_range, 1);
    EXPECT_EQ(advise(of).map_threshold, 16 * MiB);
    figure_of(of, range_cold, largest_range).missing = "refused";
    EXPECT_EQ(advise(of).map_threshold, 1 * MiB);
}

TEST(tune_rules, the_crossing_is_where_remapping_wins_for_good) {
    costs of;
    const double remaps[] = {5e-6, 5e-6, 5e-6, 5e-6};
    const double copies[] = {6e-6, 4e-6, 20e-6, 80e-6};
    for (std::size_t i = 0; i != 4; ++i) {
        of.set(remapping, 16 * KiB << 2 * i, remaps[i]);
        of.set(copying, 16 * KiB << 2 * i, copies[i]);
    }
    EXPECT_EQ(remap_crossing(of), 256 * KiB);
    set_seconds(of, copying, MiB, 1e-6);
    EXPECT_EQ(remap_crossing(of), 0u);
    EXPECT_EQ(remap_crossing(costs{}), 0u);
}

TEST(tune_rules, one_core_is_told_that_a_helper_thread_gains_nothing) {
    costs of = usual();
    of.cores = 1;
    const advice found = advise(of);
    EXPECT_NE(found.notes.back().find("One core"), std::string::npos);
}

TEST(tune_rules, every_rule_can_decide_and_the_last_always_does) {
    EXPECT_TRUE(rules().back().applies(costs{}));
    for (const rule& one : rules()) {
        EXPECT_NE(std::string(one.name), "");
        EXPECT_NE(one.because(usual().huge_granted ? usual() : costs{}), "") << one.name;
    }
}

}    // namespace
