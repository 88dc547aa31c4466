// Labels: slow no-valgrind
// 10^8 operations over all kinds of resources: HEADROOM_STEPS says otherwise. Half a minute.
#include <gtest/gtest.h>

#include "support/resource_model.hpp"
#include "support/resource_kinds.hpp"

namespace {

using namespace test;

template <class Kind>
class ResourceModelSlow : public testing::Test {};

TYPED_TEST_SUITE(ResourceModelSlow, with_all_kinds<testing::Types>);

TYPED_TEST(ResourceModelSlow, AHundredMillionOperationsKeepEveryPromise) {
    resource_model<> model(test::random(20260102));
    std::uint64_t left = model_operations(100'000'000) / kinds_in_all;
    run_operations<TypeParam>(model, [&] { return left-- > 0; });
}

}    // namespace
