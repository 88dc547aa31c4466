// SPDX-License-Identifier: MIT
// Imports of Arrow arrays made from arbitrary bytes: the fuzzer's corpus, then random bytes.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/corpus.hpp"
#include "support/foreign_array_bytes.hpp"

namespace {

TEST(arrays_of_any_bytes, of_the_corpus_are_refused_or_read) {
    EXPECT_GT(headroom_test::replay_corpus("arrow_import", headroom_test::read_any_array), 0U);
}

TEST(arrays_of_any_bytes, of_random_ones_are_refused_or_read) {
    std::mt19937 random(2026);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::uint8_t> bytes(1000);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        ASSERT_NO_THROW(headroom_test::read_any_array(bytes.data(), bytes.size())) << "round " << round;
    }
}

}    // namespace
