// Labels: core
// Valgrind cannot throw from operator new, so what asks it for the impossible is left out there.
// Not under Valgrind: Monotonic.OfTheDefaultUpstreamImpossibleRequestsThrowBadAllocToo
#include <headroom/monotonic.hpp>
#include <headroom/reservation.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "support/impossible_requests.hpp"
#include "support/resources.hpp"

namespace {

using headroom::monotonic_resource;
using test::aligned;
using test::counting_upstream;

TEST(Monotonic, ConstructionAllocatesNothing) {
    counting_upstream upstream;
    const test::default_resource set(&upstream);
    std::array<std::byte, 64> buffer;
    const monotonic_resource a;
    const monotonic_resource b(&upstream);
    const monotonic_resource c(1000);
    const monotonic_resource d(1000, &upstream);
    const monotonic_resource e(buffer.data(), buffer.size());
    const monotonic_resource f(buffer.data(), buffer.size(), &upstream);
    EXPECT_EQ(upstream.requests(), 0U);
    for (const monotonic_resource* each : {&a, &b, &c, &d, &e, &f}) EXPECT_EQ(each->upstream_resource(), &upstream);
}

TEST(Monotonic, TheDefaultResourceServesWhenItIsNotTheStandardOne) {
    counting_upstream upstream;
    const test::default_resource set(&upstream);
    monotonic_resource resource;
    for (int i = 0; i < 1000; ++i) (void)resource.allocate(1000);
    EXPECT_GE(upstream.bytes(), 1'000'000U);
}

TEST(Monotonic, ANamedUpstreamGetsEveryRequestEvenTheStandardOne) {
    const std::size_t before = headroom::reservations().size();
    monotonic_resource resource(std::pmr::new_delete_resource());
    for (int i = 0; i < 1000; ++i) (void)resource.allocate(1000);
    EXPECT_EQ(headroom::reservations().size(), before);
}

TEST(Monotonic, ByDefaultLargeChunksAreReservations) {
    monotonic_resource resource;
    void* last = nullptr;
    for (int i = 0; i < 1000; ++i) last = resource.allocate(1000);
    const auto owner = headroom::owner_of(last);
    ASSERT_TRUE(owner);
    resource.release();
    EXPECT_FALSE(headroom::owner_of(last));
}

TEST(Monotonic, BlocksFollowEachOther) {
    counting_upstream upstream;
    monotonic_resource resource(&upstream);
    auto* const first = static_cast<std::byte*>(resource.allocate(3, 1));
    EXPECT_EQ(resource.allocate(5, 1), first + 3);
    EXPECT_EQ(resource.allocate(8, 8), first + 8);
    EXPECT_EQ(resource.allocate(1, 1), first + 16);
    EXPECT_EQ(resource.allocate(16), first + 32);
}

TEST(Monotonic, BlocksOfNoBytesDiffer) {
    monotonic_resource resource;
    void* const first = resource.allocate(0, 1);
    EXPECT_NE(first, nullptr);
    EXPECT_NE(resource.allocate(0, 1), first);
}

TEST(Monotonic, TheCallersBufferIsUsedToItsLastByteFirst) {
    counting_upstream upstream;
    std::array<std::byte, 101> buffer;
    monotonic_resource resource(buffer.data() + 1, 100, &upstream);
    void* const first = resource.allocate(60, 1);
    EXPECT_EQ(first, buffer.data() + 1);
    EXPECT_EQ(resource.allocate(40, 1), buffer.data() + 61);
    EXPECT_EQ(upstream.requests(), 0U);
    (void)resource.allocate(1, 1);
    EXPECT_EQ(upstream.requests(), 1U);
    EXPECT_GE(upstream.last_bytes(), 100U);
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(resource.allocate(60, 1), first);
    resource.rewind();
    EXPECT_EQ(resource.allocate(60, 1), first);
}

TEST(Monotonic, ABufferOfNoBytesIsNotUsed) {
    counting_upstream upstream;
    std::byte nothing;
    monotonic_resource empty(&nothing, 0, &upstream);
    monotonic_resource none(nullptr, 100, &upstream);
    EXPECT_NE(empty.allocate(1, 1), &nothing);
    EXPECT_NE(none.allocate(1, 1), nullptr);
    EXPECT_EQ(upstream.requests(), 2U);
}

TEST(Monotonic, TheFirstChunkHasTheBytesAskedFor) {
    for (const std::size_t bytes : {1U, 8U, 100U, 1000U, 1024U, 1'000'000U}) {
        counting_upstream upstream;
        monotonic_resource resource(bytes, &upstream);
        (void)resource.allocate(1, 1);
        if (bytes > 1) (void)resource.allocate(bytes - 1, 1);
        EXPECT_EQ(upstream.requests(), 1U) << bytes;
    }
}

TEST(Monotonic, ChunksGrowGeometrically) {
    counting_upstream upstream;
    monotonic_resource resource(&upstream);
    std::uint64_t chunks = 0;
    std::size_t last = 0;
    for (int i = 0; i < 100'000; ++i) {
        (void)resource.allocate(100, 1);
        if (upstream.requests() == chunks) continue;
        chunks = upstream.requests();
        EXPECT_GE(upstream.last_bytes(), last * 3 / 2);
        last = upstream.last_bytes();
    }
    EXPECT_LE(chunks, 20U);
    EXPECT_LE(upstream.bytes(), 100U * 100'000U * 3);
}

TEST(Monotonic, GrowthStopsAtAChunkOf16MiB) {
    counting_upstream upstream;
    monotonic_resource resource(&upstream);
    for (int i = 0; i < 100; ++i) (void)resource.allocate(std::size_t{1} << 20, 1);
    EXPECT_LE(upstream.last_bytes(), (std::size_t{16} << 20) + 4096);
    EXPECT_LE(upstream.bytes(), std::size_t{130} << 20);
}

TEST(Monotonic, AfterReleaseItGrowsAsTheFirstTime) {
    counting_upstream upstream;
    monotonic_resource resource(&upstream);
    const auto requests = [&] {
        const std::uint64_t before = upstream.requests();
        for (int i = 0; i < 1000; ++i) (void)resource.allocate(100);
        return upstream.requests() - before;
    };
    const std::uint64_t first = requests();
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(requests(), first);
}

TEST(Monotonic, RewindKeepsEveryChunkAndGivesTheSameAddresses) {
    counting_upstream upstream;
    monotonic_resource resource(&upstream);
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i) blocks.push_back(resource.allocate(100));
    const std::uint64_t requests = upstream.requests();
    const std::size_t bytes = upstream.bytes();
    resource.rewind();
    EXPECT_EQ(upstream.bytes(), bytes);
    for (void* const block : blocks) ASSERT_EQ(resource.allocate(100), block);
    EXPECT_EQ(upstream.requests(), requests);
}

TEST(Monotonic, RewindingWhatIsEmptyDoesNothing) {
    counting_upstream upstream;
    monotonic_resource resource(&upstream);
    resource.rewind();
    resource.release();
    resource.rewind();
    const auto start = resource.mark();
    resource.rewind(start);
    EXPECT_EQ(upstream.requests(), 0U);
    EXPECT_NE(resource.allocate(1), nullptr);
}

TEST(Monotonic, AMarkIsAPlaceToComeBackTo) {
    counting_upstream upstream;
    std::array<std::byte, 100> buffer;
    monotonic_resource resource(buffer.data(), buffer.size(), &upstream);
    const auto empty = resource.mark();
    void* const first = resource.allocate(50, 1);
    const auto half = resource.mark();
    std::memset(first, 7, 50);
    void* const second = resource.allocate(50, 1);
    (void)resource.allocate(10'000);
    const auto later = resource.mark();
    void* const third = resource.allocate(1);
    (void)resource.allocate(100'000);
    const std::uint64_t requests = upstream.requests();

    resource.rewind(later);
    EXPECT_EQ(resource.allocate(1), third);
    resource.rewind(half);
    EXPECT_EQ(resource.allocate(50, 1), second);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(static_cast<unsigned char*>(first)[i], 7);
    (void)resource.allocate(10'000);
    (void)resource.allocate(100'000);
    EXPECT_EQ(upstream.requests(), requests);
    resource.rewind(empty);
    EXPECT_EQ(resource.allocate(50, 1), first);
}

TEST(Monotonic, ALargeRequestAfterARewindFindsTheLargeChunk) {
    counting_upstream upstream;
    monotonic_resource resource(&upstream);
    (void)resource.allocate(10);
    (void)resource.allocate(100'000);
    const std::uint64_t requests = upstream.requests();
    for (int round = 0; round < 3; ++round) {
        resource.rewind();
        (void)resource.allocate(100'000);
        (void)resource.allocate(10);
    }
    EXPECT_EQ(upstream.requests(), requests);
}

TEST(Monotonic, AlignmentGoesUpToAPageAndBeyond) {
    counting_upstream upstream;
    monotonic_resource resource(&upstream);
    monotonic_resource reserving;
    for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2) {
        (void)resource.allocate(1, 1);
        EXPECT_TRUE(aligned(resource.allocate(3, alignment), alignment)) << alignment;
        (void)reserving.allocate(1, 1);
        EXPECT_TRUE(aligned(reserving.allocate(3, alignment), alignment)) << alignment;
    }
    resource.release();
    EXPECT_EQ(upstream.mistakes(), 0U);
}

void expect_refusals(monotonic_resource& resource) {
    test::expect_refusals(resource, [&] { EXPECT_THROW((void)resource.allocate(SIZE_MAX - 15, 16), std::bad_alloc); });
}

TEST(Monotonic, ImpossibleRequestsThrowBadAllocAndChangeNothing) {
    counting_upstream upstream;
    monotonic_resource resource(&upstream);
    expect_refusals(resource);
}

TEST(Monotonic, OfTheDefaultUpstreamImpossibleRequestsThrowBadAllocToo) {
    if (test::sanitized) GTEST_SKIP() << "operator new ends the program under sanitizers";
    monotonic_resource resource;
    expect_refusals(resource);
}

TEST(Monotonic, UpstreamsExceptionReachesTheUser) {
    struct refusal : std::bad_alloc {};
    struct refusing final : std::pmr::memory_resource {
        void* do_allocate(std::size_t, std::size_t) override { throw refusal(); }
        void do_deallocate(void*, std::size_t, std::size_t) override {}
        bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
    } upstream;
    monotonic_resource resource(&upstream);
    EXPECT_THROW((void)resource.allocate(1), refusal);
    EXPECT_THROW((void)resource.allocate(SIZE_MAX), refusal);
}

TEST(Monotonic, EqualOnlyToItself) {
    const monotonic_resource a, b;
    EXPECT_TRUE(a.is_equal(a));
    EXPECT_FALSE(a.is_equal(b));
}

TEST(Monotonic, ServesStandardContainers) {
    monotonic_resource resource;
    for (int round = 0; round < 3; ++round) {
        {
            std::pmr::vector<std::pmr::string> strings(&resource);
            std::pmr::list<int> numbers(&resource);
            for (int i = 0; i < 10'000; ++i) {
                strings.push_back(std::pmr::string(static_cast<std::size_t>(i % 200), 'x'));
                numbers.push_back(i);
            }
            EXPECT_EQ(strings[199].size(), 199U);
            EXPECT_EQ(numbers.back(), 9999);
        }
        resource.rewind();
    }
}

}    // namespace
