// SPDX-License-Identifier: MIT
// What set_min_available_memory() admitted and what is not written yet counts as taken, on every thread, until it is given back. The files of
// /proc and /sys are made up, so that the available memory stays the same.
// Labels: linux posix no-valgrind
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include "support/scratch_folder.hpp"
#include "system/in_child.hpp"

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

class admission : public testing::Test {
protected:
    // 300 MiB are available, of which 100 may be taken.
    void SetUp() override {
        const std::filesystem::path file(root_ + "/proc/meminfo");
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << "MemTotal:       99999999 kB\nMemFree:        9999999 kB\nMemAvailable:   307200 kB\n";
        headroom::testing::pretend_system_files(root_.c_str());
        headroom::trim_cache();
        headroom::set_min_available_memory(200 * MiB);
    }
    void TearDown() override {
        headroom::set_min_available_memory(0);
        headroom::testing::pretend_system_files(nullptr);
    }

    // Longer than a reading is trusted.
    static void wait_for_another_reading() { std::this_thread::sleep_for(std::chrono::milliseconds(15)); }

private:
    headroom::testing_support::scratch_folder folder_;
    std::string root_ = folder_.file("root");
};

TEST_F(admission, of_many_threads_together_leaves_the_minimum) {
    constexpr std::size_t threads = 8;
    std::vector<headroom::reservation> ranges;
    for (std::size_t i = 0; i < threads; ++i) ranges.emplace_back(64 * MiB);
    std::atomic<std::size_t> admitted{0};
    std::vector<std::thread> all;
    for (std::size_t i = 0; i < threads; ++i) {
        all.emplace_back([&range = ranges[i], &admitted] {
            for (std::size_t bytes = 10 * MiB; bytes <= 60 * MiB; bytes += 10 * MiB) {
                wait_for_another_reading();
                if (!range.commit_untouched_to(bytes)) admitted += 10 * MiB;
            }
        });
    }
    for (std::thread& each : all) each.join();
    EXPECT_LE(admitted.load(), 100 * MiB);
    EXPECT_GE(admitted.load(), 90 * MiB);
}

TEST_F(admission, of_memory_given_back_is_forgotten) {
    for (int round = 0; round < 100; ++round) {
        headroom::reservation range(128 * MiB);
        ASSERT_FALSE(range.commit_untouched_to(80 * MiB)) << "round " << round;
        range.decommit_from(0);
        if (round % 10 == 0) wait_for_another_reading();
    }
}

TEST_F(admission, of_written_memory_is_forgotten) {
    // Written memory is missing from the next reading. The reading of this test stays the same.
    for (int round = 0; round < 20; ++round) {
        headroom::settled_vector<char> each(headroom::max_elements{128 * MiB});
        each.resize(80 * MiB, 'x');
        wait_for_another_reading();
        each.clear();
        each.shrink_to_fit();
        headroom::trim_cache();
    }
}

TEST_F(admission, refuses_a_vector_that_would_leave_too_little) {
    EXPECT_THROW(headroom::vector<char>(120 * MiB), std::bad_alloc);
    headroom::settled_vector<char> settled(headroom::max_elements{128 * MiB});
    EXPECT_THROW(settled.resize(120 * MiB), std::bad_alloc);
    EXPECT_NO_THROW(headroom::vector<char>(60 * MiB));
}

TEST_F(admission, refused_by_the_system_is_forgotten) {
    for (int round = 0; round < 100; ++round) {
        headroom::reservation range(128 * MiB);
        headroom::testing::fail_system_call(1, ENOMEM, headroom::testing::afterwards::keep_failing);
        const bool refused = static_cast<bool>(range.commit_untouched_to(90 * MiB));
        headroom::testing::stop_failing();
        ASSERT_TRUE(refused);
    }
    headroom::reservation range(128 * MiB);
    EXPECT_FALSE(range.commit_untouched_to(90 * MiB));
}

TEST_F(admission, of_a_named_range_is_forgotten_when_it_is_unmapped) {
    for (int round = 0; round < 20; ++round) {
        headroom::reservation range(128 * MiB);
        range.name("named");
        ASSERT_FALSE(range.commit_untouched_to(80 * MiB)) << "round " << round;
        wait_for_another_reading();
    }
}

TEST_F(admission, of_memory_that_is_released_late_takes_nothing_from_others) {
    headroom::reservation other(128 * MiB);
    ASSERT_FALSE(other.commit_untouched_to(40 * MiB));
    {
        headroom::reservation written(128 * MiB);
        ASSERT_FALSE(written.commit_to(MiB));    // populated: counted no longer
        ASSERT_FALSE(written.commit_to(50 * MiB));
    }
    headroom::trim_cache();
    wait_for_another_reading();
    headroom::reservation more(128 * MiB);
    EXPECT_TRUE(more.commit_untouched_to(70 * MiB)) << "40 MiB of another range are not written yet";
}

TEST_F(admission, of_another_minimum_still_counts_what_is_in_flight) {
    headroom::reservation one(128 * MiB);
    ASSERT_FALSE(one.commit_untouched_to(60 * MiB));
    headroom::set_min_available_memory(199 * MiB);
    headroom::reservation other(128 * MiB);
    EXPECT_TRUE(other.commit_untouched_to(60 * MiB));
}

TEST_F(admission, does_not_count_for_longer_than_it_says) {
    headroom::reservation one(128 * MiB);
    ASSERT_FALSE(one.commit_untouched_to(90 * MiB));
    std::this_thread::sleep_for(std::chrono::milliseconds(4200));
    headroom::reservation other(128 * MiB);
    EXPECT_FALSE(other.commit_untouched_to(90 * MiB));
}

TEST_F(admission, goes_on_in_a_forked_child) {
    EXPECT_EQ(headroom_test::in_child([] {
                  headroom::reservation range(128 * MiB);
                  if (range.commit_untouched_to(60 * MiB)) return 1;
                  wait_for_another_reading();
                  return headroom::reservation(128 * MiB).commit_untouched_to(60 * MiB) ? 0 : 2;
              }),
              0);
}

}    // namespace
