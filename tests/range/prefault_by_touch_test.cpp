// SPDX-License-Identifier: MIT
// The helper thread where the system has no call that populates pages: Linux before 5.14, gVisor, some filters.
// Labels: linux posix no-valgrind no-sanitizer
#include <gtest/gtest.h>

#include <sys/syscall.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include <headroom/reservation.hpp>

#include "support/emulated.hpp"
#include "support/fill.hpp"
#include "system/in_child.hpp"
#include "system/resident.hpp"
#include "system/sandbox.hpp"

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

// 0: pages ahead of the writer have memory, are counted as such, and read as zero.
int provides_pages_ahead_without_madvise(int error) {
    if (!headroom_test::refuse_calls({SYS_madvise}, error)) return 77;
    headroom::reservation range(256 * MiB, headroom::prefault_ahead(16 * MiB));
    const std::uint64_t before = headroom::statistics().faults_avoided;
    headroom_test::fill(range, 5 * MiB, 1);
    for (int i = 0; i < 20000; ++i) {
        // The writer committed at most 6 MiB for itself.
        if (headroom_test::resident_bytes(range.data() + 6 * MiB, 10 * MiB) == 10 * MiB &&
            headroom::statistics().faults_avoided - before >= 10 * MiB / headroom::page_size()) {
            headroom_test::fill(range, 16 * MiB, 1);
            return 0;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return 1;
}

TEST(prefault_ahead, touches_pages_where_no_call_populates_them) {
    if (headroom_test::emulated()) GTEST_SKIP() << "the emulator does not say what is resident";
    for (const int error : {EINVAL, ENOSYS, EPERM}) {
        const int status = headroom_test::in_child([=] { return provides_pages_ahead_without_madvise(error); });
        if (status == 77) GTEST_SKIP() << "the system has no sandboxes";
        EXPECT_EQ(status, 0) << error;
    }
}

}    // namespace
