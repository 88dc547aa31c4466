// SPDX-License-Identifier: MIT
// A pool over a bounded upstream: how full it gets, whether it is refused while less than half is in use, and what a refusal costs.
// Labels: no-valgrind
#include <headroom/multipool.hpp>
#include <headroom/pages.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "support/resources.hpp"

namespace {

using headroom_test::counting_upstream;

// Hands out a buffer in steps of whole cache lines, and never reuses what it gets back.
class monotonic_upstream final : public std::pmr::memory_resource {
public:
    void limit(std::size_t most) {
        most_ = most;
        buffer_ = std::make_unique<std::byte[]>(most);
    }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        alignment = std::max<std::size_t>(alignment, 64);
        const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(buffer_.get());
        const std::size_t first = ((begin + used_ + alignment - 1) & ~(alignment - 1)) - begin;
        const std::size_t rounded = (bytes + 63) / 64 * 64;
        if (rounded < bytes || first > most_ || rounded > most_ - first) throw std::bad_alloc();
        used_ = first + rounded;
        return buffer_.get() + first;
    }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    std::unique_ptr<std::byte[]> buffer_;
    std::size_t most_ = 0;
    std::size_t used_ = 0;
};

// Blocks of random sizes in a resource, each filled with a byte of its own.
template <class Resource>
class random_blocks {
public:
    random_blocks(Resource& resource, std::size_t largest) : resource_(resource), largest_(largest) {}
    random_blocks(const random_blocks&) = delete;
    random_blocks& operator=(const random_blocks&) = delete;
    ~random_blocks() {
        while (!blocks_.empty()) free_one();
    }

    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] std::size_t damaged() const { return damaged_; }
    // Allocates a block; if more than `most` bytes were in use then, frees others first.
    void allocate(std::size_t most = SIZE_MAX) {
        const std::size_t bytes = 1 + random_.below(largest_);
        while (bytes_ + bytes > most && !blocks_.empty()) free_one();
        auto* const block = static_cast<unsigned char*>(resource_.allocate(bytes, 8));
        std::memset(block, mark_of(block), bytes);
        blocks_.emplace_back(block, bytes);
        bytes_ += bytes;
    }

private:
    static int mark_of(const unsigned char* block) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(block) / 8 % 251); }
    void free_one() {
        auto& gone = blocks_[random_.below(blocks_.size())];
        const auto [block, bytes] = std::exchange(gone, blocks_.back());
        blocks_.pop_back();
        if (block[0] != mark_of(block) || block[bytes - 1] != mark_of(block)) ++damaged_;
        resource_.deallocate(block, bytes, 8);
        bytes_ -= bytes;
    }

    Resource& resource_;
    std::size_t largest_;
    headroom_test::random random_{7};
    std::vector<std::pair<unsigned char*, std::size_t>> blocks_;
    std::size_t bytes_ = 0;
    std::size_t damaged_ = 0;
};

template <class Resource, class Upstream>
struct pool_over {
    using resource = Resource;
    using upstream = Upstream;
};

// Checked builds keep freed blocks apart, to find late writes.
constexpr bool joins_blocks = !headroom::detail::memory_checked;

template <class Kind>
class multipool_bounds : public testing::Test {
protected:
    // Calls visit(resource, bound) for resources over upstreams of 50 kB to 20 MB.
    template <class Visit>
    void for_each_bound(Visit visit) {
        for (std::size_t bound = 50'000; bound <= 20'000'000; bound *= 2) {
            typename Kind::upstream upstream;
            upstream.limit(bound);
            typename Kind::resource resource(&upstream);
            visit(resource, bound);
        }
    }
};
using kinds = testing::Types<pool_over<headroom::multipool_resource, counting_upstream>,
                             pool_over<headroom::synchronized_multipool_resource, counting_upstream>,
                             pool_over<headroom::multipool_resource, monotonic_upstream>,
                             pool_over<headroom::synchronized_multipool_resource, monotonic_upstream>>;
TYPED_TEST_SUITE(multipool_bounds, kinds);

TYPED_TEST(multipool_bounds, are_mostly_filled_by_blocks_of_random_sizes) {
    if (!joins_blocks) GTEST_SKIP();
    for (const std::size_t largest : {std::size_t{128}, std::size_t{1000}, std::size_t{4000}, std::size_t{8000}}) {
        this->for_each_bound([&](auto& resource, std::size_t bound) {
            random_blocks blocks(resource, std::min(largest, bound / 25));
            EXPECT_THROW(for (;;) blocks.allocate(), std::bad_alloc);
            const double filled = static_cast<double>(blocks.bytes()) / static_cast<double>(bound);
            EXPECT_GE(filled, bound < 3'000'000 ? .5 : .75) << "blocks of up to " << largest << ", bound " << bound;
        });
    }
}

