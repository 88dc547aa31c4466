// SPDX-License-Identifier: MIT
// The library preserves errno whatever its system calls return: a vector may be destroyed between a failed call of the program
// and the line that reports it.
// Labels: linux posix no-valgrind
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <initializer_list>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include <headroom/arena.hpp>
#include <headroom/concurrent_vector.hpp>
#include <headroom/multipool.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include "support/emulated.hpp"
#include "support/sanitizers.hpp"
#include "system/in_child.hpp"
#include "system/sandbox.hpp"

namespace {

using headroom::access;
using headroom::max_elements;
using headroom::settled_vector;

struct held_open : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::commit_policy{}.held(headroom::holding::open);
};
struct filled_ahead : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::prefault_ahead(std::size_t{8} << 20);
};

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr int many = 1'500'000;    // 6 MB

template <class Vector>
void append(Vector& v, int count) {
    for (int i = 0; i < count; ++i) v.push_back(i);
}

// Returns the number of the step that changed errno, from 1, or 0. Refused steps may throw.
int who_changes_errno() {
    constexpr int ours = 4711;    // no error of a system
    int number = 0;
    int found = 0;
    const auto do_this = [&](auto work) {
        ++number;
        errno = ours;
        try {
            work();
        } catch (const std::bad_alloc&) {
        } catch (const std::system_error&) {}
        if (errno != ours && found == 0) {
            std::fprintf(stderr, "errno is %d after piece of work %d\n", errno, number);
            found = number;
        }
    };
    settled_vector<int> v;
    do_this([&] { append(v, many); });
    do_this([&] {
        v.resize(v.size() / 1000);
        v.shrink_to_fit();
    });
    do_this([&] { append(v, many); });
    do_this([&] { v.name("a name"); });
    do_this([&] { v.protect(access::read_only); });
    do_this([&] { v.protect(access::read_write); });
    do_this([&] { v.rehome(max_elements{2 * many}); });
    do_this([&] { const settled_vector<int> copy(v); });
    do_this([&] { v = settled_vector<int>(); });
    do_this([] {
        settled_vector<char> mostly_untouched;
        mostly_untouched.reserve(64 * mib);
        mostly_untouched.resize(10);
    });
    do_this([] {
        settled_vector<int, held_open> open(max_elements{1'000'000});
        append(open, 1000);
        open.shrink_to_fit();
    });
    do_this([] {
        settled_vector<int, filled_ahead> ahead;
        append(ahead, many);
    });
    do_this([] {
        headroom::vector<int> large(many);    // realloc may change errno, but not from this size on
        append(large, many);
    });
    do_this([] {
        headroom::arena memory;
        static_cast<void>(memory.try_allocate(mib));
        memory.reset();
        memory.trim();
    });
    do_this([] {
        headroom::multipool_resource blocks;
        void* const block = blocks.allocate(mib);
        blocks.deallocate(block, mib);
    });
    do_this([] {
        headroom::concurrent_vector<int> together;
        together.push_back(1);
        std::thread([&] { together.push_back(2); }).join();    // takes the lock from its owner
        together.push_back(3);
    });
    do_this([] {
        headroom::trim_cache();
        headroom::set_cache_limit(0);
    });
    return found;
}

int in_sandbox(std::initializer_list<long> calls, int error) {
    return headroom_test::in_child([=] { return headroom_test::refuse_calls(calls, error) ? who_changes_errno() : 77; });
}

TEST(errno_of_the_program, stays_as_it_was) { EXPECT_EQ(headroom_test::in_child(who_changes_errno), 0); }

TEST(errno_of_the_program, stays_as_it_was_where_the_system_refuses_wishes) {
    if (headroom_test::thread_sanitizer) GTEST_SKIP() << "the sanitizer needs these calls";
    for (const int error : {EPERM, ENOSYS, EINVAL, ENOMEM}) {
        for (const long call : headroom_test::wishes) {
            const int status = in_sandbox({call}, error);
            if (status == 77) GTEST_SKIP() << "no sandbox here";
            EXPECT_EQ(status, 0) << "call " << call << " answered " << error;
        }
        EXPECT_EQ(in_sandbox(headroom_test::wishes, error), 0) << error;
    }
}

TEST(errno_of_the_program, stays_as_it_was_where_the_system_refuses_all_rights) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "the sanitizer needs these calls";
    for (const int error : {EPERM, ENOMEM}) {
        const int status = in_sandbox({SYS_mprotect}, error);
        if (status == 77) GTEST_SKIP() << "no sandbox here";
        EXPECT_EQ(status, 0) << error;
    }
}

TEST(errno_of_the_program, stays_as_it_was_where_a_smaller_range_must_do) {
    EXPECT_EQ(headroom_test::in_child([] {
                  headroom::testing::limit_address_space(64 * mib);
                  return who_changes_errno();
              }),
              0);
}

}    // namespace
