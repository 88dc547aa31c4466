// SPDX-License-Identifier: MIT
// freeze() of a concurrent_vector: shares the published elements while threads append, or takes all of them after that.
#include <headroom/arrow.hpp>
#include <headroom/concurrent_vector.hpp>
#include <headroom/frozen.hpp>

#include <atomic>
#include <thread>

namespace {

template <class T>
class frozen_concurrent : public testing::Test {};
using kinds = testing::Types<std::int32_t, std::int64_t, double>;
TYPED_TEST_SUITE(frozen_concurrent, kinds);

TYPED_TEST(frozen_concurrent, what_is_published_is_shared_while_others_append) {
    const auto growing = std::make_shared<headroom::concurrent_vector<TypeParam>>();
    std::atomic<bool> done{false};
    std::thread writer([&] {
        for (int i = 0; i < 20'000; ++i) growing->push_back(TypeParam{7});
        done = true;
    });
    do {
        const headroom::frozen<TypeParam> shared = headroom::freeze(growing);
        ArrowArray array{};
        headroom::export_arrow(shared, shared.size(), &array, nullptr);
        for (const TypeParam& each : shared) ASSERT_EQ(each, TypeParam{7});
        array.release(&array);
    } while (!done);
    writer.join();
    EXPECT_EQ(headroom::freeze(growing).size(), 20'000U);
}

TYPED_TEST(frozen_concurrent, a_share_keeps_the_vector) {
    auto growing = std::make_shared<headroom::concurrent_vector<TypeParam>>();
    growing->push_back(TypeParam{1});
    const headroom::frozen<TypeParam> shared = headroom::freeze(growing);
    growing.reset();
    EXPECT_EQ(shared[0], TypeParam{1});
    EXPECT_TRUE(headroom::owner_of(shared.data()));
}

TYPED_TEST(frozen_concurrent, is_taken_when_nobody_appends_any_more) {
    headroom::concurrent_vector<TypeParam> finished;
    for (int i = 0; i < 1000; ++i) finished.push_back(static_cast<TypeParam>(i));
    const TypeParam* const where = finished.published().data();
    const headroom::frozen<TypeParam> shared = headroom::freeze(std::move(finished));
    EXPECT_EQ(shared.data(), where);
    EXPECT_EQ(shared[999], TypeParam{999});
}

}    // namespace
