// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Unusual uses of memory resources: extreme options, upstreams that align more than requested, sizes that the options exclude,
// statistics during allocation, a first chunk of many megabytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>

#include "support/resource_model.hpp"
#include "support/resources.hpp"

namespace {

using headroom::monotonic_resource;
using headroom::multipool_resource;
using headroom::synchronized_multipool_resource;
using headroom_test::counting_upstream;
using headroom_test::resource_model;

constexpr std::size_t MiB = std::size_t{1} << 20;

// Aligns every block to `aligned` and refuses to hold more than `most` bytes.
class aligning_upstream final : public std::pmr::memory_resource {
public:
    explicit aligning_upstream(std::size_t aligned, std::size_t most = 256 * MiB) : aligned_(aligned), most_(most) {}
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (bytes > most_ || bytes_ > most_ - bytes) throw std::bad_alloc();
        void* const block = std::pmr::new_delete_resource()->allocate(bytes, (std::max)(aligned_, alignment));
        bytes_ += bytes;
        return block;
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        bytes_ -= bytes;
        std::pmr::new_delete_resource()->deallocate(block, bytes, (std::max)(aligned_, alignment));
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    std::size_t aligned_;
    std::size_t most_;
    std::size_t bytes_ = 0;
};

template <class Resource>
class pool_extremes : public testing::Test {};
using pools = testing::Types<multipool_resource, synchronized_multipool_resource>;
TYPED_TEST_SUITE(pool_extremes, pools);

// Random operations with these options: allocation, deallocation, statistics(), trim(), rewind(), release(), short-lived threads.
template <class Resource>
void random_life(const std::pmr::pool_options& options, std::size_t aligned) {
    aligning_upstream upstream(aligned);
    {
        Resource resource(options, &upstream);
        resource_model<> model(
            headroom_test::random(options.max_blocks_per_chunk * 31 + options.largest_required_pool_block + aligned));
        for (int done = 0; done < (headroom_test::sanitized ? 200 : 1500); ++done) {
            const std::size_t dice = model.below(1000);
            if (dice < 3) {
                model.forget();
                dice == 0 ? resource.release() : resource.rewind();
            } else if (dice < 6) {
                (void)resource.trim();
            } else if (dice < 9) {
                const auto counted = resource.statistics();
                EXPECT_LT(counted.bytes, 256 * MiB);
            } else if (dice < 12) {
                std::thread([&] { resource.deallocate(resource.allocate(40, 8), 40, 8); }).join();
            } else if (dice < 580) {
                model.allocate(resource);
            } else {
                model.deallocate(resource);
            }
        }
        model.check();
    }
    EXPECT_EQ(upstream.bytes(), 0U);
}

TYPED_TEST(pool_extremes, every_option_over_every_upstream) {
    for (const std::size_t most_blocks : {std::size_t{0}, std::size_t{1}, std::size_t{2}, SIZE_MAX}) {
        for (const std::size_t largest :
             {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{9}, std::size_t{129}, std::size_t{256},
              std::size_t{257}, std::size_t{4096}, std::size_t{4097}, std::size_t{65536}, SIZE_MAX}) {
            for (const std::size_t aligned : {std::size_t{1}, std::size_t{4096}, std::size_t{65536}}) {
                SCOPED_TRACE("options " + std::to_string(most_blocks) + ", " + std::to_string(largest) + " aligned " +
                             std::to_string(aligned));
                random_life<TypeParam>({most_blocks, largest}, aligned);
                if (testing::Test::HasFailure()) return;
            }
        }
    }
}

// A page-aligned chunk that is just as large as the largest block has no room for an offset before it.
TYPED_TEST(pool_extremes, the_largest_pooled_block_fits_into_a_chunk_of_one_block) {
    aligning_upstream upstream(4096);
    TypeParam resource(std::pmr::pool_options{1, 0}, &upstream);
    for (int i = 0; i < 5; ++i) resource.deallocate(resource.allocate(65536, 16), 65536, 16);
    EXPECT_LT(upstream.bytes(), MiB);
}

// Excluded sizes go upstream, also after a call of statistics() or the end of a thread.
TEST(pool_extremes, what_is_excluded_stays_excluded_when_threads_give_back_what_they_kept) {
    headroom_test::counting_upstream upstream;
    synchronized_multipool_resource resource(std::pmr::pool_options{0, 256}, &upstream);
    const auto give_back_and_take = [&] {
        std::vector<void*> blocks;
        for (int i = 0; i < 8; ++i) blocks.push_back(resource.allocate(260, 8));
        resource.deallocate(resource.allocate(40, 8), 40, 8);
        (void)resource.trim();
        std::thread([&] { resource.deallocate(resource.allocate(40, 8), 40, 8); }).join();
        for (void* const each : blocks) resource.deallocate(each, 260, 8);
        const std::size_t before = upstream.blocks();
        void* const block = resource.allocate(288, 8);
        EXPECT_EQ(upstream.blocks(), before + 1);
        resource.deallocate(block, 288, 8);
        EXPECT_EQ(upstream.blocks(), before);
    };
    give_back_and_take();
    give_back_and_take();
    resource.release();
    EXPECT_EQ(upstream.blocks(), 0U);
    EXPECT_EQ(upstream.mistakes(), 0U);
}

// Blocks of 1,024 bytes aligned to 128 use slabs of 1,152, a size that the options exclude.
TEST(pool_extremes, what_is_excluded_stays_excluded_though_blocks_of_more_alignment_need_as_much) {
    for (const std::size_t largest : {std::size_t{1024}, std::size_t{2048}, std::size_t{4096}}) {
        counting_upstream upstream;
        multipool_resource resource({0, largest}, &upstream);
        void* const aligned = resource.allocate(largest, 128);
        for (int round = 0; round < 3; ++round) {
            void* const excluded = resource.allocate(largest + 1, 8);
            const std::size_t bytes = upstream.bytes();
            resource.deallocate(excluded, largest + 1, 8);
            EXPECT_LE(upstream.bytes() + largest, bytes) << largest;
        }
        resource.deallocate(aligned, largest, 128);
        EXPECT_EQ(resource.statistics().blocks, 0U);
        resource.release();
        EXPECT_EQ(upstream.blocks(), 0U);
        EXPECT_EQ(upstream.mistakes(), 0U);
    }
}

HEADROOM_NOINLINE void fill_the_stack() {
    volatile unsigned char bytes[4096];
    for (volatile unsigned char& each : bytes) each = 0xEE;
}

// An over-aligned block takes pages, or its own piece if upstream refuses those. GCC 12 at -O1 needs the initialized result: it
// took stack memory for pages.
TEST(pool_extremes, where_pages_are_refused_blocks_of_more_alignment_are_pieces_of_their_own) {
    for (std::uint64_t k = 1; k < 6; ++k) {
        counting_upstream upstream;
        multipool_resource resource(&upstream);
        void* const before = resource.allocate(24, 8);
        upstream.refuse(k);
        void* block = nullptr;
        try {
            fill_the_stack();
            block = resource.allocate(7, 512);
        } catch (const std::bad_alloc&) {
            ADD_FAILURE() << "refused at call " << k;
            continue;
        }
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 512, 0U);
        upstream.refuse(0);
        resource.deallocate(block, 7, 512);
        resource.deallocate(before, 24, 8);
        EXPECT_EQ(resource.statistics().blocks, 0U);
    }
}

