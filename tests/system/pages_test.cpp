// SPDX-License-Identifier: MIT
// The platform layer: the contract of each call, on every system.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

#include <headroom/pages.hpp>
#include <headroom/testing.hpp>

#include "support/addresses.hpp"

namespace {

using headroom::access;
using headroom::page_range;

struct pages : testing::Test {
    const std::size_t page = headroom::page_size();
    page_range range{};
    void TearDown() override {
        headroom::testing::stop_failing();
        if (range.data != nullptr) {
            EXPECT_FALSE(headroom::release(range));
        }
    }
    void reserve(std::size_t bytes, std::size_t alignment = 1) {
        std::error_code error;
        range = headroom::reserve(bytes, alignment, error);
        ASSERT_FALSE(error) << error.message();
    }
    // False if the system needs a commit; then it must report an error.
    bool reserve_open(std::size_t bytes) {
        std::error_code error;
        range = headroom::reserve(bytes, 1, error, access::read_write);
        if (error) {
            EXPECT_EQ(error, std::errc::function_not_supported);
            EXPECT_EQ(range.data, nullptr);
        }
        return !error;
    }
    page_range part(std::size_t first, std::size_t count) const { return {range.data + first * page, count * page}; }
};
using pages_death = pages;

TEST_F(pages, page_size_is_a_power_of_two) {
    EXPECT_GE(page, 4096u);
    EXPECT_EQ(page & (page - 1), 0u);
}

TEST_F(pages, reserve_rounds_up_to_pages) {
    reserve(1);
    EXPECT_EQ(range.bytes, page);
}

TEST_F(pages, reserve_honours_alignments_above_the_page_size) {
    for (std::size_t alignment = page; alignment <= std::size_t{1} << (sizeof(std::size_t) >= 8 ? 30 : 28); alignment *= 8) {
        reserve(3 * page, alignment);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range.data) % alignment, 0u) << alignment;
        EXPECT_FALSE(headroom::release(range));
        range = {};
    }
}

// A range reserved with an alignment may already start aligned: then nothing is left before it to release. Holes of one page at
// odd pages make the system offer any start.
TEST_F(pages, reserve_honours_alignments_wherever_the_system_begins) {
    std::vector<page_range> all;
    const auto add = [&](std::size_t count, std::size_t alignment) {
        std::error_code error;
        all.push_back(headroom::reserve(count * page, alignment, error));
        EXPECT_FALSE(error) << error.message();
        return all.back().data;
    };
    for (std::size_t i = 0; i < 40; ++i) {
        std::byte* const first = add(4 + i % 2, page);
        const std::size_t odd = reinterpret_cast<std::uintptr_t>(first) / page % 2 == 0 ? 1 : 2;
        if (headroom::release({first + odd * page, page})) GTEST_SKIP() << "this system takes what was reserved back as a whole";
        all.push_back({first + (odd + 1) * page, all.back().bytes - (odd + 1) * page});
        all[all.size() - 2].bytes = odd * page;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(add(1, 2 * page)) / page % 2, 0U);
    }
    for (const page_range& each : all) EXPECT_FALSE(headroom::release(each));
}

TEST_F(pages, reserving_more_than_there_is_fails_with_an_error_code) {
    std::error_code error;
    // With 32-bit addresses a few may fit.
    std::vector<page_range> some;
    page_range none{};
    do {
        none = headroom::reserve(SIZE_MAX / 4, 1, error);
        if (!error) some.push_back(none);
    } while (!error && some.size() < 5);
    EXPECT_TRUE(error);
    EXPECT_TRUE(some.empty() || !headroom_test::many_addresses);
    EXPECT_EQ(none.data, nullptr);
    EXPECT_EQ(none.bytes, 0u);
    for (const page_range& each : some) EXPECT_FALSE(headroom::release(each));
}

TEST_F(pages, sizes_near_the_limit_of_size_t_are_refused_rather_than_wrapped) {
    for (const std::size_t bytes : {std::size_t{0}, SIZE_MAX, SIZE_MAX - page, SIZE_MAX / 2 + 1}) {
        std::error_code error;
        EXPECT_EQ(headroom::reserve(bytes, 1, error).data, nullptr) << bytes;
        EXPECT_TRUE(error) << bytes;
    }
}

TEST_F(pages, an_alignment_that_is_no_power_of_two_is_refused) {
    std::error_code error;
    EXPECT_EQ(headroom::reserve(page, 3 * page, error).data, nullptr);
    EXPECT_TRUE(error);
}

