// headroom tune --check: when a policy counts as slower, on times that are invented.
// Labels: tools
#include <gtest/gtest.h>

#include <vector>

#include "check.hpp"

namespace {

using namespace headroom::tools::tune;

// The default takes 1, give or take `noise`; the tuned policy `ratio` as long, give or take as much.
std::vector<round_times> rounds(double ratio, double noise, int count = 21) {
    std::vector<round_times> result;
    for (int i = 0; i < count; ++i) {
        const double up = 1 + noise * ((i * 7 % 11) / 5.0 - 1);
        const double down = 1 - noise * ((i * 5 % 11) / 5.0 - 1);
        result.push_back({up, ratio * down, 2 - up});
    }
    return result;
}

TEST(tune_check, the_same_speed_is_not_slower) {
    EXPECT_FALSE(judge(rounds(1, 0)).slower);
    EXPECT_FALSE(judge(rounds(1, 0.3)).slower);
    EXPECT_DOUBLE_EQ(judge(rounds(1, 0)).ratio, 1);
}

TEST(tune_check, a_faster_policy_is_not_slower) { EXPECT_FALSE(judge(rounds(0.7, 0.05)).slower); }

TEST(tune_check, a_slower_policy_is_found) {
    EXPECT_TRUE(judge(rounds(1.2, 0.02)).slower);
    EXPECT_NEAR(judge(rounds(1.2, 0.02)).ratio, 1.2, 0.03);
}

TEST(tune_check, a_difference_within_the_noise_is_none) {
    EXPECT_FALSE(judge(rounds(1.02, 0)).slower);
    EXPECT_FALSE(judge(rounds(1.1, 0.4)).slower);
}

TEST(tune_check, a_few_interrupted_rounds_change_nothing) {
    std::vector<round_times> found = rounds(1, 0.01);
    for (std::size_t i = 0; i < 4; ++i) found[i].tuned *= 10;
    EXPECT_FALSE(judge(found).slower);
}

TEST(tune_check, one_round_is_enough_for_a_verdict) { EXPECT_DOUBLE_EQ(judge({{1, 2, 1}}).ratio, 2); }

TEST(tune_check, what_could_not_be_compared_is_neither_slower_nor_left_out) {
    const std::vector<comparison> compared = {{"settled_vector<int>", 100, {}, "no memory"},
                                              {"vector<int>", 10, rounds(2, 0), ""}};
    EXPECT_TRUE(any_slower(compared));
    EXPECT_FALSE(any_slower({compared[0]}));
    const std::string text = check_text(compared);
    EXPECT_NE(text.find("not compared: no memory"), std::string::npos);
    EXPECT_NE(text.find("slower than the default"), std::string::npos);
}

TEST(tune_check, it_can_be_stopped) {
    int asked = 0;
    EXPECT_LE(compare({}, std::size_t{1} << 20, 1000, [&] { return ++asked > 2; }).size(), 1u);
}

}    // namespace
