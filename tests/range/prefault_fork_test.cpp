// SPDX-License-Identifier: MIT
// Forks of a process with the helper thread of prefault_ahead().
// Labels: posix thread
#include <gtest/gtest.h>

#include <headroom/reservation.hpp>

#include "support/fill.hpp"
#include "system/in_child.hpp"

// Lets ThreadSanitizer's child of a threaded process start threads.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace {

using headroom::reservation;
using headroom_test::fill;

constexpr std::size_t MiB = std::size_t{1} << 20;

TEST(prefault_ahead, a_forked_child_goes_on_without_the_helper_and_may_start_its_own) {
    reservation range(256 * MiB, headroom::prefault_ahead(8 * MiB));
    fill(range, 6 * MiB, 1);
    const int status = headroom_test::in_child([&] {
        fill(range, 48 * MiB, 2);
        reservation another(256 * MiB, headroom::prefault_ahead(8 * MiB));
        fill(another, 48 * MiB, 3);
        return range.data()[48 * MiB - 1] == std::byte{2} && another.data()[48 * MiB - 1] == std::byte{3} ? 0 : 1;
    });
    EXPECT_EQ(status, 0);
    fill(range, 48 * MiB, 4);
    EXPECT_EQ(range.data()[48 * MiB - 1], std::byte{4});
}

}    // namespace
