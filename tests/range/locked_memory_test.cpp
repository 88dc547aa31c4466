// A process that locks whatever it maps into memory.
// Labels: linux posix no-valgrind
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include <headroom/settled_vector.hpp>

#include "support/sanitizers.hpp"
#include "system/in_child.hpp"
#include "system/resident.hpp"

namespace {

struct held_open : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::commit_policy{}.held(headroom::holding::open);
};

TEST(locked_memory, is_not_the_whole_of_a_range_held_open) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "the sanitizer's own mappings would be locked as well";
    const int status = headroom_test::in_child([] {
        if (mlockall(MCL_FUTURE) != 0) return 77;
        headroom::settled_vector<int, held_open> v(headroom::max_elements{50'000'000});    // 200 MB
        v.push_back(1);
        const std::size_t resident = headroom_test::resident_bytes(v.data(), 200'000'000);
        v.resize(100'000, 5);
        return resident > (std::size_t{16} << 20) ? 1 : v.back() == 5 ? 0 : 2;
    });
    if (status == 77) GTEST_SKIP() << "this process may lock nothing";
    EXPECT_EQ(status, 0);
}

}    // namespace
