// SPDX-License-Identifier: MIT
// Labels: no-valgrind many-ranges
// Reservations and arenas keep their content when any system call is refused.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <headroom/arena.hpp>
#include <headroom/reservation.hpp>
#include <headroom/testing.hpp>

#include "support/policies.hpp"

namespace {

using headroom::testing::afterwards;

struct step_below {
    const char* name;
    std::function<void(headroom::reservation&)> run;    // throws bad_alloc if refused
};

void expect(const std::error_code& error) {
    if (error) throw std::bad_alloc();
}

const std::vector<step_below>& steps_below() {
    using headroom::reservation;
    constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;
    static const std::vector<step_below> all{
        {"reserving", [](reservation&) { const reservation another(300 * KiB); }},
        {"reserving what there is",
         [](reservation&) {
             std::error_code error;
             const reservation another = reservation::up_to(64 * MiB, MiB, {}, error);
             EXPECT_NE(static_cast<bool>(another), static_cast<bool>(error));
             expect(error);
         }},
        {"commit_to", [](reservation& r) { expect(r.commit_to(MiB)); }},
        {"commit_to, in small steps",
         [](reservation& r) {
             for (int i = 1; i < 40; ++i) expect(r.commit_to(80 * KiB + 8000 * static_cast<std::size_t>(i)));
         }},
        {"decommit_from", [](reservation& r) { r.decommit_from(70 * KiB); }},
        {"there and back",
         [](reservation& r) {
             expect(r.commit_to(MiB));
             r.decommit_from(80 * KiB);
             expect(r.commit_to(MiB / 2));
         }},
        {"protect",
         [](reservation& r) {
             const std::error_code error = r.protect(headroom::access::read_only);
             headroom::testing::stop_failing();
             EXPECT_FALSE(r.protect(headroom::access::read_write));
             expect(error);
         }},
        {"name",
         [](reservation& r) {
             r.name("a name");
             r.name(nullptr);
         }},
        {"move",
         [](reservation& r) {
             reservation moved(std::move(r));
             r = std::move(moved);
         }},
        {"swap",
         [](reservation& r) {
             reservation another(MiB);
             swap(r, another);
             swap(r, another);
         }},
        {"trim_cache",
         [](reservation&) {
             {
                 reservation dies(MiB);
                 expect(dies.commit_to(MiB));
             }
             headroom::trim_cache();
         }},
        {"set_cache_limit",
         [](reservation&) {
             {
                 reservation dies(MiB);
                 expect(dies.commit_to(MiB));
             }
             headroom::set_cache_limit(0);
             headroom::set_cache_limit(std::size_t{64} << 20);
         }},
        {"an arena",
         [](reservation&) {
             headroom::arena memory(4 * MiB);
             void* const first = memory.allocate(50 * KiB);
             std::memset(first, 1, 50 * KiB);
             const auto mark = memory.mark();
             if (memory.try_allocate(MiB) == nullptr) throw std::bad_alloc();
             memory.rewind(mark);
             memory.trim();
             headroom::arena moved(std::move(memory));
             static_cast<void>(moved.allocate(MiB));
             moved.reset();
             moved.trim();
             moved.name("a name");
             memory = std::move(moved);
         }},
    };
    return all;
}

TEST(a_refusal_below_the_containers, changes_nothing_that_is_held) {
    headroom::trim_cache();
    const std::size_t reservations = headroom::reservations().size();
    const std::size_t kept = 70 * 1024;
    long tried = 0, thrown = 0;
    for (const headroom_test::named_policy& policy : headroom_test::all_policies) {
        // The helper thread makes calls too, so the k-th call would vary.
        if (policy.policy.which() == headroom::commit_policy::kind::prefault_ahead) continue;
        for (const auto& each : steps_below()) {
            SCOPED_TRACE(std::string(policy.name) + ": " + each.name);
            for (const afterwards then : {afterwards::succeed, afterwards::keep_failing}) {
                bool more_calls = true;
                for (std::uint64_t k = 1; more_calls; ++k) {
                    SCOPED_TRACE("system call " + std::to_string(k));
                    headroom::trim_cache();
                    {
                        headroom::reservation range(std::size_t{16} << 20, policy.policy);
                        ASSERT_FALSE(range.commit_to(kept));
                        std::memset(range.data(), 0x5A, kept);
                        headroom::testing::fail_system_call(k, ENOMEM, then);
                        try {
                            each.run(range);
                        } catch (const std::bad_alloc&) {
                            ++thrown;
                        }
                        // Some steps stop the refusals themselves; calls after that succeed.
                        more_calls = headroom::testing::stop_failing() >= k;
                        headroom::set_cache_limit(std::size_t{64} << 20);
                        ++tried;
                        ASSERT_GE(range.committed(), kept);
                        for (std::size_t i = 0; i < kept; ++i) ASSERT_EQ(range.data()[i], std::byte{0x5A}) << i;
                        ASSERT_FALSE(range.commit_to(std::size_t{1} << 20));    // and can go on
                        std::memset(range.data(), 1, std::size_t{1} << 20);
                    }
                    headroom::trim_cache();
                    ASSERT_EQ(headroom::cached_bytes(), 0u);
                    ASSERT_EQ(headroom::reservations().size(), reservations) << "a reservation was leaked";
                }
            }
        }
    }
    EXPECT_GT(tried, 300);
    EXPECT_GT(thrown, 100);
    testing::Test::RecordProperty("tried", static_cast<int>(tried));
}

// Refused both pages and their return, the range holds an unknown part of them. It reports the error before it makes another call
// for them.
TEST(a_refusal_below_the_containers, is_reported_where_what_was_half_provided_is_not_taken_back) {
    for (const headroom_test::named_policy& policy : headroom_test::all_policies) {
        if (policy.policy.which() == headroom::commit_policy::kind::prefault_ahead) continue;    // its helper makes calls too
        for (std::uint64_t k = 1;; ++k) {
            SCOPED_TRACE(std::string(policy.name) + ", from system call " + std::to_string(k) + " on");
            headroom::trim_cache();
            headroom::reservation range(std::size_t{16} << 20, policy.policy);
            headroom::testing::fail_system_call(k, ENOMEM, afterwards::keep_failing);
            const std::error_code error = range.commit_to(std::size_t{1} << 20);
            if (headroom::testing::stop_failing() < k) break;
            EXPECT_EQ(error, std::errc::not_enough_memory);
            ASSERT_FALSE(range.commit_to(std::size_t{1} << 20));
            std::memset(range.data(), 1, std::size_t{1} << 20);
        }
    }
}

}    // namespace
