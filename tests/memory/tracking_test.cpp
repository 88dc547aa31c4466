// SPDX-License-Identifier: MIT
#include <headroom/tracking.hpp>
#include <headroom/multipool.hpp>

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "support/resources.hpp"

namespace {

using headroom::tracking_resource;
using headroom_test::counting_upstream;

// Collects messages instead of printing them.
struct messages {
    std::vector<std::string> all;
    static void take(void* into, const char* message) { static_cast<messages*>(into)->all.emplace_back(message); }
    void from(tracking_resource& resource) { resource.report_to(take, this); }
    [[nodiscard]] bool say(const std::string& text) const { return !all.empty() && all.back().find(text) != std::string::npos; }
};

TEST(tracking, counts_what_is_in_use_at_peak_and_in_total) {
    counting_upstream upstream;
    tracking_resource resource(&upstream);
    void* const a = resource.allocate(100, 8);
    void* const b = resource.allocate(50, 4);
    resource.deallocate(a, 100, 8);
    void* const c = resource.allocate(10, 1);
    const headroom::tracking_statistics counts = resource.statistics();
    EXPECT_EQ(counts.blocks, 2U);
    EXPECT_EQ(counts.bytes, 60U);
    EXPECT_EQ(counts.peak_blocks, 2U);
    EXPECT_EQ(counts.peak_bytes, 150U);
    EXPECT_EQ(counts.total_blocks, 3U);
    EXPECT_EQ(counts.total_bytes, 160U);
    EXPECT_EQ(counts.errors(), 0U);
    EXPECT_EQ(upstream.bytes(), 60U);
    resource.deallocate(b, 50, 4);
    resource.deallocate(c, 10, 1);
    EXPECT_EQ(resource.statistics().blocks, 0U);
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

TEST(tracking, the_default_upstream_is_the_default_resource) {
    counting_upstream upstream;
    const headroom_test::default_resource set(&upstream);
    tracking_resource resource;
    EXPECT_EQ(resource.upstream_resource(), &upstream);
    EXPECT_EQ(tracking_resource("named").upstream_resource(), &upstream);
}

TEST(tracking, a_double_free_is_reported_and_goes_no_further) {
    counting_upstream upstream;
    tracking_resource resource(&upstream, "parser");
    messages heard;
    heard.from(resource);
    void* const block = resource.allocate(24);
    resource.deallocate(block, 24);
    resource.deallocate(block, 24);
    EXPECT_EQ(resource.statistics().double_frees, 1U);
    EXPECT_EQ(upstream.mistakes(), 0U);
    EXPECT_TRUE(heard.say("parser: double free: block "));
    EXPECT_TRUE(heard.say("(24 bytes, allocation 1)"));
}

TEST(tracking, a_wrong_size_is_reported_and_the_block_stays) {
    counting_upstream upstream;
    tracking_resource resource(&upstream);
    messages heard;
    heard.from(resource);
    void* const block = resource.allocate(24);
    resource.deallocate(block, 25);
    EXPECT_EQ(resource.statistics().wrong_sizes, 1U);
    EXPECT_EQ(resource.statistics().blocks, 1U);
    EXPECT_TRUE(heard.say("has 24 bytes and is given back as 25"));
    resource.deallocate(block, 24);
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(heard.all.size(), 1U);
}

TEST(tracking, a_wrong_alignment_is_reported) {
    tracking_resource resource;
    messages heard;
    heard.from(resource);
    void* const block = resource.allocate(24, 8);
    resource.deallocate(block, 24, 16);
    EXPECT_EQ(resource.statistics().wrong_alignments, 1U);
    EXPECT_TRUE(heard.say("has alignment 8 and is given back as 16"));
    resource.deallocate(block, 24, 8);
}

TEST(tracking, a_foreign_pointer_is_reported) {
    tracking_resource resource;
    messages heard;
    heard.from(resource);
    int other = 0;
    resource.deallocate(&other, sizeof other);
    EXPECT_EQ(resource.statistics().foreign_frees, 1U);
    EXPECT_TRUE(heard.say("foreign pointer"));
}

TEST(tracking, a_block_that_is_used_again_may_be_freed_again) {
    headroom::multipool_resource pool;
    tracking_resource resource(&pool);
    for (int i = 0; i < 1000; ++i) resource.deallocate(resource.allocate(24), 24);
    EXPECT_EQ(resource.statistics().errors(), 0U);
    EXPECT_EQ(resource.statistics().total_blocks, 1000U);
}

TEST(tracking, report_lists_what_is_in_use_by_size) {
    tracking_resource resource("cache");
    std::vector<void*> blocks;
    for (int i = 0; i < 3; ++i) blocks.push_back(resource.allocate(8));
    blocks.push_back(resource.allocate(100));
    EXPECT_EQ(resource.report(),
              "cache: 4 blocks in use, 124 bytes\n"
              "    1 x 100 bytes, the first by allocation 4\n"
              "    3 x 8 bytes, the first by allocation 1");
    resource.release();
    EXPECT_EQ(resource.report(), "cache: 0 blocks in use, 0 bytes");
}

TEST(tracking, leaks_are_reported_when_it_dies) {
    counting_upstream upstream;
    messages heard;
    void* leaked;
    {
        tracking_resource resource(&upstream, "session");
        heard.from(resource);
        leaked = resource.allocate(40);
    }
    EXPECT_TRUE(heard.say("session: leak: 1 block in use, 40 bytes\n    1 x 40 bytes"));
    // It stays allocated, since it may still be in use.
    EXPECT_EQ(upstream.blocks(), 1U);
    static_cast<std::pmr::memory_resource&>(upstream).deallocate(leaked, 40);
}

TEST(tracking, what_is_released_is_no_leak_but_may_not_be_freed_again) {
    counting_upstream upstream;
    messages heard;
    tracking_resource resource(&upstream);
    heard.from(resource);
    void* const block = resource.allocate(40);
    (void)resource.allocate(50, 64);
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
    EXPECT_EQ(resource.statistics().blocks, 0U);
    resource.deallocate(block, 40);
    EXPECT_EQ(resource.statistics().late_frees, 1U);
    EXPECT_TRUE(heard.say("use after release"));
}

TEST(tracking, counts_what_upstream_refuses) {
    counting_upstream upstream;
    tracking_resource resource(&upstream);
    upstream.refuse(1);
    EXPECT_THROW((void)resource.allocate(10), std::bad_alloc);
    EXPECT_EQ(resource.statistics().failures, 1U);
    EXPECT_EQ(resource.statistics().blocks, 0U);
}

TEST(tracking, statistics_start_anew) {
    tracking_resource resource;
    void* const block = resource.allocate(10);
    resource.deallocate(resource.allocate(90), 90);
    resource.reset_statistics();
    EXPECT_EQ(resource.statistics().blocks, 1U);
    EXPECT_EQ(resource.statistics().peak_bytes, 10U);
    EXPECT_EQ(resource.statistics().total_blocks, 0U);
    resource.deallocate(block, 10);
    EXPECT_EQ(resource.statistics().bytes, 0U);
}

TEST(tracking, many_threads_may_use_it) {
    tracking_resource resource;
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) resource.deallocate(resource.allocate(16), 16);
        });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(resource.statistics().total_blocks, 8000U);
    EXPECT_EQ(resource.statistics().blocks, 0U);
    EXPECT_EQ(resource.statistics().errors(), 0U);
}