TEST_F(pages, committed_pages_read_as_zero_and_keep_what_is_written) {
    reserve(16 * page);
    ASSERT_FALSE(headroom::commit(part(2, 4)));
    for (std::size_t i = 2 * page; i < 6 * page; ++i) ASSERT_EQ(range.data[i], std::byte{0});
    std::memset(range.data + 2 * page, 7, 4 * page);
    ASSERT_FALSE(headroom::commit(part(2, 8)));    // again, and further
    EXPECT_EQ(range.data[6 * page - 1], std::byte{7});
    EXPECT_EQ(range.data[6 * page], std::byte{0});
}

TEST_F(pages_death, reserved_pages_cannot_be_touched) {
    reserve(4 * page);
    EXPECT_DEATH(range.data[0] = std::byte{1}, "");
}

TEST_F(pages_death, decommitted_pages_cannot_be_touched) {
    reserve(4 * page);
    ASSERT_FALSE(headroom::commit(range));
    range.data[page] = std::byte{1};
    ASSERT_FALSE(headroom::decommit(part(1, 1)));
    EXPECT_DEATH(range.data[page] = std::byte{1}, "");
    range.data[0] = range.data[2 * page] = std::byte{1};    // the neighbours can be written
}

TEST_F(pages, decommitted_pages_come_back_as_zero) {
    reserve(4 * page);
    ASSERT_FALSE(headroom::commit(range));
    range.data[page] = std::byte{1};
    ASSERT_FALSE(headroom::decommit(part(1, 1)));
    ASSERT_FALSE(headroom::commit(part(1, 1)));
    EXPECT_EQ(range.data[page], std::byte{0});
}

TEST_F(pages, discarded_pages_stay_accessible_and_read_as_zero) {
    reserve(2 * page);
    ASSERT_FALSE(headroom::commit(range));
    range.data[0] = range.data[page] = std::byte{1};
    ASSERT_FALSE(headroom::discard(part(1, 1)));
    EXPECT_EQ(range.data[0], std::byte{1});
    EXPECT_EQ(range.data[page], std::byte{0});
}

TEST_F(pages_death, read_only_pages_can_be_read_but_not_written) {
    reserve(page);
    ASSERT_FALSE(headroom::commit(range));
    range.data[0] = std::byte{5};
    ASSERT_FALSE(headroom::protect(range, access::read_only));
    EXPECT_EQ(range.data[0], std::byte{5});
    EXPECT_DEATH(range.data[0] = std::byte{1}, "");
    ASSERT_FALSE(headroom::protect(range, access::read_write));
    range.data[0] = std::byte{6};
    EXPECT_EQ(range.data[0], std::byte{6});
}

TEST_F(pages, prefault_keeps_contents_or_says_that_it_cannot) {
    reserve(64 * page);
    ASSERT_FALSE(headroom::commit(range));
    range.data[5 * page] = std::byte{9};
    const std::error_code error = headroom::prefault(range);
    EXPECT_TRUE(!error || error == std::errc::function_not_supported) << error.message();
    EXPECT_EQ(range.data[5 * page], std::byte{9});
}

// A prefault refused for lack of write access must not disable prefault for other ranges.
TEST_F(pages, prefault_of_a_protected_range_does_not_switch_it_off) {
    reserve(64 * page);
    ASSERT_FALSE(headroom::commit(range));
    const std::error_code before = headroom::prefault(part(0, 8));
    ASSERT_FALSE(headroom::protect(part(8, 8), access::read_only));
    static_cast<void>(headroom::prefault(part(8, 8)));
    EXPECT_EQ(headroom::prefault(part(16, 8)), before);
}

TEST_F(pages, an_open_range_is_writable_at_once_where_there_are_any) {
    if (!reserve_open(8 * page)) return;
    range.data[8 * page - 1] = std::byte{1};
    EXPECT_EQ(range.data[8 * page - 1], std::byte{1});
}

TEST_F(pages_death, guarded_pages_fault) {
    if (!reserve_open(8 * page)) return;
    ASSERT_FALSE(headroom::guard(part(7, 1)));
    range.data[7 * page - 1] = std::byte{1};
    EXPECT_DEATH(range.data[7 * page] = std::byte{1}, "");
}

