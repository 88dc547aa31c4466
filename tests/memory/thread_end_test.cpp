// SPDX-License-Identifier: MIT
// A synchronized multipool used by the destructors of thread_local objects, before and after the thread's cache is returned.
// Labels: posix
#include <gtest/gtest.h>

#include <thread>

#include <headroom/multipool.hpp>

#include "support/resources.hpp"

namespace {

using headroom::synchronized_multipool_resource;
using headroom_test::counting_upstream;

// Uses the resource at the end of its thread, if it has one.
struct user_at_end {
    synchronized_multipool_resource* resource = nullptr;
    void* kept = nullptr;

    ~user_at_end() {
        if (resource == nullptr) return;
        for (int i = 0; i < 100; ++i) resource->deallocate(resource->allocate(40), 40);
        if (kept != nullptr) resource->deallocate(kept, 40);
    }
};

// thread_local objects are destroyed in the reverse order of their first use.
thread_local user_at_end variable;

TEST(thread_end, a_destructor_after_the_resources_own_may_use_the_resource) {
    counting_upstream upstream;
    synchronized_multipool_resource resource(&upstream);
    for (int i = 0; i < 3; ++i) {
        std::thread([&] {
            variable.resource = &resource;
            variable.kept = resource.allocate(40);
        }).join();
    }
    const std::size_t bytes = upstream.bytes();
    std::thread([&] {
        variable.resource = &resource;
        variable.kept = resource.allocate(40);
    }).join();
    EXPECT_EQ(upstream.bytes(), bytes) << "the last thread found nothing of what those before it had given back";
    EXPECT_EQ(resource.statistics().blocks, 0U) << "a thread that had ended kept some";
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

TEST(thread_end, a_destructor_before_the_resources_own_may_use_the_resource) {
    counting_upstream upstream;
    synchronized_multipool_resource resource(&upstream);
    std::thread([&] {
        void* const block = resource.allocate(40);
        variable.resource = &resource;
        variable.kept = block;
    }).join();
    EXPECT_EQ(resource.statistics().blocks, 0U);
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

}    // namespace