// Reuses over-aligned blocks behind many free blocks of their size that are in no slab.
TEST(pool_extremes, blocks_of_more_alignment_that_come_back_serve_again) {
    counting_upstream upstream;
    multipool_resource resource({64, 0}, &upstream);
    constexpr std::size_t many = 100'000;
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < many; ++i) blocks.push_back(resource.allocate(64, 8));
    for (void* const each : blocks) resource.deallocate(each, 64, 8);
    const std::size_t before = upstream.bytes();
    for (std::size_t i = 0; i < many; ++i) {
        void* const block = resource.allocate(64, 64);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0U);
        resource.deallocate(block, 64, 64);
    }
    EXPECT_LE(upstream.bytes(), before + many * 64 / 8);
    resource.release();
    EXPECT_EQ(upstream.mistakes(), 0U);
}

// --- After rewind(), with a large chunk in the place of the first.

TEST(rewound_pool, keeps_its_slabs_whatever_is_asked_for_first) {
    multipool_resource resource;
    (void)resource.allocate(8, 8);
    (void)resource.allocate(65536, 8);    // the third chunk is a large one
    for (int round = 0; round < 4; ++round) {
        resource.rewind();
        (void)resource.allocate(4096, 8);    // more than the first two chunks hold
        for (int i = 0; i < 40'000; ++i) (void)resource.allocate(48, 8);
        EXPECT_GT(resource.statistics().classes[5].slabs, 400U) << "round " << round;
    }
}

// --- The first chunk.

TEST(monotonic_first_chunk, has_as_many_bytes_as_were_asked_for) {
    for (const std::size_t wanted : {std::size_t{1}, std::size_t{1000}, 16 * MiB, 16 * MiB + 1, 40 * MiB}) {
        headroom_test::counting_upstream upstream;
        monotonic_resource resource(wanted, &upstream);
        (void)resource.allocate(1, 1);
        EXPECT_GE(upstream.last_bytes(), wanted);
        // Holds after release() too.
        resource.release();
        (void)resource.allocate(1, 1);
        EXPECT_GE(upstream.last_bytes(), wanted);
    }
}

TEST(monotonic_first_chunk, of_a_reservation_reaches_as_far) {
    monotonic_resource resource(256 * MiB);
    const auto* const first = static_cast<std::byte*>(resource.allocate(MiB, 1));
    EXPECT_EQ(resource.allocate(100 * MiB, 1), first + MiB);    // beyond the default first chunk
}

}    // namespace
