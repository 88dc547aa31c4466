// headroom tune: what is measured, also where the system refuses.
// Labels: tools no-valgrind
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include <headroom/reservation.hpp>
#include <headroom/testing.hpp>

#include "measure.hpp"
#include "rules.hpp"

namespace {

using namespace headroom::tools::tune;

bool never() { return false; }

TEST(tune_measure, every_figure_is_a_time_or_a_reason) {
    const costs found = measure(0.01, never);
    EXPECT_GE(found.rounds, 3u);
    EXPECT_GT(found.figures.size(), 15u);
    for (const figure& one : found.figures) {
        SCOPED_TRACE(one.what + " " + std::to_string(one.bytes));
        if (one.missing.empty()) {
            EXPECT_GT(one.seconds, 0);
            EXPECT_LE(one.low, one.seconds);
            EXPECT_LE(one.seconds, one.high);
            EXPECT_GE(one.rounds, 3u);
        } else {
            EXPECT_EQ(one.rounds, 0u);
        }
    }
    EXPECT_TRUE(headroom::reservations().empty());
}

TEST(tune_measure, a_refusal_at_any_call_costs_at_most_a_figure_of_one_round) {
    headroom::testing::count_system_calls();
    const costs whole = measure(0.01, never);
    const auto calls = headroom::testing::stop_failing();
    for (std::uint64_t k = 1; k <= calls; k += 1 + calls / 12) {
        headroom::testing::fail_system_call(k);
        const costs found = measure(0.01, never);
        headroom::testing::stop_failing();
        ASSERT_EQ(found.figures.size(), whole.figures.size()) << k;
        for (std::size_t i = 0; i < found.figures.size(); ++i) {
            ASSERT_TRUE(found.figures[i].missing.empty() || !whole.figures[i].missing.empty()) << k << found.figures[i].what;
        }
    }
}

TEST(tune_measure, where_everything_is_refused_the_reasons_are_there_and_the_default_follows) {
    headroom::testing::fail_system_call(1, ENOMEM, headroom::testing::afterwards::keep_failing);
    const costs found = measure(0.01, never);
    headroom::testing::stop_failing();
    for (const figure& one : found.figures) {
        if (one.what == first_touch_all) continue;    // one core: not tried
        EXPECT_NE(one.missing.find("refuse"), std::string::npos) << one.what << ": " << one.missing;
    }
    EXPECT_TRUE(advise(found).is_default());
}

TEST(tune_measure, it_can_be_stopped_at_once_and_later) {
    EXPECT_EQ(measure(1000, [] { return true; }).rounds, 0u);
    int asked = 0;
    EXPECT_LE(measure(1000, [&] { return ++asked > 100; }).rounds, 100u);
}

}    // namespace
