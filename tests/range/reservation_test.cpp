// SPDX-License-Identifier: MIT
// Reservations under every policy: commit, decommit, protect, and refusals of every system call.
// Labels: core no-valgrind
// Not under Valgrind: reservation.terabytes_can_be_reserved
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <headroom/reservation.hpp>
#include <headroom/testing.hpp>

#include "support/emulated.hpp"
#include "support/policies.hpp"
#include "support/sanitizers.hpp"

namespace {

using headroom::access;
using headroom::reservation;

constexpr std::size_t MiB = std::size_t{1} << 20;

struct policies : testing::TestWithParam<headroom_test::named_policy> {
    const headroom::commit_policy policy = GetParam().policy;
    // True if the system premaps the range.
    const bool open = policy.how_held() == headroom::holding::open && reservation(1, policy).committed() > 0;
    void SetUp() override { headroom::trim_cache(); }
    void TearDown() override { headroom::testing::stop_failing(); }
};
using policies_death = policies;

TEST_P(policies, what_is_committed_can_be_written_and_is_kept_while_more_is_committed) {
    reservation range(64 * MiB, policy);
    std::size_t written = 0;
    for (std::size_t bytes = 1; bytes <= 24 * MiB; bytes = bytes * 3 / 2 + 1000) {
        ASSERT_FALSE(range.commit_to(bytes));
        ASSERT_GE(range.committed(), bytes);
        ASSERT_LE(range.committed(), range.reserved());
        std::memset(range.data() + written, 0x5a, bytes - written);
        written = bytes;
    }
    for (std::size_t i = 0; i < written; i += 511) ASSERT_EQ(range.data()[i], std::byte{0x5a}) << i;
}

TEST_P(policies, the_address_never_changes) {
    reservation range(64 * MiB, policy);
    const std::byte* const address = range.data();
    ASSERT_FALSE(range.commit_to(32 * MiB));
    range.decommit_from(0);
    ASSERT_FALSE(range.commit_to(range.reserved()));
    EXPECT_EQ(range.data(), address);
}

TEST_P(policies, the_whole_reservation_can_be_committed_and_not_a_byte_more) {
    reservation range(3 * MiB + 12345, policy);
    EXPECT_EQ(range.reserved(), (3 * MiB + 12345 + headroom::page_size() - 1) / headroom::page_size() * headroom::page_size());
    EXPECT_FALSE(range.commit_to(range.reserved()));
    EXPECT_EQ(range.committed(), range.reserved());
    range.data()[range.reserved() - 1] = std::byte{1};
    EXPECT_EQ(range.commit_to(range.reserved() + 1), std::errc::result_out_of_range);
}

TEST_P(policies_death, the_first_byte_past_the_committed_part_faults) {
    reservation range(4 * MiB, policy);
    ASSERT_FALSE(range.commit_to(open ? range.reserved() : 100));
    range.data()[range.committed() - 1] = std::byte{1};
    // volatile, so that the page fault cannot be optimized away.
    EXPECT_DEATH(static_cast<volatile std::byte*>(range.data())[range.committed()] = std::byte{1}, "");
}

TEST_P(policies_death, the_byte_before_the_range_faults) {
    reservation range(4 * MiB, policy);
    ASSERT_FALSE(range.commit_to(100));
    EXPECT_DEATH(*static_cast<volatile std::byte*>(range.data() - 1) = std::byte{1}, "");
}

TEST_P(policies, decommitted_memory_comes_back_as_zero) {
    reservation range(16 * MiB, policy);
    ASSERT_FALSE(range.commit_to(8 * MiB));
    std::memset(range.data(), 1, 8 * MiB);
    range.decommit_from(MiB);
    EXPECT_EQ(range.committed(), open ? range.reserved() : MiB);
    ASSERT_FALSE(range.commit_to(8 * MiB));
    EXPECT_EQ(range.data()[MiB - 1], std::byte{1});
    for (std::size_t i = MiB; i < 8 * MiB; i += 4096) ASSERT_EQ(range.data()[i], std::byte{0}) << i;
}

TEST_P(policies_death, decommitted_memory_faults_unless_held_open) {
    reservation range(16 * MiB, policy);
    ASSERT_FALSE(range.commit_to(8 * MiB));
    range.decommit_from(MiB);
    if (open) {
        range.data()[MiB] = std::byte{1};
        EXPECT_EQ(range.committed(), range.reserved());
    } else {
        EXPECT_DEATH(static_cast<volatile std::byte*>(range.data())[MiB] = std::byte{1}, "");
    }
}

TEST_P(policies_death, a_protected_range_can_be_read_but_not_written) {
    reservation range(16 * MiB, policy);
    ASSERT_FALSE(range.commit_to(3 * MiB));
    range.data()[2 * MiB] = std::byte{7};
    ASSERT_FALSE(range.protect(access::read_only));
    EXPECT_EQ(range.data()[2 * MiB], std::byte{7});
    EXPECT_DEATH(static_cast<volatile std::byte*>(range.data())[2 * MiB] = std::byte{1}, "");
    ASSERT_FALSE(range.protect(access::none));
    EXPECT_DEATH((void)*static_cast<volatile std::byte*>(range.data()), "");
    ASSERT_FALSE(range.protect(access::read_write));
    range.data()[0] = std::byte{1};
}

TEST_P(policies, a_range_that_died_protected_is_writable_for_its_next_owner) {
    for (int round = 0; round < 3; ++round) {
        reservation range(16 * MiB, policy);
        ASSERT_FALSE(range.commit_to(2 * MiB));
        range.data()[MiB] = std::byte{1};
        ASSERT_FALSE(range.protect(access::read_only));
    }
    reservation range(16 * MiB, policy);
    ASSERT_FALSE(range.commit_to(2 * MiB));
    std::memset(range.data(), 1, 2 * MiB);
    EXPECT_EQ(range.data()[2 * MiB - 1], std::byte{1});
}

TEST_P(policies, moving_hands_the_range_over) {
    reservation first(4 * MiB, policy);
    ASSERT_FALSE(first.commit_to(10));
    first.data()[3] = std::byte{3};
    std::byte* const address = first.data();
    reservation second(std::move(first));
    EXPECT_FALSE(first);
    EXPECT_EQ(first.data(), nullptr);
    EXPECT_EQ(first.reserved(), 0u);
    EXPECT_EQ(second.data(), address);
    reservation third(MiB, policy);
    third = std::move(second);
    EXPECT_EQ(third.data()[3], std::byte{3});
    EXPECT_EQ(headroom::reservations().size(), 1u);
}

// Uses a reservation while system calls fail: each failure is reported, and the content stays.
void live_through_refusals(const headroom::commit_policy& policy) {
    std::error_code error;
    reservation range = reservation::up_to(8 * MiB, 64 << 10, policy, error);
    if (error) {
        EXPECT_FALSE(range);
        return;
    }
    std::size_t usable = range.committed() == range.reserved() ? 0 : range.committed();
    for (std::size_t bytes = 1000; bytes <= range.reserved(); bytes = bytes * 2 + 5000) {
        const std::size_t before = range.committed();
        if (range.commit_to(bytes)) {
            EXPECT_EQ(range.committed(), before);
        } else {
            ASSERT_GE(range.committed(), bytes);
            std::memset(range.data() + usable, 0x33, bytes > usable ? bytes - usable : 0);
            usable = std::max(usable, bytes);
        }
    }
    if (usable >= 5000) {
        EXPECT_EQ(range.data()[4999], std::byte{0x33});
    }
    range.name("refusals");
    if (!range.protect(access::read_only)) (void)range.protect(access::read_write);
    const std::size_t before = range.committed();
    range.decommit_from(5000);
    EXPECT_LE(range.committed(), before);
    if (usable >= 5000) {
        EXPECT_EQ(range.data()[4999], std::byte{0x33});
    }
}

TEST_P(policies, any_system_call_may_fail_and_nothing_leaks_or_breaks) {
    if (policy.which() == headroom::commit_policy::kind::prefault_ahead) {
        // The helper's calls come at any moment; its own tests fail each of them.
        EXPECT_NO_FATAL_FAILURE(live_through_refusals(policy));
        return;
    }
    headroom::testing::count_system_calls();
    live_through_refusals(policy);
    headroom::trim_cache();
    const std::uint64_t calls = headroom::testing::stop_failing();
    ASSERT_GT(calls, 3u);
    for (const auto afterwards : {headroom::testing::afterwards::succeed, headroom::testing::afterwards::keep_failing}) {
        for (std::uint64_t k = 1; k <= calls + 2; ++k) {
            headroom::testing::fail_system_call(k, ENOMEM, afterwards);
            live_through_refusals(policy);
            headroom::testing::stop_failing();
            headroom::trim_cache();
            EXPECT_EQ(headroom::reservations().size(), 0u) << k;
            EXPECT_EQ(headroom::cached_bytes(), 0u) << k;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(each, policies, testing::ValuesIn(headroom_test::all_policies), headroom_test::policy_name{});
INSTANTIATE_TEST_SUITE_P(each, policies_death, testing::ValuesIn(headroom_test::all_policies), headroom_test::policy_name{});

// `promise(used)` returns the allowed bytes of committed and unused memory.
template <class Promise>
void never_leaves_more_unused_than(const headroom::commit_policy& policy, Promise promise) {
    headroom::trim_cache();
    for (int round = 0; round < 3; ++round) {    // fresh, then twice on a cached range
        reservation range(64 * MiB, policy);
        for (std::size_t used = 1; used < 48 * MiB; used += 1 + used / 100) {
            ASSERT_FALSE(range.commit_to(used));
            ASSERT_LE(range.committed() - used, promise(used)) << used << " in round " << round;
            range.data()[used - 1] = std::byte{1};
        }
    }
}

TEST(reservation, the_default_policy_never_leaves_more_than_its_promise_unused) {
    never_leaves_more_unused_than({}, [](std::size_t used) {
        const std::size_t page = headroom::page_size();
        return used <= 4 * MiB ? std::max<std::size_t>(64 << 10, page) : 2 * MiB;
    });
}

TEST(reservation, the_policy_of_least_memory_never_leaves_more_than_its_promise_unused) {
    never_leaves_more_unused_than(headroom::least_memory(),
                                  [](std::size_t used) { return std::max<std::size_t>(64 << 10, used / 16); });
}

TEST(reservation, the_default_policy_takes_huge_pages_where_the_system_grants_them) {
    if (headroom::huge_page_size() != 2 * MiB || headroom::page_size() != 4096) GTEST_SKIP() << "no huge pages of 2 MiB here";
    headroom::trim_cache();
    reservation range(64 * MiB);
    ASSERT_FALSE(range.commit_to(5 * MiB));
    EXPECT_GE(range.committed(), 11 * MiB / 2);    // a huge page ends there, at 6 MiB or somewhat before
    headroom::reset_statistics();
    for (std::size_t used = range.committed(); used < 32 * MiB; used += 10'000) ASSERT_FALSE(range.commit_to(used));
    EXPECT_LE(headroom::statistics().count(headroom::page_call::prefault), 13u);
}

TEST(reservation, the_default_policy_takes_whole_huge_pages_wherever_a_range_starts) {
    if (headroom::huge_page_size() != 2 * MiB || headroom::page_size() != 4096) GTEST_SKIP() << "no huge pages of 2 MiB here";
    headroom::trim_cache();
    std::vector<reservation> ranges;    // no two groups of eight have equal offsets
    for (int i = 0; i < 20; ++i) {
        ranges.emplace_back(64 * MiB);
        reservation& range = ranges.back();
        const auto start = reinterpret_cast<std::uintptr_t>(range.data());
        for (const std::size_t used : {5 * MiB, 9 * MiB + 1}) {
            ASSERT_FALSE(range.commit_to(used));
            EXPECT_EQ((start + range.committed()) % (2 * MiB), 0u);
            EXPECT_LT(range.committed() - used, 2 * MiB);
        }
        range.decommit_from(0);
    }
}

TEST(reservation, the_default_policy_is_balanced_with_its_own_sizes) {
    EXPECT_EQ(headroom::commit_policy(), headroom::balanced(32 << 10, 4 * MiB, 256 << 10));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(reservation, policies_are_the_same_in_their_deprecated_spelling) {
    using headroom::commit_policy;
    EXPECT_EQ(commit_policy::least_memory(), headroom::least_memory());
    EXPECT_EQ(commit_policy::balanced(1, 2, 3), headroom::balanced(1, 2, 3));
    EXPECT_EQ(commit_policy::page_by_page(), headroom::page_by_page());
    EXPECT_EQ(commit_policy::stepped(1, 2), headroom::stepped(1, 2));
    EXPECT_EQ(commit_policy::huge_pages(), headroom::huge_pages());
    EXPECT_EQ(commit_policy::prefault_ahead(), headroom::prefault_ahead());
}
#pragma GCC diagnostic pop

TEST(reservation, balanced_never_leaves_more_than_its_promise_unused) {
    never_leaves_more_unused_than(headroom::balanced(256 << 10, 8 * MiB, MiB), [](std::size_t used) {
        return used <= 8 * MiB ? std::max<std::size_t>(512 << 10, headroom::page_size()) : 2 * MiB;
    });
}

TEST(reservation, balanced_takes_steps_of_the_sizes_that_it_was_given) {
    headroom::trim_cache();
    const auto step_at = [](reservation& range, std::size_t bytes) {
        EXPECT_FALSE(range.commit_to(bytes));
        const std::size_t before = range.committed();
        EXPECT_FALSE(range.commit_to(before + 1));
        return range.committed() - before;
    };
    reservation range(256 * MiB, headroom::balanced(128 << 10, 32 * MiB, MiB));
    EXPECT_EQ(step_at(range, 16 * MiB), std::size_t{128} << 10);
    if (headroom::huge_page_size() != 0) return;    // then steps are huge pages from 32 MiB on
    EXPECT_EQ(step_at(range, 40 * MiB), MiB);
}

TEST(reservation, balanced_from_more_than_there_is_keeps_its_small_steps) {
    headroom::trim_cache();
    reservation range(64 * MiB, headroom::balanced(128 << 10, SIZE_MAX, MiB));
    ASSERT_FALSE(range.commit_to(16 * MiB));
    const std::size_t before = range.committed();
    ASSERT_FALSE(range.commit_to(before + 1));
    EXPECT_EQ(range.committed() - before, std::size_t{128} << 10);
}

TEST(reservation, page_by_page_commits_no_more_than_the_page_that_is_needed) {
    for (int round = 0; round < 2; ++round) {
        reservation range(16 * MiB, headroom::page_by_page());
        for (std::size_t used = 1; used < MiB; used += 777) {
            ASSERT_FALSE(range.commit_to(used));
            ASSERT_LT(range.committed() - used, headroom::page_size()) << round;
        }
    }
}

TEST(reservation, stepped_commits_a_sixteenth_between_its_bounds) {
    headroom::trim_cache();
    reservation range(64 * MiB, headroom::stepped(MiB, 2 * MiB));
    ASSERT_FALSE(range.commit_to(1));
    EXPECT_EQ(range.committed(), MiB);
    ASSERT_FALSE(range.commit_to(24 * MiB));
    const std::size_t before = range.committed();
    ASSERT_FALSE(range.commit_to(before + 1));
    EXPECT_EQ(range.committed() - before,
              (before / 16 + headroom::page_size() - 1) / headroom::page_size() * headroom::page_size());
    ASSERT_FALSE(range.commit_to(48 * MiB));
    const std::size_t large = range.committed();
    ASSERT_FALSE(range.commit_to(large + 1));
    EXPECT_EQ(range.committed() - large, 2 * MiB);
}

TEST(reservation, a_refused_reservation_throws_and_says_why) {
    headroom::testing::limit_address_space(MiB);
    try {
        reservation range(std::size_t{1} << 29);
        FAIL() << "not refused";
    } catch (const std::bad_alloc& refusal) {
        EXPECT_NE(std::string(refusal.what()).find("536870912"), std::string::npos) << refusal.what();
        EXPECT_EQ(dynamic_cast<const headroom::refused&>(refusal).code(), std::errc::not_enough_memory);
    }
    headroom::testing::limit_address_space(0);
}

TEST(reservation, without_an_exact_size_it_backs_off_by_halving) {
    headroom::testing::limit_address_space(100 * MiB);
    std::error_code error;
    const reservation range = reservation::up_to(std::size_t{1} << (sizeof(std::size_t) >= 8 ? 32 : 29), MiB, {}, error);
    headroom::testing::limit_address_space(0);
    EXPECT_FALSE(error);
    EXPECT_EQ(range.reserved(), 64 * MiB);
}

// The system may refuse to unmap when mappings are used up. The range is retried later, so that it does not leak.
TEST(reservation, a_range_that_the_system_would_not_take_back_is_offered_again) {
    const std::size_t limit = headroom::cache_limit();
    headroom::set_cache_limit(0);
    std::optional<reservation> first(MiB), second(MiB);
    headroom::testing::fail_system_call(1, ENOMEM, headroom::testing::afterwards::keep_failing);
    first.reset();
    headroom::testing::stop_failing();
    const auto released = [] { return headroom::statistics().count(headroom::page_call::release); };
    const std::uint64_t before = released();
    second.reset();
    EXPECT_EQ(released() - before, 2U);
    headroom::set_cache_limit(limit);
}

TEST(reservation, what_is_kept_warm_goes_back_before_protecting_is_refused) {
    headroom::reservation range(MiB);
    ASSERT_FALSE(range.commit_to(MiB / 2));
    { EXPECT_FALSE(headroom::reservation(2 * MiB).commit_to(MiB)); }
    headroom::testing::fail_system_call(1);
    EXPECT_FALSE(range.protect(headroom::access::read_only));
    headroom::testing::stop_failing();
    EXPECT_EQ(headroom::cached_bytes(), 0u);
    EXPECT_FALSE(range.protect(headroom::access::read_write));
}

TEST(reservation, impossible_sizes_are_refused) {
    EXPECT_THROW(reservation(SIZE_MAX), std::bad_alloc);
    EXPECT_THROW(reservation(SIZE_MAX / 2), std::bad_alloc);
}

TEST(reservation, terabytes_can_be_reserved) {
    // ThreadSanitizer leaves a program few addresses.
    if (sizeof(std::size_t) < 8) GTEST_SKIP() << "addresses of 32 bits";
    if (headroom_test::emulated()) GTEST_SKIP() << "the emulator has fewer addresses, so as to need less memory";
    const auto bytes = static_cast<std::size_t>(std::uint64_t{1} << (headroom_test::thread_sanitizer ? 35 : 40));
    const reservation range(bytes);
    EXPECT_EQ(range.reserved(), bytes);
}

TEST(reservation, works_with_64_ki_b_pages) {
    headroom::trim_cache();
    headroom::testing::pretend_page_size(64 << 10);
    {
        reservation range(16 * MiB);
        for (std::size_t used = 1; used < 8 * MiB; used += 3333) {
            ASSERT_FALSE(range.commit_to(used));
            ASSERT_EQ(range.committed() % (64 << 10), 0u);
            range.data()[used - 1] = std::byte{1};
        }
    }
    headroom::trim_cache();
    headroom::testing::pretend_page_size(0);
}

}    // namespace
