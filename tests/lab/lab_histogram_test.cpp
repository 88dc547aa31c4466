// SPDX-License-Identifier: MIT
// The histogram keeps samples to three significant digits.
// Labels: lab
#include "measure/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using headroom::lab::histogram;

TEST(lab_histogram, small_values_are_exact) {
    histogram counts;
    for (std::uint64_t value = 0; value < 2048; ++value) counts.add(value);
    std::uint64_t expected = 0;
    counts.each([&](std::uint64_t first, std::uint64_t last, std::uint64_t count) {
        EXPECT_EQ(first, expected);
        EXPECT_EQ(last, expected);
        EXPECT_EQ(count, 1U);
        ++expected;
    });
    EXPECT_EQ(expected, 2048U);
}

TEST(lab_histogram, every_value_lies_in_a_bucket_narrower_than_a_thousandth_of_it) {
    std::vector<std::uint64_t> values{2047, 2048, 2049, 4095, 4096, std::numeric_limits<std::uint64_t>::max()};
    for (int shift = 0; shift < 64; ++shift) {
        values.push_back(std::uint64_t{1} << shift);
        values.push_back((std::uint64_t{1} << shift) - 1);
        values.push_back((std::uint64_t{3} << shift) / 2 + 1);
    }
    for (const std::uint64_t value : values) {
        histogram counts;
        counts.add(value);
        int buckets = 0;
        counts.each([&](std::uint64_t first, std::uint64_t last, std::uint64_t count) {
            ++buckets;
            EXPECT_EQ(count, 1U);
            EXPECT_LE(first, value);
            EXPECT_GE(last, value);
            EXPECT_LE(static_cast<double>(last - first), static_cast<double>(value) / 1000);
        });
        EXPECT_EQ(buckets, 1);
    }
}

TEST(lab_histogram, buckets_do_not_overlap_and_leave_no_gap) {
    histogram counts;
    std::mt19937_64 random(1);
    for (int i = 0; i < 200'000; ++i) counts.add(2000 + random() % 10'000);
    std::uint64_t next = 0;
    counts.each([&](std::uint64_t first, std::uint64_t last, std::uint64_t) {
        if (next != 0) {
            EXPECT_EQ(first, next);
        }
        next = last + 1;
    });
}

TEST(lab_histogram, percentiles_are_those_of_the_sorted_sample) {
    histogram counts;
    std::vector<std::uint64_t> sample;
    std::mt19937_64 random(2);
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t value = random() >> (random() % 60);
        sample.push_back(value);
        counts.add(value);
    }
    std::sort(sample.begin(), sample.end());
    for (const double fraction : {0.00001, 0.1, 0.5, 0.9, 0.99, 0.9999, 0.99999, 1.0}) {
        const auto rank = static_cast<std::size_t>(fraction * static_cast<double>(sample.size()) - 1e-9);
        const auto exact = static_cast<double>(sample[rank]);
        const auto found = static_cast<double>(counts.percentile(fraction));
        EXPECT_GE(found, exact) << fraction;
        EXPECT_LE(found, exact * 1.001) << fraction;
    }
}

TEST(lab_histogram, minimum_maximum_and_number_are_exact) {
    histogram counts;
    counts.add(123'456'789);
    counts.add(987'654'321);
    EXPECT_EQ(counts.minimum(), 123'456'789U);
    EXPECT_EQ(counts.maximum(), 987'654'321U);
    EXPECT_EQ(counts.percentile(1.0), 987'654'321U);
    EXPECT_EQ(counts.samples(), 2U);
}

TEST(lab_histogram, an_empty_one_answers_zero) {
    const histogram counts;
    EXPECT_EQ(counts.samples(), 0U);
    EXPECT_EQ(counts.minimum(), 0U);
    EXPECT_EQ(counts.maximum(), 0U);
    EXPECT_EQ(counts.percentile(0.5), 0U);
}

TEST(lab_histogram, adding_another_adds_its_samples) {
    histogram a;
    histogram b;
    a.add(5);
    b.add(5);
    b.add(1'000'000);
    a.add(b);
    EXPECT_EQ(a.samples(), 3U);
    EXPECT_EQ(a.minimum(), 5U);
    EXPECT_EQ(a.maximum(), 1'000'000U);
    EXPECT_EQ(a.percentile(0.5), 5U);
}

}    // namespace
