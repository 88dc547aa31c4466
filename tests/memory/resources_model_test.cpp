// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Compares every memory resource with one model, by random operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/corpus.hpp"
#include "support/resource_bytes.hpp"
#include "support/resource_kinds.hpp"
#include "support/resource_model.hpp"

namespace {

using namespace headroom_test;    // the kinds of resources

template <class Kind>
class resource_model_of : public testing::Test {};

TYPED_TEST_SUITE(resource_model_of, with_all_kinds<testing::Types>);

TYPED_TEST(resource_model_of, random_operations_keep_every_promise) {
    resource_model<> model(headroom_test::random(20260101));
    std::uint64_t left = model_operations(sanitized ? 200'000 : 1'000'000) / kinds_in_all;
    run_operations<TypeParam>(model, [&] { return left-- > 0; });
}

// Calls through the abstract base behave like direct calls.
TYPED_TEST(resource_model_of, random_operations_through_the_base_keep_every_promise) {
    TypeParam kind;
    std::pmr::memory_resource& resource = kind.resource;
    resource_model<> model(headroom_test::random(7));
    for (int round = 0; round < 20; ++round) {
        for (int done = 0; done < 500; ++done) {
            model.below(100) < 60 ? model.allocate(resource) : model.deallocate(resource);
        }
        model.forget();
        kind.resource.rewind();
    }
    kind.resource.release();
    EXPECT_EQ(kind.upstream.mistakes(), 0U);
}

// Blocks may be allocated directly and deallocated through the base, and vice versa.
TYPED_TEST(resource_model_of, bindings_mix) {
    TypeParam kind;
    std::pmr::memory_resource& base = kind.resource;
    resource_model<> model(headroom_test::random(8));
    for (int done = 0; done < 2000; ++done) {
        if (model.below(100) < 55) {
            model.below(2) == 0 ? model.allocate(base) : model.allocate(kind.resource);
        } else {
            model.below(2) == 0 ? model.deallocate(base) : model.deallocate(kind.resource);
        }
    }
    model.check();
    model.forget();
    kind.resource.release();
    EXPECT_EQ(kind.upstream.mistakes(), 0U);
}

// After any refused upstream call the resource is usable and has lost nothing.
TYPED_TEST(resource_model_of, a_refusal_at_any_upstream_call_leaves_it_usable) {
    for (std::uint64_t k = 1;; ++k) {
        TypeParam kind;
        auto& resource = kind.resource;
        resource_model<> model(headroom_test::random(99));
        kind.upstream.refuse(k);
        bool refused = false;
        for (int done = 0; done < 1500; ++done) {
            try {
                model.below(100) < 60 ? model.allocate(resource) : model.deallocate(resource);
            } catch (const std::bad_alloc&) {
                EXPECT_FALSE(refused);
                refused = true;
            }
        }
        model.check();
        model.forget();
        ASSERT_EQ(release_all(kind), 0U);
        ASSERT_EQ(kind.upstream.mistakes(), 0U);
        if (!refused) break;
        if (k > 40) k += k / 3;    // then at growing intervals
    }
}

TYPED_TEST(resource_model_of, a_round_like_the_last_needs_nothing_from_upstream) {
    TypeParam kind;
    auto& resource = kind.resource;
    const auto round = [&] {
        resource_model<> model(headroom_test::random(5));
        for (int done = 0; done < 1000; ++done) model.allocate(resource);
        model.forget();
        resource.rewind();
    };
    round();
    round();
    const std::uint64_t before = kind.upstream.requests();
    for (int again = 0; again < 5; ++again) round();
    // A tracking resource keeps no memory: each block is one of upstream's.
    const std::uint64_t needed = std::is_same_v<TypeParam, tracking_with_upstream> ? 5000 : 0;
    EXPECT_EQ(kind.upstream.requests(), before + needed);
}

template <class Kind>
class resource_model_marks : public testing::Test {};
TYPED_TEST_SUITE(resource_model_marks, with_marking_kinds<testing::Types>);

TYPED_TEST(resource_model_marks, marks_nest) {
    TypeParam kind;
    auto& resource = kind.resource;
    resource_model<> model(headroom_test::random(11));
    using marker = decltype(resource.mark());
    std::vector<std::pair<marker, std::size_t>> marks;
    for (int done = 0; done < 4000; ++done) {
        const std::size_t dice = model.below(100);
        if (dice < 10) {
            marks.emplace_back(resource.mark(), model.blocks());
        } else if (dice < 17 && !marks.empty()) {
            for (std::size_t down = model.below(std::min<std::size_t>(marks.size(), 3)); down > 0; --down) {
                marks.pop_back();
            }
            model.forget_from(marks.back().second);
            resource.rewind(marks.back().first);
            marks.pop_back();
        } else {
            model.allocate(resource);
        }
    }
    model.check();
}

// Replays the fuzzer's corpus.
TEST(resource_model_corpus, every_file_keeps_every_promise) {
    EXPECT_GT(headroom_test::replay_corpus("resources", run_bytes), 0U);
}

}    // namespace
