// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Random operations on file_vector and std::vector, compared: see fuzz/differential.hpp. Left out under Valgrind, where it takes
// minutes and finds no more than AddressSanitizer.
#include "support/differential.hpp"
#include "support/shown_files.hpp"

namespace {

using subjects = differential::file_vectors;

template <class Container>
class file_vector_in_step : public testing::Test {};
TYPED_TEST_SUITE(file_vector_in_step, headroom_test::as_types<subjects>::type);

TYPED_TEST(file_vector_in_step, through_random_operations) {
    // A quarter: a step may create a file.
    headroom_test::run_random<TypeParam>(headroom_test::share_of_steps<subjects>(headroom_test::some_steps / 4));
}

TEST(file_vector_in_step_with_std_vector, through_the_corpus) {
    EXPECT_GT(headroom_test::replay_corpus(subjects{}, "file_vector"), 0U);
}

}    // namespace
