// The helper thread of prefault_ahead() in a program that knows nothing of it.
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <headroom/settled_vector.hpp>

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

// The helper is made while no signal is blocked; then the program blocks one and waits for it.
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

// AddressSanitizer knows that there is no element; the test asks what the system lets us touch.
[[gnu::noinline, gnu::no_sanitize_address]] void write_past_the_elements(const volatile char* at) {
    *const_cast<volatile char*>(at) = 'b';
}

// The helper may have been granted rights far ahead of the writer; what the writer is given later is not protected.
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
        // Past the capacity: committed after the protection.
        v.reserve(room + 3 * MiB);
        write_past_the_elements(v.data() + room + 2 * MiB);
        v.protect(access::read_write);
        EXPECT_EQ(v[0], 'a');
    }
}

// Each range under prefault_ahead is provided for although others are protected meanwhile.
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

// A program that ends while the helper is in the middle of its work.
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
