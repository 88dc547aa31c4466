// SPDX-License-Identifier: MIT
// Pages of a multipool: those that one size frees serve every other size, adjacent free pages form one run, and trim() releases
// them all.
#include <headroom/detail/memory/page_runs.hpp>
#include <headroom/multipool.hpp>
#include <headroom/testing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/resources.hpp"
#include "system/mapped.hpp"

namespace {

using headroom::multipool_resource;
using headroom::detail::bin_index;
using headroom::detail::bin_offset;
using headroom::detail::page_run;
using headroom::detail::page_runs;
using headroom::detail::pool_page_bytes;
using headroom::detail::segment;
using headroom_test::counting_upstream;

constexpr std::size_t MiB = std::size_t{1} << 20;

// Allocates and frees in random order, one size after another in about 12 phases. Pages kept by each size would add up to 12
// times the memory.
template <class Resource>
void phases(Resource& resource, std::size_t least, std::size_t most, std::size_t in_all) {
    headroom_test::random random(9);
    for (std::size_t bytes = least; bytes <= most; bytes += (most - least) / 12 + 123) {
        std::vector<void*> blocks(in_all / bytes);
        for (void*& each : blocks) std::memset(each = resource.allocate(bytes, 8), 1, bytes);
        for (std::size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[random.below(i)]);
        for (void* const each : blocks) resource.deallocate(each, bytes, 8);
    }
}

template <class Resource>
class multipool_pages : public testing::Test {};
using resources = testing::Types<multipool_resource, headroom::synchronized_multipool_resource>;
TYPED_TEST_SUITE(multipool_pages, resources);

TYPED_TEST(multipool_pages, serve_every_size_in_turn) {
    for (const std::size_t least : {std::size_t{5120}, std::size_t{16}}) {
        counting_upstream upstream;
        for (const bool named : {false, true}) {
            TypeParam by_default, over(&upstream);
            TypeParam& resource = named ? over : by_default;
            phases(resource, least, 65'536, 8 * MiB);
            // Over an upstream the last chunk is as large as all before it; threads cache some blocks of each small size.
            EXPECT_LE(resource.statistics().chunk_bytes, least > 4096 && !named ? 16 * MiB : 34 * MiB) << least << named;
            EXPECT_EQ(resource.statistics().blocks, 0U);
            (void)resource.trim();
            if (least > 4096) {
                EXPECT_LE(upstream.bytes(), MiB / 4);
            }
        }
        EXPECT_EQ(upstream.mistakes(), 0U);
    }
}

TYPED_TEST(multipool_pages, are_given_back_by_trim) {
    TypeParam resource;
    for (int life = 0; life < 3; ++life) {
        phases(resource, 5120, 65536, 8 * MiB);
        // All but the bytes before the first page and those committed ahead.
        const std::size_t before = resource.statistics().chunk_bytes;
        EXPECT_GE(resource.trim(), before - 2 * MiB - MiB / 8);
        // Nothing is charged any more either: no page behind the last block in use stays committed.
        EXPECT_LE(resource.statistics().chunk_bytes, MiB / 4);
    }
}

TYPED_TEST(multipool_pages, behind_the_last_block_in_use_are_decommitted_and_used_again) {
    TypeParam resource;
    std::vector<unsigned char*> blocks(2000);
    const auto take = [&](std::size_t i) {
        std::memset(blocks[i] = static_cast<unsigned char*>(resource.allocate(6000, 8)), static_cast<int>(i % 251), 6000);
    };
    for (std::size_t i = 0; i < blocks.size(); ++i) take(i);
    const std::size_t full = resource.statistics().chunk_bytes;
    for (std::size_t i = 500; i < blocks.size(); ++i) resource.deallocate(blocks[i], 6000, 8);
    (void)resource.trim();
    EXPECT_LE(resource.statistics().chunk_bytes, full / 2);
    for (std::size_t i = 500; i < blocks.size(); ++i) take(i);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        ASSERT_EQ(blocks[i][0], i % 251);
        ASSERT_EQ(blocks[i][5999], i % 251);
        resource.deallocate(blocks[i], 6000, 8);
    }
}

// Otherwise the system fills huge pages of which a part is in use, and what was given back comes again while the process is idle.
TYPED_TEST(multipool_pages, that_were_given_back_may_not_become_huge) {
    TypeParam resource;
    std::vector<void*> blocks(4000);
    for (void*& each : blocks) std::memset(each = resource.allocate(6000, 8), 1, 6000);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (i % 100 != 0) resource.deallocate(blocks[i], 6000, 8);
    }
    (void)resource.trim();
    if (headroom::huge_page_size() == 0 || !headroom::owner_of(blocks[2000])) GTEST_SKIP() << "there are no huge pages";
    EXPECT_NE(headroom_test::mapping_flags(blocks[2000]).find(" nh"), std::string::npos);
    for (std::size_t i = 0; i < blocks.size(); i += 100) resource.deallocate(blocks[i], 6000, 8);
}