TYPED_TEST(multipool_bounds, are_not_reached_while_less_than_half_is_in_use) {
    if (!joins_blocks) GTEST_SKIP();
    for (const std::size_t largest : {std::size_t{128}, std::size_t{4000}}) {
        for (const std::size_t tenths : {3U, 5U}) {
            this->for_each_bound([&](auto& resource, std::size_t bound) {
                random_blocks blocks(resource, std::min(largest, bound / 100));
                EXPECT_NO_THROW(for (int i = 0; i < 20'000; ++i) blocks.allocate(bound / 10 * tenths))
                    << "blocks of up to " << largest << ", bound " << bound << ", in use " << blocks.bytes();
                EXPECT_EQ(blocks.damaged(), 0U);
            });
        }
    }
}

// Also where upstream refuses the tables of a segment, whose memory becomes a chunk.
TEST(multipool_bound, keeps_blocks_whole_whichever_request_is_refused) {
    for (std::uint64_t k = 1; k < 40; ++k) {
        counting_upstream upstream;
        upstream.limit(400'000);
        headroom::multipool_resource resource(&upstream);
        upstream.refuse(k);
        random_blocks blocks(resource, 8000);
        for (int i = 0; i < 2'000; ++i) {
            if (i % 500 == 0) upstream.refuse(k);
            try {
                blocks.allocate(i % 700 < 350 ? 350'000 : 100'000);
            } catch (const std::bad_alloc&) {}
        }
        EXPECT_EQ(blocks.damaged(), 0U) << k;
        EXPECT_EQ(upstream.mistakes(), 0U) << k;
    }
}

TEST(multipool_bound, has_room_for_one_large_block_after_all_others_were_freed) {
    if (!joins_blocks) GTEST_SKIP();
    for (std::size_t bound = 50'000; bound <= 20'000'000; bound *= 2) {
        counting_upstream upstream;
        upstream.limit(bound);
        headroom::multipool_resource resource(&upstream);
        try {
            random_blocks blocks(resource, 1000);
            for (;;) blocks.allocate();
        } catch (const std::bad_alloc&) {}
        void* large = nullptr;
        EXPECT_NO_THROW(large = resource.allocate(bound / 100 * 85, 8)) << bound;
        if (large != nullptr) resource.deallocate(large, bound / 100 * 85, 8);
    }
}

// Bounded, in whole pages, which can be made inaccessible.
class page_upstream final : public std::pmr::memory_resource {
public:
    explicit page_upstream(std::size_t bound) {
        std::error_code error;
        all_ = headroom::reserve(bound, headroom::page_size(), error);
        if (error || headroom::commit(all_)) throw std::bad_alloc();
    }
    page_upstream(const page_upstream&) = delete;
    page_upstream& operator=(const page_upstream&) = delete;
    ~page_upstream() override { (void)headroom::release(all_); }

    [[nodiscard]] std::uint64_t requests() const { return requests_; }
    // Sets the access to all pages that hold blocks only: not to the last one of a piece, where a chunk has its header.
    void protect(headroom::access allowed) {
        for (const headroom::page_range& each : pieces_) EXPECT_FALSE(headroom::protect(each, allowed));
    }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        ++requests_;
        if (is_table(alignment)) return std::pmr::new_delete_resource()->allocate(bytes, alignment);
        const std::size_t page = headroom::page_size();
        const std::size_t whole = (bytes + page - 1) / page * page;
        if (whole < bytes || whole > all_.bytes - used_) throw std::bad_alloc();
        std::byte* const first = all_.data + used_;
        used_ += whole;
        if (whole > 2 * page) pieces_.push_back({first, whole - 2 * page});
        return first;
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        if (is_table(alignment)) std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
    }
    // A pool's own tables are aligned to a pointer, and blocks to more.
    static bool is_table(std::size_t alignment) { return alignment < alignof(std::max_align_t); }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    headroom::page_range all_{};
    std::size_t used_ = 0;
    std::uint64_t requests_ = 0;
    std::vector<headroom::page_range> pieces_;
};

// A refusal is remembered: until a block is freed, a pool asks upstream and looks at no free block, of which there are thousands.
TEST(multipool_refusal, that_follows_another_touches_no_block) {
    if (!joins_blocks) GTEST_SKIP();
    page_upstream upstream(std::size_t{4} << 20);
    headroom::multipool_resource resource(&upstream);
    std::vector<void*> blocks;
    EXPECT_THROW(for (;;) blocks.push_back(resource.allocate(200, 8)), std::bad_alloc);
    for (std::size_t i = 0; i < blocks.size(); i += 2) resource.deallocate(blocks[i], 200, 8);
    for (const std::size_t bytes : {std::size_t{3000}, std::size_t{6000}, std::size_t{20'000}, std::size_t{100'000}}) {
        EXPECT_THROW((void)resource.allocate(bytes, 8), std::bad_alloc);
        const std::uint64_t before = upstream.requests();
        upstream.protect(headroom::access::none);
        for (int i = 0; i < 10; ++i)
            EXPECT_THROW((void)resource.allocate(bytes + 8 * static_cast<std::size_t>(i), 8), std::bad_alloc);
        upstream.protect(headroom::access::read_write);
        EXPECT_LE(upstream.requests() - before, 30U) << bytes;
    }
    // Freed memory is found again, also by a size that was refused.
    for (std::size_t i = 1; i < blocks.size(); i += 2) resource.deallocate(blocks[i], 200, 8);
    EXPECT_NO_THROW((void)resource.allocate(3000, 8));
    EXPECT_NO_THROW((void)resource.allocate(20'000, 8));
}

TEST(synchronized_multipool_refusal, that_follows_another_asks_upstream_once_or_twice) {
    counting_upstream upstream;
    upstream.limit(std::size_t{4} << 20);
    headroom::synchronized_multipool_resource resource(&upstream);
    std::vector<void*> blocks;
    EXPECT_THROW(for (;;) blocks.push_back(resource.allocate(200, 8)), std::bad_alloc);
    EXPECT_THROW(for (;;)(void) resource.allocate(6000, 8), std::bad_alloc);
    EXPECT_THROW((void)resource.allocate(6000, 8), std::bad_alloc);
    const std::uint64_t before = upstream.requests();
    for (int i = 0; i < 10; ++i) EXPECT_THROW((void)resource.allocate(6000, 8), std::bad_alloc);
    EXPECT_LE(upstream.requests() - before, 20U);
    for (void* const each : blocks) resource.deallocate(each, 200, 8);
}

}    // namespace
