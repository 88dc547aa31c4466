// What the first vector of a process asks of the system: no more than it needs.
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

// The limits of its control group were read at the first drop, from five files. They matter once much is to be kept.
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

// That its page is provided by a call of its own would take twice as long as its first touch does.
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
