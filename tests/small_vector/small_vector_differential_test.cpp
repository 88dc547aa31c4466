// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Random operations on small_vector and std::vector, compared: see fuzz/differential.hpp. Left out under Valgrind, where it takes
// minutes and finds no more than AddressSanitizer.
#include "support/differential.hpp"

namespace {

using subjects = differential::small_vectors;

template <class Container>
class small_vector_in_step : public testing::Test {};
TYPED_TEST_SUITE(small_vector_in_step, headroom_test::as_types<subjects>::type);

TYPED_TEST(small_vector_in_step, through_random_operations) {
    headroom_test::run_random<TypeParam>(headroom_test::share_of_steps<subjects>(headroom_test::some_steps));
}

TEST(small_vector_in_step_with_std_vector, through_the_corpus) {
    EXPECT_GT(headroom_test::replay_corpus(subjects{}, "vector"), 0U);
}

}    // namespace
