// SPDX-License-Identifier: MIT
// Page faults as a safety net: protected vectors, uncommitted pages, guards of a premapped range.
//
// Each death test prints to stderr before the forbidden access, so that an earlier death fails, and ends normally after it.
// Labels: no-valgrind
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

#include "support/elements.hpp"

namespace {

using headroom::access;
using headroom::max_elements;
using headroom::scoped_access;
using headroom::settled_vector;
using headroom_test::counted;
using headroom_test::numbers;

// For accesses that the compiler must not predict, nor AddressSanitizer report before the page faults.
#if defined(__clang__) || defined(__GNUC__)
#define UNCHECKED __attribute__((noinline, no_sanitize("address")))
#else
#define UNCHECKED
#endif

template <class T>
UNCHECKED void poke(T* where) {
    std::fputs("now", stderr);
    std::fflush(stderr);    // Windows buffers it when it goes to a file
    *static_cast<volatile unsigned char*>(static_cast<void*>(where)) = 1;
    std::_Exit(0);
}
template <class T>
UNCHECKED void peek(const T* where) {
    std::fputs("now", stderr);
    std::fflush(stderr);    // Windows buffers it when it goes to a file
    (void)*static_cast<const volatile unsigned char*>(static_cast<const void*>(where));
    std::_Exit(0);
}

TEST(a_read_only_vector, can_be_read) {
    settled_vector<int> v = headroom_test::filled<settled_vector<int>>(5000);
    v.protect(access::read_only);
    EXPECT_EQ(numbers(v), counted(5000));
    EXPECT_EQ(v.at(4999), 4999);
    EXPECT_EQ(v.current_access(), access::read_only);
}

TEST(a_read_only_vector, faults_on_a_write_to_any_page_of_it) {
    settled_vector<int> v = headroom_test::filled<settled_vector<int>>(5000);
    v.protect(access::read_only);
    EXPECT_DEATH(poke(&v.front()), "now");
    EXPECT_DEATH(poke(&v[2500]), "now");
    EXPECT_DEATH(poke(&v.back()), "now");
}

TEST(a_read_only_vector, can_be_written_again_when_it_is_made_so) {
    settled_vector<int> v = headroom_test::filled<settled_vector<int>>(5000);
    v.protect(access::read_only);
    v.protect(access::read_write);
    v[2500] = 7;
    v.push_back(5000);
    EXPECT_EQ(v[2500], 7);
    EXPECT_EQ(v.back(), 5000);
}

TEST(an_inaccessible_vector, faults_on_a_read_and_on_a_write) {
    settled_vector<int> v = headroom_test::filled<settled_vector<int>>(5000);
    v.protect(access::none);
    EXPECT_DEATH(peek(&v.front()), "now");
    EXPECT_DEATH(peek(&v.back()), "now");
    EXPECT_DEATH(poke(&v.front()), "now");
}

TEST(an_inaccessible_vector, keeps_its_elements) {
    settled_vector<std::string> v = headroom_test::filled<settled_vector<std::string>>(500);
    v.protect(access::none);
    EXPECT_EQ(v.size(), 500U);
    v.protect(access::read_write);
    EXPECT_EQ(numbers(v), counted(500));
}

TEST(scoped_access_to_a_vector, is_undone_at_the_end_of_the_scope) {
    settled_vector<int> v{1, 2, 3};
    {
        const scoped_access reading(v, access::read_only);
        EXPECT_EQ(v.current_access(), access::read_only);
        {
            const scoped_access nothing(v, access::none);
            EXPECT_DEATH(peek(&v.front()), "now");
        }
        EXPECT_EQ(v.current_access(), access::read_only);
        EXPECT_EQ(v[2], 3);
        EXPECT_DEATH(poke(&v.front()), "now");
    }
    EXPECT_EQ(v.current_access(), access::read_write);
    v[2] = 4;
    EXPECT_EQ(v[2], 4);
}

TEST(scoped_access_to_a_vector, is_undone_by_an_exception) {
    settled_vector<int> v{1, 2, 3};
    try {
        const scoped_access reading(v, access::read_only);
        (void)v.at(3);
    } catch (const std::out_of_range&) {}
    v[0] = 5;
    EXPECT_EQ(v[0], 5);
}

TEST(protection, of_a_vector_without_memory_does_nothing) {
    settled_vector<int> v;
    v.protect(access::read_only);
    v.protect(access::read_write);
    settled_vector<int> taken(std::move(v));
    v.protect(access::none);    // owns nothing
    EXPECT_EQ(v.current_access(), access::read_write);
    v.push_back(1);
    taken.push_back(2);
    EXPECT_EQ(v[0] + taken[0], 3);
}

TEST(protection, goes_along_when_the_vector_is_moved) {
    settled_vector<int> v{1, 2, 3};
    v.protect(access::read_only);
    settled_vector<int> w(std::move(v));
    EXPECT_EQ(w.current_access(), access::read_only);
    EXPECT_DEATH(poke(&w.front()), "now");
    v.push_back(1);
    EXPECT_EQ(v.size(), 1U);
}

// Destructors run on writable elements, and a cached range is writable for its next owner.
TEST(protection, ends_with_the_vector) {
    for (const access allowed : {access::read_only, access::none}) {
        {
            settled_vector<std::string> v = headroom_test::filled<settled_vector<std::string>>(300);
            v.protect(allowed);
        }
        settled_vector<std::string> again = headroom_test::filled<settled_vector<std::string>>(300);
        EXPECT_EQ(again.current_access(), access::read_write);
        EXPECT_EQ(numbers(again), counted(300));
    }
    // Without a destructor the elements are not written to at the end.
    for (const access allowed : {access::read_only, access::none}) {
        {
            settled_vector<int> v = headroom_test::filled<settled_vector<int>>(300);
            v.protect(allowed);
        }
        settled_vector<int> again = headroom_test::filled<settled_vector<int>>(300);
        EXPECT_EQ(again.current_access(), access::read_write);
        EXPECT_EQ(numbers(again), counted(300));
    }
}

// A stray write past the committed part faults.
TEST(past_the_committed_part, a_write_faults) {
    settled_vector<int> v(10);
    v.shrink_to_fit();
    v[v.size() - 1] = 1;
    EXPECT_DEATH(poke(v.data() + v.capacity()), "now");
    EXPECT_DEATH(poke(v.data() + v.capacity() + 100'000), "now");
    EXPECT_DEATH(poke(v.data() + v.max_size() - 1), "now");
    EXPECT_DEATH(peek(v.data() + v.capacity()), "now");
}

TEST(past_the_committed_part, what_was_given_back_faults_too) {
    settled_vector<int> v(1'000'000, 5);
    v.resize(10);
    v.shrink_to_fit();
    EXPECT_DEATH(peek(v.data() + 500'000), "now");
}
// hardened_test.cpp tests memory of destroyed vectors, which only hardened builds make inaccessible at once.

struct held_open : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::commit_policy{}.held(headroom::holding::open);
};
using open_vector = settled_vector<int, held_open>;

// False if the system cannot premap ranges, such as Windows: they are guarded then.
bool can_be_held_open() {
    const open_vector v(max_elements{1});
    return v.capacity() == v.max_size();
}

TEST(a_range_held_open, has_all_its_capacity_as_soon_as_there_is_a_range) {
    if (!can_be_held_open()) GTEST_SKIP() << "this system cannot hold ranges open";
    open_vector v;
    v.push_back(1);
    EXPECT_EQ(v.capacity(), v.max_size());
    open_vector exactly(max_elements{12345});
    EXPECT_EQ(exactly.capacity(), 12345U);
    EXPECT_EQ(exactly.max_size(), 12345U);
}

// The predecessor has no guard behind its reservation.
TEST(a_range_held_open, ends_in_a_guard) {
    const std::size_t count = 16 * headroom::page_size() / sizeof(int);    // whole pages, up to the guard
    open_vector v(max_elements{count});
    v.reserve(count);    // committed already, if it is premapped
    for (std::size_t i = 0; i < count; ++i) v.unchecked_push_back(static_cast<int>(i));
    EXPECT_EQ(numbers(v), counted(count));
    EXPECT_DEATH(poke(v.data() + count), "now");
    EXPECT_DEATH(peek(v.data() + count + 64 * 1024 / sizeof(int) - 1), "now");    // the guard's last bytes
    EXPECT_THROW(v.push_back(1), std::length_error);
}

TEST(a_range_held_open, begins_behind_a_guard) {
    open_vector v(max_elements{1000});
    v.push_back(1);
    EXPECT_DEATH(poke(v.data() - 1), "now");
}

TEST(a_range_held_open, has_guards_between_neighbours) {
    open_vector a;
    open_vector b;
    a.push_back(1);
    b.push_back(1);
    EXPECT_DEATH(poke(a.data() + a.max_size()), "now");
    EXPECT_DEATH(poke(b.data() + b.max_size()), "now");
}

TEST(a_range_held_open, shows_no_stale_values_when_it_is_recycled) {
    { open_vector v(1'000'000, 7); }
    open_vector v(1'000'000);
    for (std::size_t i = 0; i < v.size(); i += 500) ASSERT_EQ(v[i], 0);
}

TEST(a_range_held_open, gives_pages_back_and_can_be_protected) {
    const bool open = can_be_held_open();
    open_vector v(1'000'000, 7);
    v.resize(10);
    v.shrink_to_fit();
    EXPECT_EQ(v.capacity(), open ? v.max_size() : headroom::page_size() / sizeof(int));
    EXPECT_EQ(v[9], 7);
    v.protect(access::read_only);
    EXPECT_EQ(v[9], 7);
    EXPECT_DEATH(poke(&v[9]), "now");
    v.protect(access::read_write);
    v.resize(1000);
    EXPECT_EQ(v[999], 0);
}

}    // namespace
