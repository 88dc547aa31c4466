// Every memory resource against the same model, by random operations. HEADROOM_MODEL_OPERATIONS says how many (the slow
// set: 100000000).
#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <headroom/reservation.hpp>
#include <headroom/tracking.hpp>

#include <gtest/gtest.h>

#include <memory>

#include "support/resource_model.hpp"

namespace {

using test::counting_upstream;
using test::resource_model;

// Each kind of resource, with the upstream it has, if any.
struct monotonic_with_upstream {
    static constexpr std::size_t most_blocks = 3000;
    counting_upstream upstream;
    headroom::monotonic_resource resource{&upstream};
};
struct monotonic_by_default {
    static constexpr std::size_t most_blocks = 3000;
    counting_upstream upstream;    // unused
    headroom::monotonic_resource resource;
};
struct monotonic_with_buffer {
    static constexpr std::size_t most_blocks = 3000;
    counting_upstream upstream;
    std::array<std::byte, 5001> buffer;
    headroom::monotonic_resource resource{buffer.data() + 1, buffer.size() - 1, &upstream};
};
struct arena_of_its_own {
    static constexpr std::size_t most_blocks = 3000;
    counting_upstream upstream;    // unused
    headroom::arena_resource resource;
};
struct multipool_with_upstream {
    static constexpr std::size_t most_blocks = 20000;
    counting_upstream upstream;
    headroom::multipool_resource resource{&upstream};
};
struct multipool_by_default {
    static constexpr std::size_t most_blocks = 20000;
    counting_upstream upstream;    // unused
    headroom::multipool_resource resource;
};
struct multipool_of_few_sizes {
    static constexpr std::size_t most_blocks = 20000;
    counting_upstream upstream;
    headroom::multipool_resource resource{{10, 100}, &upstream};
};
struct multipool_over_monotonic {
    static constexpr std::size_t most_blocks = 2000;
    counting_upstream upstream;
    headroom::monotonic_resource below{&upstream};
    headroom::multipool_resource resource{&below};
};
struct synchronized_with_upstream {
    static constexpr std::size_t most_blocks = 20000;
    counting_upstream upstream;
    headroom::synchronized_multipool_resource resource{&upstream};
};
struct tracking_with_upstream {
    static constexpr std::size_t most_blocks = 20000;
    counting_upstream upstream;
    headroom::tracking_resource resource{&upstream};
};

template <class Kind>
class ResourceModel : public testing::Test {};

using kinds = testing::Types<monotonic_with_upstream, monotonic_by_default, monotonic_with_buffer, arena_of_its_own,
                             multipool_with_upstream, multipool_by_default, multipool_of_few_sizes,
                             multipool_over_monotonic, synchronized_with_upstream, tracking_with_upstream>;
TYPED_TEST_SUITE(ResourceModel, kinds);

template <class Resource>
constexpr bool forgets_one_by_one = requires(Resource& resource) { resource.mark(); };

TYPED_TEST(ResourceModel, RandomOperationsKeepEveryPromise) {
    TypeParam kind;
    auto& resource = kind.resource;
    resource_model model(20260101);
    const std::uint64_t operations = test::model_operations() / 10;    // ten kinds
    for (std::uint64_t done = 0; done < operations && !this->HasFatalFailure(); ++done) {
        const std::size_t dice = model.below(1000);
        if (model.blocks() >= TypeParam::most_blocks || dice == 0) {
            // A round ends, in one of two ways.
            model.forget();
            if (model.below(2) == 0) {
                resource.release();
                if constexpr (requires { kind.below; }) kind.below.release();
                EXPECT_EQ(kind.upstream.blocks(), 0U);
            } else {
                resource.rewind();
            }
        } else if (dice < 550) {
            model.allocate(resource);
        } else {
            model.deallocate(resource);
        }
    }
    model.check();
    resource.release();
    if constexpr (requires { kind.below; }) kind.below.release();
    EXPECT_EQ(kind.upstream.blocks(), 0U);
    EXPECT_EQ(kind.upstream.mistakes(), 0U);
}

// Through the abstract base the same class does the same.
TYPED_TEST(ResourceModel, RandomOperationsThroughTheBaseKeepEveryPromise) {
    TypeParam kind;
    std::pmr::memory_resource& resource = kind.resource;
    resource_model model(7);
    for (int round = 0; round < 20 && !this->HasFatalFailure(); ++round) {
        for (int done = 0; done < 500; ++done) {
            model.below(100) < 60 ? model.allocate(resource) : model.deallocate(resource);
        }
        model.forget();
        kind.resource.rewind();
    }
    kind.resource.release();
    EXPECT_EQ(kind.upstream.mistakes(), 0U);
}

// Blocks that are allocated through one binding may be given back through the other.
TYPED_TEST(ResourceModel, BindingsMix) {
    TypeParam kind;
    std::pmr::memory_resource& base = kind.resource;
    resource_model model(8);
    for (int done = 0; done < 2000 && !this->HasFatalFailure(); ++done) {
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

// Whatever call upstream refuses, the resource goes on, and nothing is lost.
TYPED_TEST(ResourceModel, ARefusalAtAnyUpstreamCallLeavesItUsable) {
    for (std::uint64_t k = 1; !this->HasFatalFailure(); ++k) {
        TypeParam kind;
        auto& resource = kind.resource;
        resource_model model(99);
        kind.upstream.refuse(k);
        bool refused = false;
        for (int done = 0; done < 1500 && !this->HasFatalFailure(); ++done) {
            try {
                model.below(100) < 60 ? model.allocate(resource) : model.deallocate(resource);
            } catch (const std::bad_alloc&) {
                EXPECT_FALSE(refused);
                refused = true;
            }
        }
        model.check();
        model.forget();
        resource.release();
        if constexpr (requires { kind.below; }) kind.below.release();
        ASSERT_EQ(kind.upstream.blocks(), 0U);
        ASSERT_EQ(kind.upstream.mistakes(), 0U);
        if (!refused) break;
        if (k > 40) k += k / 3;    // where there are hundreds of calls, not at each of them
    }
}

TYPED_TEST(ResourceModel, ARoundLikeTheLastNeedsNothingFromUpstream) {
    TypeParam kind;
    auto& resource = kind.resource;
    if (std::is_same_v<TypeParam, tracking_with_upstream>) return;    // it keeps nothing: blocks are upstream's own
    const auto round = [&] {
        resource_model model(5);
        for (int done = 0; done < 1000; ++done) model.allocate(resource);
        model.forget();
        resource.rewind();
    };
    round();
    round();
    const std::uint64_t before = kind.upstream.requests();
    for (int again = 0; again < 5; ++again) round();
    EXPECT_EQ(kind.upstream.requests(), before);
}

TYPED_TEST(ResourceModel, MarksNest) {
    TypeParam kind;
    auto& resource = kind.resource;
    if constexpr (forgets_one_by_one<std::remove_reference_t<decltype(resource)>>) {
        resource_model model(11);
        using marker = decltype(resource.mark());
        std::vector<std::pair<marker, std::size_t>> marks;
        for (int done = 0; done < 20000 && !this->HasFatalFailure(); ++done) {
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
    } else {
        SUCCEED() << "blocks of this kind are given back one by one";
    }
}

}  // namespace
