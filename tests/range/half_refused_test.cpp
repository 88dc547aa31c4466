// SPDX-License-Identifier: MIT
// Accuracy of a range's committed size during decommit, and after one that fails midway. Replaces madvise() and mprotect() by
// functions that fail or wait on demand.
// Labels: linux posix thread no-valgrind no-sanitizer
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <vector>

#include <headroom/pages.hpp>
#include <headroom/reservation.hpp>

#include "support/fill.hpp"
#include "system/in_child.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace {

bool closing_is_refused = false;    // pages stay accessible
std::atomic<bool> helper_is_refused{false};
std::atomic<int> moment{0};    // 1: the helper has made pages inaccessible and waits for 2

bool is_helper() { return syscall(SYS_gettid) != getpid(); }

}    // namespace

extern "C" int madvise(void* at, size_t bytes, int advice) noexcept {
    if (advice == MADV_POPULATE_WRITE && bytes != 0 && helper_is_refused && is_helper()) {
        errno = ENOMEM;
        return -1;
    }
    return static_cast<int>(syscall(SYS_madvise, at, bytes, advice));
}

extern "C" int mprotect(void* at, size_t bytes, int rights) noexcept {
    if (closing_is_refused && rights == PROT_NONE) {
        errno = ENOMEM;
        return -1;
    }
    const int result = static_cast<int>(syscall(SYS_mprotect, at, bytes, rights));
    if (rights == PROT_NONE && helper_is_refused && is_helper()) {
        moment = 1;
        while (moment != 2) usleep(100);
    }
    return result;
}

namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;

bool is_there(const headroom::reservation& range, std::size_t from, std::size_t to) {
    const std::size_t page = headroom::page_size();
    std::vector<unsigned char> seen((to - from) / page);
    if (mincore(range.data() + from, to - from, seen.data()) != 0) return false;
    for (const unsigned char each : seen) {
        if ((each & 1) == 0) return false;
    }
    return true;
}

// False under emulators and old kernels.
bool system_provides_memory() {
    std::error_code error;
    const headroom::page_range page = headroom::reserve(headroom::page_size(), 1, error);
    const bool provides = !error && !headroom::commit(page) && !headroom::prefault(page);
    EXPECT_FALSE(headroom::release(page));
    return provides;
}

TEST(memory_that_is_taken_back, is_provided_again_though_the_system_stopped_half_way) {
    if (!system_provides_memory()) GTEST_SKIP();
    headroom::trim_cache();
    headroom::set_cache_limit(64 * MiB);
    {
        headroom::reservation earlier(16 * MiB);
        ASSERT_FALSE(earlier.commit_to(MiB));
        std::memset(earlier.data(), 1, earlier.committed());
    }
    headroom::reservation range(16 * MiB);
    const std::size_t before = range.committed();
    if (before == 0 || before >= 512 * KiB || !is_there(range, 0, 512 * KiB)) GTEST_SKIP() << "nothing is kept warm here";
    closing_is_refused = true;
    range.decommit_from(0);
    closing_is_refused = false;
    ASSERT_EQ(range.committed(), before);
    ASSERT_FALSE(is_there(range, 0, 512 * KiB)) << "the system was not asked";
    headroom::reset_statistics();
    ASSERT_FALSE(range.commit_to(512 * KiB));
    EXPECT_GE(headroom::statistics().count(headroom::page_call::prefault), 1U);
    for (std::size_t i = before; i < 512 * KiB; ++i) ASSERT_EQ(range.data()[i], std::byte{0});
}

TEST(memory_that_is_committed, is_there_but_for_the_first_page_however_small_the_steps) {
    if (!system_provides_memory()) GTEST_SKIP();
    const std::size_t page = headroom::page_size();
    for (const std::size_t step : {page, 3 * page, 16 * page}) {
        headroom::trim_cache();
        headroom::reservation range(16 * MiB, headroom::stepped(page, page));
        for (std::size_t to = step; to <= MiB; to += step) ASSERT_FALSE(range.commit_to(to));
        EXPECT_TRUE(is_there(range, page, MiB / step * step)) << step;
    }
}

TEST(memory_that_is_taken_back, is_not_thought_warm_by_the_next_owner_where_the_system_stopped_half_way) {
    if (!system_provides_memory()) GTEST_SKIP();
    for (const headroom::commit_policy& policy : {headroom::commit_policy(), headroom::least_memory(),
                                                  headroom::stepped(16 * KiB, 256 * KiB), headroom::huge_pages(4 * MiB)}) {
        headroom::set_cache_limit(64 * MiB);
        headroom::trim_cache();
        for (int life = 0; life != 2; ++life) {
            headroom::reservation range(16 * MiB, policy);
            if (life == 0) {
                ASSERT_FALSE(range.commit_to(MiB));
                std::memset(range.data(), 1, range.committed());
            } else {
                if (range.committed() == 0 || !is_there(range, 0, MiB)) GTEST_SKIP() << "nothing is kept warm here";
                closing_is_refused = true;
                range.decommit_from(0);
                closing_is_refused = false;
            }
        }
        headroom::reservation next(16 * MiB, policy);
        ASSERT_FALSE(next.commit_to(512 * KiB));
        EXPECT_TRUE(is_there(next, 64 * KiB, 512 * KiB));    // so little committed memory counts as populated without a query
    }
}

TEST(memory_that_is_taken_back, by_the_helper_is_not_used_by_a_child_forked_meanwhile) {
    if (!system_provides_memory()) GTEST_SKIP();
    headroom::reservation range(256 * MiB, headroom::prefault_ahead(8 * MiB));
    helper_is_refused = true;
    std::size_t filled = 0;
    for (int tries = 0; moment != 1 && tries != 2000; ++tries) {
        if (filled < 32 * MiB) headroom_test::fill(range, filled += MiB, 1);
        usleep(1000);
    }
    ASSERT_EQ(moment, 1) << "the helper was not at work";
    const int status = headroom_test::in_child([&] {
        helper_is_refused = false;
        headroom_test::fill(range, 64 * MiB, 2);
        return range.data()[64 * MiB - 1] == std::byte{2} ? 0 : 1;
    });
    helper_is_refused = false;
    moment = 2;
    EXPECT_EQ(status, 0);
    headroom_test::fill(range, 64 * MiB, 3);
    EXPECT_EQ(range.data()[64 * MiB - 1], std::byte{3});
}

}    // namespace