TEST_F(pages, remap_moves_contents_and_leaves_the_source_fresh_or_says_that_it_cannot) {
    reserve(16 * page);
    ASSERT_FALSE(headroom::commit(range));
    std::memset(range.data, 3, 4 * page);
    std::memset(range.data + 8 * page, 4, 4 * page);
    const std::error_code error = headroom::remap(part(0, 4), part(8, 4));
    if (error) {
        EXPECT_EQ(error, std::errc::function_not_supported);
        EXPECT_EQ(range.data[0], std::byte{3});
        EXPECT_EQ(range.data[8 * page], std::byte{4});
    } else {
        EXPECT_EQ(range.data[8 * page], std::byte{3});
        EXPECT_EQ(range.data[12 * page - 1], std::byte{3});
        EXPECT_EQ(range.data[0], std::byte{0});    // still accessible
    }
}

TEST_F(pages, naming_is_a_wish_that_harms_nothing) {
    reserve(page);
    for (const char* text : {"orders", "strange [name]$\\`\n", ""}) {
        const std::error_code error = headroom::name(range, text);
        EXPECT_TRUE(!error || error == std::errc::function_not_supported) << error.message();
    }
    EXPECT_TRUE(!headroom::name(range, nullptr) || headroom::name(range, "x") == std::errc::function_not_supported);
}

TEST_F(pages, the_chosen_system_call_fails_with_the_chosen_error_and_is_not_made) {
    reserve(4 * page);
    headroom::testing::fail_system_call(2, EAGAIN);
    EXPECT_FALSE(headroom::commit(part(0, 1)));
    EXPECT_EQ(headroom::commit(part(1, 1)), std::errc::resource_unavailable_try_again);
    EXPECT_FALSE(headroom::commit(part(2, 1)));
    EXPECT_EQ(headroom::testing::stop_failing(), 3u);
}

TEST_F(pages, later_calls_keep_failing_when_asked_to) {
    reserve(4 * page);
    headroom::testing::fail_system_call(2, ENOMEM, headroom::testing::afterwards::keep_failing);
    EXPECT_FALSE(headroom::commit(part(0, 1)));
    EXPECT_TRUE(headroom::commit(part(1, 1)));
    EXPECT_TRUE(headroom::commit(part(1, 1)));
}

TEST_F(pages, reserving_with_alignment_gives_everything_back_whichever_call_fails) {
    for (std::uint64_t k = 1; k <= 4; ++k) {
        headroom::testing::fail_system_call(k);
        std::error_code error;
        page_range result = headroom::reserve(page, std::size_t{1} << 30, error);
        headroom::testing::stop_failing();
        EXPECT_EQ(result.data == nullptr, static_cast<bool>(error)) << k;
        if (result.data != nullptr) {
            EXPECT_FALSE(headroom::release(result));
        }
    }
}

// Pages mapped by this process; 0 if unknown.
std::size_t address_space_in_use() {
    std::size_t all = 0;
    std::ifstream("/proc/self/statm") >> all;
    return all;
}

TEST_F(pages, reserving_with_alignment_keeps_nothing_around_the_range) {
    constexpr std::size_t alignment = std::size_t{64} << 20;
    for (int warm = 0; warm < 2; ++warm) {
        const std::size_t before = address_space_in_use();
        if (before == 0) GTEST_SKIP() << "this system does not say how much address space is in use";
        for (int i = 0; i < 20; ++i) {
            reserve(3 * page, alignment);
            EXPECT_FALSE(headroom::release(range));
            range = {};
        }
        if (warm != 0) {
            EXPECT_LT(address_space_in_use(), before + alignment / page);
        }
    }
}

TEST(pretence, another_page_size_can_be_pretended) {
    const std::size_t real = headroom::page_size();
    headroom::testing::pretend_page_size(16 * real);
    EXPECT_EQ(headroom::page_size(), 16 * real);
    std::error_code error;
    const page_range range = headroom::reserve(1, 1, error);
    EXPECT_EQ(range.bytes, 16 * real);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range.data) % (16 * real), 0u);
    EXPECT_FALSE(headroom::release(range));
    headroom::testing::pretend_page_size(0);
    EXPECT_EQ(headroom::page_size(), real);
}

TEST(pretence, a_small_address_space_can_be_pretended) {
    headroom::testing::limit_address_space(std::size_t{1} << 20);
    std::error_code error;
    EXPECT_EQ(headroom::reserve(std::size_t{2} << 20, 1, error).data, nullptr);
    EXPECT_EQ(error, std::errc::not_enough_memory);
    headroom::testing::limit_address_space(0);
}

}    // namespace
