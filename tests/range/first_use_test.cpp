// What the first vector of a process asks of the system: no more than it needs.
// Labels: linux posix no-valgrind no-sanitizer
#include <gtest/gtest.h>

#include <sys/syscall.h>

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

TEST(the_first_vector_of_a_process, takes_a_few_calls) {
    EXPECT_EQ(headroom_test::in_child([] {
                  headroom::testing::count_system_calls();
                  { headroom::settled_vector<int> v{1, 2, 3}; }
                  return headroom::testing::stop_failing() <= 4 ? 0 : 1;    // reserve, commit, provide, release
              }),
              0);
}

}    // namespace