// Forgets blocks freed long ago, so that tracking for hours does not use more and more memory.
TEST(tracking, remembers_only_the_latest_of_those_that_are_gone) {
    tracking_resource resource;
    messages heard;
    heard.from(resource);
    std::vector<void*> blocks;
    for (int i = 0; i < 100'000; ++i) blocks.push_back(resource.allocate(8));
    for (void* const each : blocks) resource.deallocate(each, 8);
    resource.deallocate(blocks.front(), 8);
    EXPECT_EQ(resource.statistics().foreign_frees, 1U);
    resource.deallocate(blocks.back(), 8);
    EXPECT_EQ(resource.statistics().double_frees, 1U);
}

// The listener is called without the lock.
TEST(tracking, a_listener_may_ask_the_resource) {
    tracking_resource resource;
    struct heard {
        tracking_resource* resource;
        std::uint64_t errors = 0;
        std::string report;
    } said{&resource, 0, {}};
    resource.report_to(
        [](void* context, const char*) {
            auto& into = *static_cast<heard*>(context);
            into.errors = into.resource->statistics().errors();
            into.report = into.resource->report();
            into.resource->deallocate(into.resource->allocate(1), 1);
            into.resource->report_to(nullptr);
        },
        &said);
    int foreign = 0;
    resource.deallocate(&foreign, 4);
    EXPECT_EQ(said.errors, 1U);
    EXPECT_NE(said.report.find("0 blocks in use"), std::string::npos);
    EXPECT_EQ(resource.statistics().total_blocks, 1U);
}

}    // namespace
