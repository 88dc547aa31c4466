// SPDX-License-Identifier: MIT
// Labels: core
// Valgrind's operator new cannot throw, so the test of impossible requests is left out there.
// Not under Valgrind: monotonic.of_the_default_upstream_impossible_requests_throw_bad_alloc_too
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
using headroom_test::aligned;
using headroom_test::counting_upstream;

TEST(monotonic, construction_allocates_nothing) {
    counting_upstream upstream;
    const headroom_test::default_resource set(&upstream);
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

TEST(monotonic, the_default_resource_serves_when_it_is_not_the_standard_one) {
    counting_upstream upstream;
    const headroom_test::default_resource set(&upstream);
    monotonic_resource resource;
    for (int i = 0; i < 1000; ++i) (void)resource.allocate(1000);
    EXPECT_GE(upstream.bytes(), 1'000'000U);
}

TEST(monotonic, a_named_upstream_gets_every_request_even_the_standard_one) {
    const std::size_t before = headroom::reservations().size();
    monotonic_resource resource(std::pmr::new_delete_resource());
    for (int i = 0; i < 1000; ++i) (void)resource.allocate(1000);
    EXPECT_EQ(headroom::reservations().size(), before);
}

TEST(monotonic, by_default_large_chunks_are_reservations) {
    monotonic_resource resource;
    void* last = nullptr;
    for (int i = 0; i < 1000; ++i) last = resource.allocate(1000);
    const auto owner = headroom::owner_of(last);
    ASSERT_TRUE(owner);
    resource.release();
    EXPECT_FALSE(headroom::owner_of(last));
}

TEST(monotonic, blocks_follow_each_other) {
    counting_upstream upstream;
    monotonic_resource resource(&upstream);
    auto* const first = static_cast<std::byte*>(resource.allocate(3, 1));
    EXPECT_EQ(resource.allocate(5, 1), first + 3);
    EXPECT_EQ(resource.allocate(8, 8), first + 8);
    EXPECT_EQ(resource.allocate(1, 1), first + 16);
    EXPECT_EQ(resource.allocate(16), first + (alignof(std::max_align_t) == 8 ? 24 : 32));
}

TEST(monotonic, blocks_of_no_bytes_differ) {
    monotonic_resource resource;
    void* const first = resource.allocate(0, 1);
    EXPECT_NE(first, nullptr);
    EXPECT_NE(resource.allocate(0, 1), first);
}

TEST(monotonic, the_callers_buffer_is_used_to_its_last_byte_first) {
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

TEST(monotonic, a_buffer_of_no_bytes_is_not_used) {
    counting_upstream upstream;
    std::byte nothing;
    monotonic_resource empty(&nothing, 0, &upstream);
    monotonic_resource none(nullptr, 100, &upstream);
    EXPECT_NE(empty.allocate(1, 1), &nothing);
    EXPECT_NE(none.allocate(1, 1), nullptr);
    EXPECT_EQ(upstream.requests(), 2U);
}

TEST(monotonic, the_first_chunk_has_the_bytes_asked_for) {
    for (const std::size_t bytes : {1U, 8U, 100U, 1000U, 1024U, 1'000'000U}) {
        counting_upstream upstream;
        monotonic_resource resource(bytes, &upstream);
        (void)resource.allocate(1, 1);
        if (bytes > 1) (void)resource.allocate(bytes - 1, 1);
        EXPECT_EQ(upstream.requests(), 1U) << bytes;
    }
}

TEST(monotonic, chunks_grow_geometrically) {
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

TEST(monotonic, growth_stops_at_a_chunk_of16_mi_b) {
    counting_upstream upstream;
    monotonic_resource resource(&upstream);
    for (int i = 0; i < 100; ++i) (void)resource.allocate(std::size_t{1} << 20, 1);
    EXPECT_LE(upstream.last_bytes(), (std::size_t{16} << 20) + 4096);
    EXPECT_LE(upstream.bytes(), std::size_t{130} << 20);
}

TEST(monotonic, after_release_it_grows_as_the_first_time) {
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

TEST(monotonic, rewind_keeps_every_chunk_and_gives_the_same_addresses) {
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

TEST(monotonic, rewinding_what_is_empty_does_nothing) {
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

TEST(monotonic, a_mark_is_a_place_to_come_back_to) {
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

TEST(monotonic, a_large_request_after_a_rewind_finds_the_large_chunk) {
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

TEST(monotonic, alignment_goes_up_to_a_page_and_beyond) {
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
    headroom_test::expect_refusals(resource, [&] { EXPECT_THROW((void)resource.allocate(SIZE_MAX - 15, 16), std::bad_alloc); });
}

TEST(monotonic, impossible_requests_throw_bad_alloc_and_change_nothing) {
    counting_upstream upstream;
    monotonic_resource resource(&upstream);
    expect_refusals(resource);
}

TEST(monotonic, of_the_default_upstream_impossible_requests_throw_bad_alloc_too) {
    if (headroom_test::sanitized) GTEST_SKIP() << "operator new ends the program under sanitizers";
    monotonic_resource resource;
    expect_refusals(resource);
}

TEST(monotonic, upstreams_exception_reaches_the_user) {
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

TEST(monotonic, equal_only_to_itself) {
    const monotonic_resource a, b;
    EXPECT_TRUE(a.is_equal(a));
    EXPECT_FALSE(a.is_equal(b));
}

TEST(monotonic, serves_standard_containers) {
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
