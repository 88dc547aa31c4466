// SPDX-License-Identifier: MIT
// Labels: linux
// Ranges report their memory to a heap profiler; this program replaces heaptrack's functions.
#include <gtest/gtest.h>

#include <cstddef>
#include <map>

#include <headroom/arena.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

namespace {

std::map<const void*, std::size_t>& told() {
    static std::map<const void*, std::size_t> bytes_at;
    return bytes_at;
}

}    // namespace

// Stand for the profiler's own, which it preloads.
extern "C" {
void heaptrack_realloc(void* from, std::size_t bytes, void* to);
void heaptrack_free(void* data);
void heaptrack_realloc(void* from, std::size_t bytes, void* to) {
    told().erase(from);
    told()[to] = bytes;
}
void heaptrack_free(void* data) { told().erase(data); }
}

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

std::size_t told_of(const void* base) {
    const auto found = told().find(base);
    return found == told().end() ? 0 : found->second;
}

TEST(a_heap_profiler, knows_what_a_range_has_committed_at_all_times) {
    headroom::trim_cache();
    for (const headroom::commit_policy& policy : {headroom::commit_policy{}, headroom::page_by_page(), headroom::huge_pages()}) {
        headroom::reservation range(64 * MiB, policy);
        EXPECT_EQ(told_of(range.data()), range.committed());
        for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, MiB, 5 * MiB}) {
            ASSERT_FALSE(range.commit_to(bytes));
            EXPECT_EQ(told_of(range.data()), range.committed());
        }
        range.decommit_from(MiB);
        EXPECT_EQ(told_of(range.data()), MiB);
    }
    EXPECT_TRUE(told().empty());
}

TEST(a_heap_profiler, takes_memory_kept_warm_for_nobodys) {
    headroom::trim_cache();
    for (int i = 0; i < 3; ++i) {
        headroom::reservation range(64 * MiB);
        EXPECT_EQ(told_of(range.data()), range.committed());    // the second range starts with some memory
        ASSERT_FALSE(range.commit_to(8 * MiB));
        EXPECT_EQ(told_of(range.data()), range.committed());
        range = {};
        EXPECT_TRUE(told().empty());
    }
    headroom::set_cache_limit(MiB);    // less is kept than the next range leaves
    { headroom::settled_vector<char> v(5 * MiB, 'x'); }
    EXPECT_TRUE(told().empty());
    headroom::set_cache_limit(64 * MiB);
}

TEST(a_heap_profiler, sees_containers_and_arenas) {
    headroom::settled_vector<int> v(MiB, 1);
    EXPECT_GE(told_of(v.data()), 4 * MiB);
    headroom::arena memory(16 * MiB);
    (void)memory.allocate(3 * MiB);
    EXPECT_GE(told_of(memory.data()), 3 * MiB);
}

TEST(a_heap_profiler, is_not_told_of_ranges_held_open) {
    headroom::reservation range(64 * MiB, headroom::commit_policy{}.held(headroom::holding::open));
    if (range.committed() < range.reserved()) GTEST_SKIP() << "the system holds nothing open";
    EXPECT_EQ(told_of(range.data()), 0u);
}

}    // namespace
