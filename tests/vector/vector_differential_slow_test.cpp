// SPDX-License-Identifier: MIT
// Labels: slow no-valgrind
// 10^8 random steps over all element types, or HEADROOM_STEPS. Takes about five minutes.
#include "support/differential.hpp"

namespace {

using subjects = differential::vectors;

template <class Container>
class vector_in_step : public testing::Test {};
TYPED_TEST_SUITE(vector_in_step, headroom_test::as_types<subjects>::type);

TYPED_TEST(vector_in_step, through_a_hundred_million_operations) {
    headroom_test::run_random<TypeParam>(headroom_test::share_of_steps<subjects>(100'000'000));
}

}    // namespace
