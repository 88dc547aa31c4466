// SPDX-License-Identifier: MIT
// Labels: slow no-valgrind
// 10^8 random operations over all kinds of resources, or HEADROOM_STEPS. Takes half a minute.
#include <gtest/gtest.h>

#include "support/resource_model.hpp"
#include "support/resource_kinds.hpp"

namespace {

using namespace headroom_test;

template <class Kind>
class resource_model_slow : public testing::Test {};

TYPED_TEST_SUITE(resource_model_slow, with_all_kinds<testing::Types>);

TYPED_TEST(resource_model_slow, a_hundred_million_operations_keep_every_promise) {
    resource_model<> model(headroom_test::random(20260102));
    std::uint64_t left = model_operations(100'000'000) / kinds_in_all;
    run_operations<TypeParam>(model, [&] { return left-- > 0; });
}

}    // namespace