// Runs below 1 MiB come from the reservation, for every size and alignment.
TEST(multipool_runs, large_blocks_share_the_reservation_and_coalesce) {
    if (headroom::detail::memory_checked) GTEST_SKIP() << "checked builds have none";
    multipool_resource resource;
    headroom_test::random random(4);
    struct block {
        unsigned char* data;
        std::size_t bytes;
        std::size_t alignment;
    };
    std::vector<block> live;
    for (int done = 0; done < 20'000; ++done) {
        if (live.size() < 20 && random.below(2) == 0) {
            const std::size_t bytes = 65'537 + random.below(MiB - 65'537);
            const std::size_t alignment = std::size_t{1} << random.below(13);
            auto* const data = static_cast<unsigned char*>(resource.allocate(bytes, alignment));
            ASSERT_TRUE(headroom_test::aligned(data, alignment));
            data[0] = data[bytes - 1] = static_cast<unsigned char>(bytes);
            live.push_back({data, bytes, alignment});
        } else if (!live.empty()) {
            std::swap(live[random.below(live.size())], live.back());
            const block gone = live.back();
            live.pop_back();
            ASSERT_EQ(gone.data[0], static_cast<unsigned char>(gone.bytes));
            ASSERT_EQ(gone.data[gone.bytes - 1], static_cast<unsigned char>(gone.bytes));
            resource.deallocate(gone.data, gone.bytes, gone.alignment);
        }
    }
    EXPECT_LE(resource.statistics().chunk_bytes, 40 * MiB);
    for (const block& each : live) resource.deallocate(each.data, each.bytes, each.alignment);
    const std::size_t before = resource.statistics().chunk_bytes;
    (void)resource.trim();
    std::vector<void*> wide;
    for (std::size_t bytes = 0; bytes < before / 2; bytes += 20'000) wide.push_back(resource.allocate(20'000));
    EXPECT_LE(resource.statistics().chunk_bytes, before) << "all of it was one run";
    for (void* const each : wide) resource.deallocate(each, 20'000);
}

// The search of a free list is bounded. Missing the run at the end must not make the reservation look full.
TEST(multipool_runs, the_free_pages_at_the_end_are_found_behind_many_that_are_too_short) {
    if (headroom::detail::memory_checked) GTEST_SKIP() << "checked builds have none";
    multipool_resource resource;
    std::vector<void*> shorter, between;
    for (int i = 0; i < 40; ++i) {
        shorter.push_back(resource.allocate(18 * pool_page_bytes - 1));
        between.push_back(resource.allocate(30 * pool_page_bytes - 1));
    }
    void* const last = resource.allocate(24 * pool_page_bytes - 1);
    resource.deallocate(last, 24 * pool_page_bytes - 1);
    for (void* const each : shorter) resource.deallocate(each, 18 * pool_page_bytes - 1);
    const std::size_t before = resource.statistics().chunk_bytes;
    void* const again = resource.allocate(24 * pool_page_bytes - 1);
    EXPECT_EQ(again, last);
    EXPECT_EQ(resource.statistics().chunk_bytes, before);
    resource.deallocate(again, 24 * pool_page_bytes - 1);
    for (void* const each : between) resource.deallocate(each, 30 * pool_page_bytes - 1);
}

