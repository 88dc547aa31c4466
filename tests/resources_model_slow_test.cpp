// Labels: slow no-valgrind
// 10^8 operations over all kinds of resources: HEADROOM_STEPS says otherwise. Half a minute.
#include <gtest/gtest.h>

#include "support/resource_model.hpp"
#include "support/resource_kinds.hpp"

namespace {

using namespace test;

template <class Kind>
class ResourceModelSlow : public testing::Test {};

using kinds = testing::Types<monotonic_with_upstream, monotonic_by_default, monotonic_with_buffer, arena_of_its_own,
                             multipool_with_upstream, multipool_by_default, multipool_of_few_sizes,
                             multipool_over_monotonic, synchronized_with_upstream, tracking_with_upstream>;
TYPED_TEST_SUITE(ResourceModelSlow, kinds);

TYPED_TEST(ResourceModelSlow, AHundredMillionOperationsKeepEveryPromise) {
    resource_model<> model(test::random(20260102));
    std::uint64_t left = model_operations(100'000'000) / 10;    // ten kinds
    run_operations<TypeParam>(model, [&] { return left-- > 0; });
}

}  // namespace
