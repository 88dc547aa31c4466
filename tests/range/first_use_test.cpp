// SPDX-License-Identifier: MIT
// The first vector of a process makes only the system calls that it needs.
// Labels: linux posix no-valgrind no-sanitizer
#include <gtest/gtest.h>

#include <sys/syscall.h>

#include <memory>
#include <string>

#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>

#include "system/in_child.hpp"
#include "system/sandbox.hpp"

namespace {

// Limits of control groups are in five files. They are read only when much memory is to be cached.
TEST(the_first_vector_of_a_process, reads_no_files) {
    const int status = headroom_test::in_child([] {
        if (!headroom_test::end_at_calls({SYS_openat, SYS_read, SYS_membarrier})) return 77;
        for (int i = 0; i < 5; ++i) {
            headroom::settled_vector<int> v{1, 2, 3};
            if (v.back() != 3) return 1;
        }
        return 0;
    });
    if (status == 77) GTEST_SKIP() << "the system has no sandboxes";
    EXPECT_EQ(status, 0);
}

// Populating the first page by a system call takes twice as long as the page fault of its first touch.
template <class T>
int first_of_a_process() {
    headroom::testing::count_system_calls();
    {
        headroom::settled_vector<T> v;
        for (int i = 0; i < 3; ++i) v.emplace_back();
    }
    return headroom::testing::stop_failing() <= 3 ? 0 : 1;    // reserve, commit, release
}
TEST(the_first_vector_of_a_process, takes_three_calls) {
    EXPECT_EQ(headroom_test::in_child(first_of_a_process<int>), 0);
    EXPECT_EQ(headroom_test::in_child(first_of_a_process<std::string>), 0);
    EXPECT_EQ(headroom_test::in_child(first_of_a_process<std::unique_ptr<int>>), 0);
}

}    // namespace
