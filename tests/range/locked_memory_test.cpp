// SPDX-License-Identifier: MIT
// A process that locks all its mappings into memory by mlockall().
// Labels: linux posix no-valgrind
#include <gtest/gtest.h>

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <new>

#include <headroom/file_vector.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include "support/sanitizers.hpp"
#include "support/scratch_folder.hpp"
#include "system/in_child.hpp"
#include "system/resident.hpp"

namespace {

struct held_open : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::commit_policy{}.held(headroom::holding::open);
};

// True if `bytes` can be mapped, with all of it locked.
bool may_map(std::size_t bytes) {
    void* const probe = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe != MAP_FAILED) munmap(probe, bytes);
    return probe != MAP_FAILED;
}

// Drops the right to lock more than 8 MiB and calls mlockall(). False if the system does not enforce the limit.
bool lock_as_a_user_may() {
    constexpr std::size_t limit = std::size_t{8} << 20;
    const rlimit wanted{limit, limit};
    if (setrlimit(RLIMIT_MEMLOCK, &wanted) != 0) return false;
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct held[2]{};
    if (syscall(SYS_capget, &head, held) != 0) return false;
    held[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
    return syscall(SYS_capset, &head, held) == 0 && mlockall(MCL_FUTURE) == 0 && !may_map(16 * limit);
}

// Returns the result of `body` in a child, or 77 if the limit is not enforced.
template <class Body>
int as_a_user(Body body) {
    return headroom_test::in_child([&] { return lock_as_a_user_may() ? body() : 77; });
}
void expect_passed(int status) {
    if (status == 77) GTEST_SKIP() << "this process may lock nothing, or whatever it likes";
    EXPECT_EQ(status, 0);
}

template <class Operation>
bool is_refused(Operation operation) {
    try {
        operation();
    } catch (const headroom::refused&) {
        return true;
    }
    return false;
}

TEST(locked_memory, of_which_little_may_be_leaves_vectors_on_the_heap) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "the sanitizer's own mappings would be locked as well";
    expect_passed(as_a_user([] {
        headroom::vector<int> v;
        for (int i = 0; i < 400'000; ++i) v.push_back(i);    // 1.6 MB: moves to a range
        return v.back() == 399'999 && v[7] == 7 ? 0 : 1;
    }));
}

TEST(locked_memory, of_which_little_may_be_makes_default_reservations_smaller) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "the sanitizer's own mappings would be locked as well";
    expect_passed(as_a_user([] {
        headroom::settled_vector<int> v;
        for (int i = 0; i < 10'000; ++i) v.push_back(i);
        return v.back() == 9'999 ? 0 : 1;
    }));
}

TEST(locked_memory, of_which_little_may_be_refuses_what_has_a_size) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "the sanitizer's own mappings would be locked as well";
    const headroom::testing_support::scratch_folder folder;
    expect_passed(as_a_user([&] {
        if (!is_refused([] { headroom::settled_vector<int> v(headroom::max_elements{50'000'000}); })) return 1;
        if (!is_refused([] { headroom::settled_vector<int, held_open> v(headroom::max_elements{50'000'000}); })) return 2;
        if (!is_refused([] { headroom::reservation r(std::size_t{1} << 30); })) return 3;
        if (!is_refused([&] { headroom::file_vector<int>::create(folder.file("numbers"), headroom::max_elements{50'000'000}); }))
            return 4;
        headroom::settled_vector<int> after{1, 2, 3};
        return after.back() == 3 ? 0 : 5;
    }));
}

TEST(locked_memory, is_not_the_whole_of_a_range_held_open) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "the sanitizer's own mappings would be locked as well";
    const int status = headroom_test::in_child([] {
        if (mlockall(MCL_FUTURE) != 0 || !may_map(std::size_t{1} << 30)) return 77;
        headroom::settled_vector<int, held_open> v(headroom::max_elements{50'000'000});    // 200 MB
        v.push_back(1);
        const std::size_t resident = headroom_test::resident_bytes(v.data(), 200'000'000);
        v.resize(100'000, 5);
        return resident > (std::size_t{16} << 20) ? 1 : v.back() == 5 ? 0 : 2;
    });
    if (status == 77) GTEST_SKIP() << "this process may lock nothing, or little";
    EXPECT_EQ(status, 0);
}

}    // namespace