// While the system refuses, chunks come from upstream. After trim() released those the reservation grows again, and knows the
// blocks in its pages.
TEST(multipool_runs, go_on_in_the_reservation_when_later_chunks_are_gone) {
    multipool_resource resource;
    std::vector<void*> kept, later;
    for (int i = 0; i < 100; ++i) kept.push_back(resource.allocate(20'000));
    headroom::testing::fail_system_call(1, ENOMEM, headroom::testing::afterwards::keep_failing);
    for (int i = 0; i < 400; ++i) later.push_back(resource.allocate(20'000));
    (void)headroom::testing::stop_failing();
    for (void* const each : std::exchange(later, {})) resource.deallocate(each, 20'000);
    (void)resource.trim();
    for (int i = 0; i < 400; ++i) later.push_back(resource.allocate(20'000));
    void* const run = resource.allocate(300'000);
    EXPECT_EQ(resource.statistics().blocks, 500U);
    for (void* const each : kept) resource.deallocate(each, 20'000);
    EXPECT_EQ(resource.statistics().blocks, 400U);
    resource.deallocate(run, 300'000);
    for (void* const each : later) resource.deallocate(each, 20'000);
    EXPECT_EQ(resource.statistics().blocks, 0U);
}

// Who may write the state of a page, and which number is which, is checked by the compiler.
template <class Run>
concept shows_its_state = requires(const Run& run) { run.state(); } || requires(const Run& run) { run.links(); };
template <class Segment>
concept shows_writable_state =
    requires(Segment& one) { one.state(0).carve(1); } || requires(Segment& one) { one.set_high_water(0); };
static_assert(!shows_its_state<page_run> && !std::is_constructible_v<page_run, segment&, std::size_t>);
static_assert(!shows_writable_state<std::remove_pointer_t<std::iter_value_t<decltype(std::declval<page_runs&>().begin())>>>);
static_assert(!std::is_convertible_v<bin_index, std::size_t> && !std::is_convertible_v<std::size_t, bin_index>);
static_assert(!std::is_convertible_v<bin_index, bin_offset> && !std::is_convertible_v<bin_offset, bin_index>);

TEST(page_list, has_the_order_of_a_list) {
    headroom_test::random random(1);
    std::array<headroom::detail::page_links, 8> links;
    headroom::detail::page_list list;
    std::list<headroom::detail::page_links*> expected;
    for (int done = 0; done < 20'000; ++done) {
        headroom::detail::page_links* const one = &links[random.below(links.size())];
        if (const auto at = std::find(expected.begin(), expected.end(), one); at != expected.end()) {
            list.remove(*one);
            expected.erase(at);
        } else if (random.below(2) == 0) {
            list.push_front(*one);
            expected.push_front(one);
        } else {
            list.push_back(*one);
            expected.push_back(one);
        }
        const headroom::detail::page_links* each = list.front();
        for (const headroom::detail::page_links* const other : expected) {
            ASSERT_EQ(each, other);
            each = each->next_link();
        }
        ASSERT_EQ(each, nullptr);
    }
}

// Compares with a model that has a flag for each page.
TEST(page_runs, take_and_give_back_as_the_model_does) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        headroom_test::random random(seed);
        page_runs runs(std::pmr::new_delete_resource());
        const std::size_t pages = 40 + random.below(400);
        const headroom::detail::memory_piece memory{
            static_cast<std::byte*>(std::pmr::new_delete_resource()->allocate(pages * pool_page_bytes, pool_page_bytes)),
            pages * pool_page_bytes, pool_page_bytes};
        runs.add(memory);
        const segment& all = **runs.begin();
        std::vector<bool> used(pages);
        std::vector<std::pair<page_run, std::size_t>> live;
        for (int done = 0; done < 600; ++done) {
            if (random.below(100) < 52) {
                const std::size_t count = random.below(10) == 0 ? 1 + random.below(60) : 1 + random.below(17);
                page_run got = runs.take_free_run(count);
                if (!got) {
                    // Partly from the free pages at the end.
                    std::size_t more = count;
                    const std::size_t never_used = pages - all.high_water();
                    for (std::size_t at = all.high_water(); at > 0 && more > 0 && !used[at - 1]; --at) --more;
                    got = runs.take_unused(count, [&](const headroom::detail::memory_piece&, std::size_t needed) {
                        EXPECT_EQ(needed, (all.high_water() + more) * pool_page_bytes);
                        return true;
                    });
                    ASSERT_EQ(static_cast<bool>(got), more <= never_used);
                    if (!got) continue;
                }
                page_runs::mark_used(got, count);
                for (std::size_t i = got.index(); i < got.index() + count; ++i) {
                    ASSERT_FALSE(used[i]);
                    used[i] = true;
                }
                live.emplace_back(got, count);
            } else if (!live.empty()) {
                std::swap(live[random.below(live.size())], live.back());
                const auto [gone, count] = live.back();
                live.pop_back();
                for (std::size_t i = gone.index(); i < gone.index() + count; ++i) used[i] = false;
                runs.free_run(gone, count);
            }
            if (random.below(200) == 0) {    // like rewind()
                runs.reset();
                live.clear();
                used.assign(pages, false);
            }
            // Each stretch of free pages is one run.
            const std::size_t high_water = all.high_water();
            std::vector<std::pair<std::size_t, std::size_t>> expected, found;
            for (std::size_t at = 0; at < high_water; ++at) {
                if (used[at]) continue;
                if (at == 0 || used[at - 1]) expected.emplace_back(at, 0);
                ++expected.back().second;
            }
            all.for_each_run([&](std::size_t at, std::size_t count, const headroom::detail::page_state& each) {
                if (each.is_free()) found.emplace_back(at, count);
            });
            ASSERT_EQ(found, expected) << "seed " << seed;
            ASSERT_EQ(runs.free(),
                      static_cast<std::size_t>(std::count(used.begin(), used.begin() + static_cast<long>(high_water), false)));
        }
    }
}

}    // namespace
