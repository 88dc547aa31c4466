// SPDX-License-Identifier: MIT
// set_min_available_memory(): a container or resource that grows until it is refused throws, keeps its elements, and can grow
// again once memory is free. Also with refusals by RLIMIT_DATA.
// A program of its own, because other tests would change the available memory.
// Labels: linux posix no-sanitizer no-valgrind alone
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <chrono>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <headroom/headroom.hpp>

#include "support/emulated.hpp"
#include "support/elements.hpp"
#include "system/in_child.hpp"

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

// Returns the available memory by /proc/meminfo and the limits of all control groups; 0 if unknown.
std::size_t available() {
    std::size_t least = 0;
    std::size_t most = std::size_t{1} << 46;
    if (!headroom::set_min_available_memory(most)) return 0;
    // Searches the largest minimum that leaves one MiB available.
    while (most - least > MiB) {
        const std::size_t middle = least + (most - least) / 2;
        headroom::set_min_available_memory(middle);
        headroom::trim_cache();    // cached memory is committed already
        headroom::reservation probe(2 * MiB, headroom::page_by_page());
        (probe.commit_to(MiB) ? most : least) = middle;
    }
    headroom::set_min_available_memory(0);
    return least;
}

// Appends one element at a time until it is refused. Returns the size.
template <class Container, class Make>
std::size_t fill(Container& c, Make make) {
    try {
        for (std::size_t i = c.size();; ++i) c.push_back(make(i));
    } catch (const std::bad_alloc&) {}
    return c.size();
}

// Repeats `grow` until it succeeds: the kernel counts released memory as available only after about a second.
template <class Grow>
void once_it_is_free(Grow grow) {
    for (int tries = 0; tries < 100; ++tries) {
        try {
            return grow();
        } catch (const std::bad_alloc&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }
    grow();
}

// Returns 0, or the number of the check that failed.
template <class Container, class Make>
int grows_until_refused(Make make, std::size_t least_bytes) {
    using T = typename Container::value_type;
    {
        Container c;
        const std::size_t reached = fill(c, make);
        if (reached * sizeof(T) < least_bytes) return 2;
        for (std::size_t i = 0; i < reached; ++i) {
            if (!(c[i] == make(i))) return 3;
        }
    }
    Container again;
    once_it_is_free([&] {
        while (again.size() * sizeof(T) < least_bytes) again.push_back(make(again.size()));
    });
    return again[again.size() / 2] == make(again.size() / 2) ? 0 : 4;
}
template <class Resource>
int allocates_until_refused(std::size_t bytes, std::size_t least_bytes) {
    for (const bool first : {true, false}) {
        Resource resource;
        std::vector<unsigned char*> blocks;
        blocks.reserve(std::size_t{1} << 23);
        const auto grow = [&] {
            while (first || blocks.size() * bytes < least_bytes) {
                auto* const block = static_cast<unsigned char*>(resource.allocate(bytes, 8));
                std::memset(block, static_cast<int>(blocks.size() % 251), bytes);
                blocks.push_back(block);
            }
        };
        try {
            first ? grow() : once_it_is_free(grow);
        } catch (const std::bad_alloc&) {}
        if (blocks.size() * bytes < least_bytes) return 2;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            for (std::size_t k = 0; k < bytes; k += 4096) {
                if (blocks[i][k] != i % 251) return 3;
            }
        }
        for (unsigned char* const each : blocks) resource.deallocate(each, bytes, 8);
    }
    return 0;
}

struct wide {
    std::size_t values[6];
    friend bool operator==(const wide& a, const wide& b) { return a.values[0] == b.values[0] && a.values[5] == b.values[5]; }
};

