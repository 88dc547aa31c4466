// SPDX-License-Identifier: MIT
// Median, quantiles and spread of small samples.
// Labels: lab
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

namespace {

using headroom::lab::median;
using headroom::lab::quantile;
using headroom::lab::spread;

TEST(lab_statistics, the_median_of_an_odd_sample_is_its_middle) { EXPECT_DOUBLE_EQ(median({9, 1, 5}), 5); }

TEST(lab_statistics, the_median_of_an_even_sample_lies_between_its_middles) { EXPECT_DOUBLE_EQ(median({4, 1, 2, 100}), 3); }

TEST(lab_statistics, one_bad_round_does_not_move_the_median) { EXPECT_DOUBLE_EQ(median({1, 1, 1, 1, 1e9}), 1); }

TEST(lab_statistics, quantiles_reach_from_least_to_greatest) {
    EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0), 1);
    EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 1), 3);
    EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.25), 2.5);
}

TEST(lab_statistics, the_spread_is_the_distance_of_the_quartiles) {
    EXPECT_DOUBLE_EQ(spread({1, 2, 3, 4, 5}), 2);
    EXPECT_DOUBLE_EQ(spread({7}), 0);
}

TEST(lab_statistics, an_empty_sample_answers_zero) {
    EXPECT_DOUBLE_EQ(median({}), 0);
    EXPECT_DOUBLE_EQ(spread({}), 0);
}

}    // namespace
