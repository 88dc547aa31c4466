// SPDX-License-Identifier: MIT
// The helper thread of prefault_ahead() does not disturb the program.
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <headroom/settled_vector.hpp>

#include "support/emulated.hpp"
#include "support/fill.hpp"
#include "system/in_child.hpp"

extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace {

using headroom::access;
using headroom::reservation;
using headroom_test::fill;
using headroom_test::in_child;

constexpr std::size_t MiB = std::size_t{1} << 20;

struct ahead : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::prefault_ahead(std::size_t{16} << 20);
};

// Starts the helper while no signal is blocked, then blocks one and waits for it.
TEST(the_helper_thread, takes_no_signal_of_the_program) {
    EXPECT_EQ(in_child([] {
                  alarm(20);
                  reservation range(64 * MiB, headroom::prefault_ahead(16 * MiB));
                  fill(range, 6 * MiB, 1);
                  sigset_t mine;
                  sigemptyset(&mine);
                  sigaddset(&mine, SIGUSR1);
                  sigaddset(&mine, SIGTERM);
                  if (sigprocmask(SIG_BLOCK, &mine, nullptr) != 0) return 1;
                  for (const int which : {SIGUSR1, SIGTERM, SIGUSR1}) {
                      if (kill(getpid(), which) != 0) return 2;    // to the process: any thread that does not block it
                      int received = 0;
                      if (sigwait(&mine, &received) != 0 || received != which) return 3;
                  }
                  return 0;
              }),
              0);
}

// Not instrumented: there is no element here, but the page must be accessible.
[[gnu::noinline, gnu::no_sanitize_address]] void write_past_the_elements(const volatile char* at) {
    *const_cast<volatile char*>(at) = 'b';
}

// The helper may have made pages accessible far ahead of the writer; memory committed after protect() is not protected.
TEST(the_helper_thread, leaves_what_is_appended_after_protecting_accessible) {
    for (int round = 0; round < 20; ++round) {
        headroom::settled_vector<char, ahead> v;
        v.resize(5 * MiB, 'a');
        v.protect(access::read_only);
        v.protect(access::read_write);
        v.protect(access::read_only);
        const std::size_t room = v.capacity();
        reservation other(64 * MiB, headroom::prefault_ahead(16 * MiB));
        fill(other, 8 * MiB, 2);
        // Past the capacity, so committed after the protection.
        v.reserve(room + 3 * MiB);
        write_past_the_elements(v.data() + room + 2 * MiB);
        v.protect(access::read_write);
        EXPECT_EQ(v[0], 'a');
    }
}

// The helper serves each range although others are protected meanwhile.
TEST(the_helper_thread, goes_on_providing_when_a_range_is_protected) {
    headroom::trim_cache();
    for (int round = 0; round < 20; ++round) {
        reservation range(64 * MiB, headroom::prefault_ahead(16 * MiB));
        fill(range, 5 * MiB, 1);
        EXPECT_FALSE(range.protect(access::read_only));
        EXPECT_FALSE(range.protect(access::read_write));
        fill(range, 9 * MiB, 1);
    }
    headroom::trim_cache();
    const std::uint64_t before = headroom::statistics().count(headroom::page_call::prefault);
    reservation range(64 * MiB, headroom::least_memory());
    fill(range, MiB, 1);
    const std::uint64_t now = headroom::statistics().count(headroom::page_call::prefault);
    if (before == 0) GTEST_SKIP() << "this system provides no memory in bulk";
    EXPECT_GT(now, before);
}

std::size_t threads_now() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/task")) ++count;
    return count;
}

// Lets the user create no more threads, or lifts that limit.
bool limit_threads(bool limited) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NPROC, &limit) != 0) return false;
    limit.rlim_cur = limited ? 1 : limit.rlim_max;
    return setrlimit(RLIMIT_NPROC, &limit) == 0;
}

// While no thread can be created, the writer populates its own pages and does not retry each time. Some MiB later there is a
// helper.
TEST(the_helper_thread, is_made_later_where_the_system_refused_it_at_first) {
    if (!std::filesystem::exists("/proc/self/task")) GTEST_SKIP() << "this system does not list threads";
    if (headroom_test::emulated()) GTEST_SKIP() << "the emulator has threads of its own";
    constexpr int cannot_be_tried = 77;
    const int status = in_child([] {
        alarm(60);
        constexpr uid_t nobody = 65534;    // limits do not apply to root
        if (geteuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0)) return cannot_be_tried;
        if (!limit_threads(true)) return cannot_be_tried;
        pthread_t probe;
        if (pthread_create(&probe, nullptr, [](void*) -> void* { return nullptr; }, nullptr) == 0) return cannot_be_tried;
        reservation range(512 * MiB, headroom::prefault_ahead(2 * MiB));
        const std::size_t threads = threads_now();
        const std::uint64_t refusals = headroom::statistics().refusals;
        errno = EDOM;
        fill(range, 64 * MiB, 1);       // about 30 batches
        if (errno != EDOM) return 6;    // the caller must not see the refused call's errno
        if (threads_now() != threads) return 1;
        const std::uint64_t refused = headroom::statistics().refusals - refusals;
        if (refused == 0) return 2;
        if (refused > 8) return 3;
        if (!limit_threads(false)) return 4;
        fill(range, 256 * MiB, 1);
        return threads_now() == threads + 1 ? 0 : 5;
    });
    if (status == cannot_be_tried) GTEST_SKIP() << "this user's threads cannot be limited";
    EXPECT_EQ(status, 0);
}

// The program exits while the helper is working.
TEST(the_helper_thread, does_not_hold_up_the_end_of_the_program) {
    for (int round = 0; round < 20; ++round) {
        EXPECT_EXIT(
            {
                alarm(20);
                static reservation* const kept = new reservation(std::size_t{256} << 20, headroom::prefault_ahead());
                fill(*kept, 5 * MiB, 1);
                exit(3);
            },
            testing::ExitedWithCode(3), "");
    }
}

}    // namespace
