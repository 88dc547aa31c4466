#include <headroom/tracking.hpp>
#include <headroom/multipool.hpp>

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "support/resources.hpp"

namespace {

using headroom::tracking_resource;
using test::counting_upstream;

// Collects messages instead of printing them.
struct messages {
    std::vector<std::string> all;
    static void take(void* into, const char* message) { static_cast<messages*>(into)->all.emplace_back(message); }
    void from(tracking_resource& resource) { resource.report_to(take, this); }
    [[nodiscard]] bool say(const std::string& text) const { return !all.empty() && all.back().find(text) != std::string::npos; }
};

TEST(Tracking, CountsWhatIsInUseAtPeakAndInTotal) {
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

TEST(Tracking, TheDefaultUpstreamIsTheDefaultResource) {
    counting_upstream upstream;
    const test::default_resource set(&upstream);
    tracking_resource resource;
    EXPECT_EQ(resource.upstream_resource(), &upstream);
    EXPECT_EQ(tracking_resource("named").upstream_resource(), &upstream);
}

TEST(Tracking, ADoubleFreeIsReportedAndGoesNoFurther) {
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

TEST(Tracking, AWrongSizeIsReportedAndTheBlockStays) {
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

TEST(Tracking, AWrongAlignmentIsReported) {
    tracking_resource resource;
    messages heard;
    heard.from(resource);
    void* const block = resource.allocate(24, 8);
    resource.deallocate(block, 24, 16);
    EXPECT_EQ(resource.statistics().wrong_alignments, 1U);
    EXPECT_TRUE(heard.say("has alignment 8 and is given back as 16"));
    resource.deallocate(block, 24, 8);
}

TEST(Tracking, AForeignPointerIsReported) {
    tracking_resource resource;
    messages heard;
    heard.from(resource);
    int other = 0;
    resource.deallocate(&other, sizeof other);
    EXPECT_EQ(resource.statistics().foreign_frees, 1U);
    EXPECT_TRUE(heard.say("foreign pointer"));
}

TEST(Tracking, ABlockThatIsUsedAgainMayBeFreedAgain) {
    headroom::multipool_resource pool;
    tracking_resource resource(&pool);
    for (int i = 0; i < 1000; ++i) resource.deallocate(resource.allocate(24), 24);
    EXPECT_EQ(resource.statistics().errors(), 0U);
    EXPECT_EQ(resource.statistics().total_blocks, 1000U);
}

TEST(Tracking, ReportListsWhatIsInUseBySize) {
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

TEST(Tracking, LeaksAreReportedWhenItDies) {
    counting_upstream upstream;
    messages heard;
    void* leaked;
    {
        tracking_resource resource(&upstream, "session");
        heard.from(resource);
        leaked = resource.allocate(40);
    }
    EXPECT_TRUE(heard.say("session: leak: 1 block in use, 40 bytes\n    1 x 40 bytes"));
    // It stays allocated: somebody may still use it.
    EXPECT_EQ(upstream.blocks(), 1U);
    static_cast<std::pmr::memory_resource&>(upstream).deallocate(leaked, 40);
}

TEST(Tracking, WhatIsReleasedIsNoLeakButMayNotBeFreedAgain) {
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

TEST(Tracking, CountsWhatUpstreamRefuses) {
    counting_upstream upstream;
    tracking_resource resource(&upstream);
    upstream.refuse(1);
    EXPECT_THROW((void)resource.allocate(10), std::bad_alloc);
    EXPECT_EQ(resource.statistics().failures, 1U);
    EXPECT_EQ(resource.statistics().blocks, 0U);
}

TEST(Tracking, StatisticsStartAnew) {
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

TEST(Tracking, ManyThreadsMayUseIt) {
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

// A block that was freed long ago is forgotten, so that watching for hours does not eat memory.
TEST(Tracking, RemembersOnlyTheLatestOfThoseThatAreGone) {
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

// The listener is called with no lock held.
TEST(Tracking, AListenerMayAskTheResource) {
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
