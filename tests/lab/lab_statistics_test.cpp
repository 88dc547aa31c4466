// Medians, quantiles and spread of small samples.
// Labels: lab
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

namespace {

using headroom::lab::median;
using headroom::lab::quantile;
using headroom::lab::spread;

TEST(LabStatistics, TheMedianOfAnOddSampleIsItsMiddle) { EXPECT_DOUBLE_EQ(median({9, 1, 5}), 5); }

TEST(LabStatistics, TheMedianOfAnEvenSampleLiesBetweenItsMiddles) { EXPECT_DOUBLE_EQ(median({4, 1, 2, 100}), 3); }

TEST(LabStatistics, OneBadRoundDoesNotMoveTheMedian) { EXPECT_DOUBLE_EQ(median({1, 1, 1, 1, 1e9}), 1); }

TEST(LabStatistics, QuantilesReachFromLeastToGreatest) {
    EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0), 1);
    EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 1), 3);
    EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.25), 2.5);
}

TEST(LabStatistics, TheSpreadIsTheDistanceOfTheQuartiles) {
    EXPECT_DOUBLE_EQ(spread({1, 2, 3, 4, 5}), 2);
    EXPECT_DOUBLE_EQ(spread({7}), 0);
}

TEST(LabStatistics, AnEmptySampleAnswersZero) {
    EXPECT_DOUBLE_EQ(median({}), 0);
    EXPECT_DOUBLE_EQ(spread({}), 0);
}

}    // namespace