// Runs each container in a child with the limit set by `arm`. A killed child is a failure.
template <class Arm>
void every_kind_grows_until_refused(Arm arm, std::size_t least) {
    const auto ints = [](std::size_t i) { return static_cast<int>(i); };
    const auto strings = [](std::size_t i) { return std::to_string(i); };
    const auto wides = [](std::size_t i) { return wide{{i, 0, 0, 0, 0, i}}; };
    const auto in_child = [&](const char* what, auto run) {
        EXPECT_EQ(headroom_test::in_child([&] { return arm() ? run() : 1; }), 0) << what;
    };
    in_child("vector<wide>", [&] { return grows_until_refused<headroom::vector<wide>>(wides, least); });
    in_child("vector<string>", [&] { return grows_until_refused<headroom::vector<std::string>>(strings, least); });
    in_child("small_vector<wide>", [&] { return grows_until_refused<headroom::small_vector<wide, 8>>(wides, least); });
    in_child("settled_vector<int>", [&] { return grows_until_refused<headroom::settled_vector<int>>(ints, least); });
    in_child("settled_vector<string>",
             [&] { return grows_until_refused<headroom::settled_vector<std::string>>(strings, least); });
    in_child("concurrent_vector<wide>", [&] { return grows_until_refused<headroom::concurrent_vector<wide>>(wides, least); });
    for (const std::size_t block : {std::size_t{40}, std::size_t{5000}, std::size_t{100'000}, 3 * MiB}) {
        in_child("multipool", [&] { return allocates_until_refused<headroom::multipool_resource>(block, least); });
        in_child("synchronized",
                 [&] { return allocates_until_refused<headroom::synchronized_multipool_resource>(block, least); });
        in_child("monotonic", [&] { return allocates_until_refused<headroom::monotonic_resource>(block, least); });
        in_child("arena", [&] { return allocates_until_refused<headroom::arena_resource>(block, least); });
    }
}

TEST(available_memory, is_left_alone_by_what_grows) {
    if (headroom_test::emulated()) GTEST_SKIP() << "an emulator's memory is the machine's";
    if (available() < 1024 * MiB) GTEST_SKIP() << "too little is available, or nobody says how much";
    every_kind_grows_until_refused([] { return headroom::set_min_available_memory(available() - 320 * MiB); }, 16 * MiB);
}

TEST(available_memory, is_what_the_system_limits) {
    if (headroom_test::emulated()) GTEST_SKIP() << "an emulator keeps no limits";
    const auto limited = [] {
        const rlimit most{256 * MiB, 256 * MiB};
        return setrlimit(RLIMIT_DATA, &most) == 0;
    };
    every_kind_grows_until_refused(limited, 96 * MiB);
}

TEST(available_memory, of_one_large_request_is_looked_at_before_it_is_filled) {
    const std::size_t there = available();
    if (there < 1024 * MiB) GTEST_SKIP() << "too little is available, or nobody says how much";
    headroom::set_min_available_memory(there - 256 * MiB);
    headroom::vector<char> v{'a', 'b'};
    EXPECT_THROW(v.resize(600 * MiB), std::bad_alloc);
    EXPECT_EQ(v.size(), 2u);
    EXPECT_THROW(headroom::vector<char>(600 * MiB), std::bad_alloc);
    EXPECT_THROW((void)headroom::multipool_resource().allocate(600 * MiB), std::bad_alloc);
    v.resize(64 * MiB);
    headroom::set_min_available_memory(0);
    v.resize(600 * MiB);
    EXPECT_EQ(v[1], 'b');
}

// The charge of a failed construction is returned: if it stayed with the cached range, the next vector would escape the limit.
TEST(available_memory, that_was_charged_for_nothing_is_given_back) {
    if (available() == 0) GTEST_SKIP() << "nobody says how much is available";
    struct thrower {
        char bytes[64]{};
        explicit thrower(int) {}
        thrower() {
            if (--left() == 0) throw 1;
        }
        static int& left() {
            static int value = 0;
            return value;
        }
    };
    headroom::trim_cache();
    const headroom::settled_vector<char> beside(256 * MiB);    // so that the cache may keep memory
    {
        headroom::settled_vector<thrower> v;
        thrower::left() = 9;
        EXPECT_THROW(v.resize(100 * MiB / sizeof(thrower)), int);
    }
    headroom::set_min_available_memory(std::size_t{1} << 45);
    headroom::settled_vector<thrower> v;
    thrower::left() = 1 << 30;
    EXPECT_THROW(v.resize(90 * MiB / sizeof(thrower)), std::bad_alloc);
    headroom::set_min_available_memory(0);
    EXPECT_NO_THROW(v.resize(90 * MiB / sizeof(thrower)));
}

TEST(available_memory, is_not_asked_for_again_where_it_is_there_already) {
    const std::size_t there = available();
    if (there == 0) GTEST_SKIP() << "nobody says how much is available";
    headroom::settled_vector<char> v(64 * MiB, 'x');
    headroom::set_min_available_memory(there + there / 2);
    v.clear();
    EXPECT_NO_THROW(v.resize(64 * MiB, 'y'));
    EXPECT_THROW(v.reserve(200 * MiB), std::bad_alloc);
    headroom::set_min_available_memory(0);
    EXPECT_NO_THROW(v.reserve(200 * MiB));
}

}    // namespace
