// SPDX-License-Identifier: MIT
// Random operations on handed-over elements: the fuzzer's corpus, then random bytes.
// Labels: own-heap no-valgrind
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/corpus.hpp"
#include "support/handover_model.hpp"

namespace {

TEST(handed_over_at_random, lives_of_the_corpus_keep_every_promise) {
    EXPECT_GT(headroom_test::replay_corpus("handover", headroom_test::hand_over), 0U);
}

TEST(handed_over_at_random, random_lives_keep_every_promise) {
    std::mt19937 random(2026);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::uint8_t> bytes(2000);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        ASSERT_NO_THROW(headroom_test::hand_over(bytes.data(), bytes.size())) << "round " << round;
    }
}

}    // namespace
