// SPDX-License-Identifier: MIT
// The helper thread that populates memory ahead of writers.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

#include <headroom/reservation.hpp>
#include <headroom/testing.hpp>

#include "support/emulated.hpp"
#include "support/fill.hpp"
#include "system/resident.hpp"

namespace {

using headroom::reservation;
using headroom_test::fill;

constexpr std::size_t MiB = std::size_t{1} << 20;

// Waits until `bytes` are committed, for at most 20 seconds. False on timeout.
bool comes_to(const void* pointer, std::size_t bytes) {
    for (int i = 0; i < 20000; ++i) {
        if (headroom::owner_of(pointer)->committed >= bytes) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

TEST(prefault_ahead, commits_ahead_of_the_writer) {
    headroom::trim_cache();
    reservation range(256 * MiB, headroom::prefault_ahead(16 * MiB));
    fill(range, 5 * MiB, 1);
    EXPECT_TRUE(comes_to(range.data(), 16 * MiB));
}

// The pages are not only committed but resident. The second range finds the helper running.
TEST(prefault_ahead, provides_memory_ahead_of_the_writer) {
    if (headroom_test::emulated()) GTEST_SKIP() << "the emulator does not say what is resident";
    for (int round = 0; round < 2; ++round) {
        headroom::trim_cache();
        reservation range(256 * MiB, headroom::prefault_ahead(32 * MiB));
        fill(range, 5 * MiB, 1);
        bool there = false;
        for (int i = 0; i < 20000 && !there; ++i) {
            there = headroom_test::resident_bytes(range.data(), 32 * MiB) == 32 * MiB;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        EXPECT_TRUE(there) << "round " << round;
    }
}

TEST(prefault_ahead, of_more_than_there_is_provides_all) {
    headroom::trim_cache();
    reservation range(64 * MiB, headroom::prefault_ahead(SIZE_MAX));
    fill(range, 5 * MiB, 1);
    EXPECT_TRUE(comes_to(range.data(), 64 * MiB));
}

TEST(prefault_ahead, leaves_small_ranges_alone) {
    headroom::trim_cache();
    reservation range(256 * MiB, headroom::prefault_ahead());
    fill(range, MiB, 1);
    EXPECT_LE(headroom::owner_of(range.data())->committed, 2 * MiB);
}

TEST(prefault_ahead, keeps_what_is_written) {
    for (int round = 0; round < 3; ++round) {
        reservation range(256 * MiB, headroom::prefault_ahead(8 * MiB));
        fill(range, 64 * MiB, 0x77);
        for (std::size_t i = 0; i < 64 * MiB; i += 1001) ASSERT_EQ(range.data()[i], std::byte{0x77}) << i;
    }
}

TEST(prefault_ahead, ends_at_the_end_of_the_reservation) {
    reservation range(7 * MiB + 4096, headroom::prefault_ahead(64 * MiB));
    fill(range, 7 * MiB + 4096, 1);
    EXPECT_EQ(range.committed(), range.reserved());
    EXPECT_EQ(range.commit_to(range.reserved() + 1), std::errc::result_out_of_range);
}

TEST(prefault_ahead, a_range_may_die_or_shrink_while_the_helper_is_at_it) {
    for (int i = 0; i < 50; ++i) {
        reservation range(256 * MiB, headroom::prefault_ahead(32 * MiB));
        fill(range, 3 * MiB, 1);
        if (i % 2) range.decommit_from(MiB);
        if (i % 2) {
            EXPECT_EQ(headroom::owner_of(range.data())->committed, MiB);
            fill(range, 4 * MiB, 2);
        }
        if (i % 5 == 0) headroom::trim_cache();
    }
}

TEST(prefault_ahead, many_writers_share_one_helper) {
    std::vector<std::thread> writers;
    for (int t = 0; t < 4; ++t)
        writers.emplace_back([t] {
            for (int i = 0; i < 5; ++i) {
                reservation range(128 * MiB, headroom::prefault_ahead(8 * MiB));
                fill(range, 12 * MiB, static_cast<unsigned char>(t));
                for (std::size_t at = 0; at < 12 * MiB; at += 4096) ASSERT_EQ(range.data()[at], static_cast<std::byte>(t));
            }
        });
    for (auto& each : writers) each.join();
}

// A thread that trims locks ranges, too. A helper that waits behind it and the writer is woken all the same.
TEST(prefault_ahead, goes_on_while_other_threads_trim) {
    std::atomic<bool> done{false};
    std::vector<std::thread> trimmers;
    for (int i = 0; i < 2; ++i) {
        trimmers.emplace_back([&] {
            while (!done) {
                headroom::trim_cache();
                std::this_thread::sleep_for(std::chrono::microseconds(50));    // lets the writer run, also under Valgrind
            }
        });
    }
    for (int round = 0; round < 30; ++round) {
        reservation range(64 * MiB, headroom::prefault_ahead(8 * MiB));
        for (std::size_t bytes = MiB; bytes <= 48 * MiB; bytes += MiB) ASSERT_FALSE(range.commit_to(bytes));
        range.decommit_from(16 * MiB);
        for (std::size_t bytes = 17 * MiB; bytes <= 48 * MiB; bytes += MiB) ASSERT_FALSE(range.commit_to(bytes));
    }
    done = true;
    for (std::thread& each : trimmers) each.join();
    // The helper still works: it is ahead of a new writer.
    reservation range(256 * MiB, headroom::prefault_ahead(16 * MiB));
    ASSERT_FALSE(range.commit_to(4 * MiB));
    EXPECT_TRUE(comes_to(range.data(), 16 * MiB));
}

TEST(prefault_ahead, a_refusal_met_by_the_helper_is_met_by_the_writer_as_an_error) {
    headroom::trim_cache();
    reservation range(256 * MiB, headroom::prefault_ahead(8 * MiB));
    fill(range, 2 * MiB, 1);
    headroom::testing::fail_system_call(1, ENOMEM, headroom::testing::afterwards::keep_failing);
    std::error_code error;
    std::size_t reached = 0;
    for (std::size_t bytes = 2 * MiB + 1; !error && bytes < 128 * MiB; bytes += 64 << 10) {
        error = range.commit_to(bytes);
        if (!error) reached = bytes;
    }
    headroom::testing::stop_failing();
    EXPECT_EQ(error, std::errc::not_enough_memory);
    EXPECT_LT(reached, 128 * MiB);
    fill(range, 32 * MiB, 2);    // and goes on when the system has memory again
    EXPECT_EQ(range.data()[32 * MiB - 1], std::byte{2});
}

}    // namespace
