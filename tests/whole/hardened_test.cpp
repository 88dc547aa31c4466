// SPDX-License-Identifier: MIT
// Hardened: a broken precondition ends the program with a message; ranges are quarantined; memory shows no content of an earlier
// owner.
// Labels: no-valgrind
#define HEADROOM_HARDENED 1
#include <headroom/arena.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <typeinfo>
#include <vector>

#include "support/addresses.hpp"
#include "system/mapped.hpp"

namespace {

using headroom::settled_vector;
using headroom::vector;
using headroom_test::an_address;
using headroom_test::is_mapped;

struct mapped : headroom::vector_policy {
    static constexpr std::size_t map_threshold = 1;
};

template <class Vector>
class hardened : public testing::Test {};
using vectors =
    testing::Types<vector<int>, vector<std::string>, vector<int, std::allocator<int>, mapped>, settled_vector<int>,
                   settled_vector<std::string>, headroom::small_vector<int, 2>, headroom::small_vector<std::string, 8>>;
TYPED_TEST_SUITE(hardened, vectors);
using hardened_death = testing::Test;

const std::string vector_of = "vector of ";

TYPED_TEST(hardened, an_index_past_the_end_names_container_index_and_size) {
    TypeParam v(5);
    v.reserve(100);
    const std::string message = vector_of + "5 elements at " + an_address + ": operator\\[\\] of index ";
    EXPECT_DEATH(static_cast<void>(v[5]), message + "5: there is no such element");
    EXPECT_DEATH(static_cast<void>(std::as_const(v)[99]), message + "99");
    EXPECT_DEATH(static_cast<void>(v[~std::size_t{0}]), message + std::to_string(~std::size_t{0}));
    EXPECT_EQ(&v[4], v.data() + 4);
    EXPECT_EQ(&std::as_const(v)[0], v.data());
}

TYPED_TEST(hardened, the_ends_of_an_empty_vector_are_not_there) {
    TypeParam v(1);
    EXPECT_EQ(&v.front(), &v.back());
    v.pop_back();
    EXPECT_DEATH(static_cast<void>(v.front()), vector_of + "0 elements.*front\\(\\) of an empty container");
    EXPECT_DEATH(static_cast<void>(v.back()), vector_of + "0 elements.*back\\(\\) of an empty container");
    EXPECT_DEATH(static_cast<void>(std::as_const(v).front()), "front\\(\\) of an empty container");
    EXPECT_DEATH(static_cast<void>(std::as_const(v).back()), "back\\(\\) of an empty container");
    EXPECT_DEATH(v.pop_back(), vector_of + "0 elements.*pop_back\\(\\) of an empty container");
    EXPECT_FALSE(v.try_pop_back());
}

TYPED_TEST(hardened, a_position_outside_is_no_position) {
    using T = typename TypeParam::value_type;
    TypeParam v(5), other(5);
    v.reserve(100);
    const std::vector<T> some(3);
    const std::string message = vector_of + "5 elements at " + an_address + ": ";
    const std::string no_position = " at " + an_address + ", which is no position in it";
    EXPECT_DEATH(v.erase(v.end()), message + "erase\\(\\)" + no_position);
    EXPECT_DEATH(v.erase(other.begin()), message + "erase\\(\\)" + no_position);
    EXPECT_DEATH(v.erase(v.begin(), v.begin() + 6), message + "erase\\(\\)" + no_position);
    EXPECT_DEATH(v.erase(v.begin() + 2, v.begin() + 1), message + "erase\\(\\) of a range that ends before it begins");
    EXPECT_DEATH(v.insert(v.begin() + 6, T()), message + "insert\\(\\)" + no_position);
    EXPECT_DEATH(v.insert(v.begin() - 1, some.front()), message + "insert\\(\\)" + no_position);
    EXPECT_DEATH(v.insert(v.begin() + 6, 2, some.front()), message + "insert\\(\\)" + no_position);
    EXPECT_DEATH(v.insert(v.begin() + 6, some.begin(), some.end()), message + "insert\\(\\)" + no_position);
    EXPECT_DEATH(v.insert(other.begin(), {some.front()}), message + "insert\\(\\)" + no_position);
    EXPECT_DEATH(v.insert_range(v.end() + 1, some), message + "insert_range\\(\\)" + no_position);
    EXPECT_DEATH(v.emplace(other.end()), message + "emplace\\(\\)" + no_position);
    const auto between = reinterpret_cast<T*>(reinterpret_cast<char*>(v.data()) + 1);
    EXPECT_DEATH(v.erase(typename TypeParam::const_iterator(between)), message + "erase\\(\\)" + no_position);
    // The end of a moved-from vector is no position in it.
    const auto stale = v.cend();
    TypeParam taken(std::move(v));
    EXPECT_DEATH(v.insert(stale, T()), vector_of + "0 elements.*insert\\(\\)" + no_position);
}

TYPED_TEST(hardened, every_position_inside_is_one) {
    using T = typename TypeParam::value_type;
    TypeParam v;
    v.insert(v.end(), T());    // into an empty vector
    v.insert(v.begin(), 2, T());
    v.emplace(v.begin() + 1);
    EXPECT_EQ(v.erase(v.begin(), v.begin()) - v.begin(), 0);
    EXPECT_EQ(v.erase(v.end(), v.end()), v.end());
    v.erase(v.end() - 1);
    EXPECT_EQ(v.size(), 3U);
    v.erase(v.begin(), v.end());
    EXPECT_TRUE(v.empty());
}

TYPED_TEST(hardened, an_unchecked_append_needs_room) {
    TypeParam v(5);
    while (v.size() != v.capacity()) v.unchecked_emplace_back();
    const typename TypeParam::value_type value{};
    EXPECT_DEATH(v.unchecked_push_back(value), "an unchecked append past the capacity");
    EXPECT_DEATH(v.unchecked_emplace_back(), "an unchecked append past the capacity");
}

TYPED_TEST(hardened, overwriting_keeps_no_more_than_there_is) {
    TypeParam v(5);
    EXPECT_DEATH(v.resize_and_overwrite(10, [](auto*, std::size_t count) { return count + 1; }),
                 "resize_and_overwrite\\(\\) was told to keep 11 elements, more than it had given");
    v.resize_and_overwrite(10, [](auto*, std::size_t count) { return count; });
    EXPECT_EQ(v.size(), 10U);
}

TEST(hardened_death, the_message_has_the_name_of_the_vector) {
    settled_vector<int> v(5);
    v.name("points");
    EXPECT_DEATH(static_cast<void>(v[7]),
                 "settled_vector \"points\" of 5 elements at " + an_address + ": operator\\[\\] of index 7");
}

TEST(hardened_death, swapping_needs_equal_allocators) {
    std::pmr::monotonic_buffer_resource one, two;
    headroom::pmr::vector<int> a({1}, &one), b({2}, &two), c({3}, &one);
    EXPECT_DEATH(a.swap(b), "swap\\(\\) with one of another allocator");
    a.swap(c);
    EXPECT_EQ(a[0], 3);
}

TEST(hardened_death, an_arena_rewinds_to_where_it_has_been) {
    headroom::arena memory(std::size_t{1} << 20);
    const auto start = memory.mark();
    static_cast<void>(memory.allocate(100));
    const auto later = memory.mark();
    memory.rewind(start);
    EXPECT_DEATH(memory.rewind(later), "headroom: arena .*: rewind\\(\\) to a marker that lies ahead");
    memory.rewind(start);
    EXPECT_EQ(memory.used(), 0U);
}

// The containers work in constant evaluation.
static_assert([] {
    vector<int> v{1, 2, 3};
    v.insert(v.begin() + 1, 7);
    v.erase(v.begin());
    v.pop_back();
    return v[0] == 7 && v.front() == 7 && v.back() == 2;
}());

bool all_zero(const unsigned char* data, std::size_t count) {
    return std::all_of(data, data + count, [](unsigned char byte) { return byte == 0; });
}

// Cached and freed memory and the vector's own old elements hold old content, which must not show.
template <class Vector>
void nothing_shows() {
    constexpr std::size_t many = std::size_t{1} << 20;
    for (int round = 0; round < 40; ++round) {
        SCOPED_TRACE(round);
        Vector v;
        v.resize_default_init(many);
        ASSERT_TRUE(all_zero(v.data(), many));
        std::memset(v.data(), 0xAB, many);
        v.clear();
        ASSERT_TRUE(all_zero(v.append_default_init(many / 2), many / 2));
        std::memset(v.data(), 0xAB, many / 2);
        v.resize(many / 4);
        v.resize_and_overwrite(many, [](const unsigned char* data, std::size_t count) {
            EXPECT_TRUE(all_zero(data + many / 4, count - many / 4));
            return count;
        });
        std::memset(v.data(), 0xAB, many);
    }
}
TEST(hardened_memory, default_initialised_elements_are_zero) {
    nothing_shows<vector<unsigned char>>();
    nothing_shows<vector<unsigned char, std::allocator<unsigned char>, mapped>>();
    nothing_shows<settled_vector<unsigned char>>();
}

// Reservations and arenas hand out memory unmodified, so it must be clean.
TEST(hardened_memory, a_warm_range_holds_nothing_of_its_last_owner) {
    constexpr std::size_t bytes = std::size_t{1} << 18;
    const headroom::commit_policy guarded;
    bool warm = false;
    // The quarantine holds a range until 16 others are kept, so the cache must hold more than is in use at once.
    const std::size_t before = headroom::cache_limit();
    headroom::set_cache_limit(std::size_t{64} << 20);
    for (const headroom::commit_policy& policy : {guarded, headroom::page_by_page(), guarded.held(headroom::holding::open),
                                                  headroom::huge_pages(0), headroom::prefault_ahead(std::size_t{1} << 20)}) {
        headroom::trim_cache();
        headroom::reset_statistics();
        for (int round = 0; round < 40; ++round) {
            headroom::reservation range(16 * bytes, policy);
            ASSERT_FALSE(range.commit_to(bytes));
            auto* const data = reinterpret_cast<unsigned char*>(range.data());
            ASSERT_TRUE(all_zero(data, bytes)) << round;
            std::memset(data, 0xAB, bytes);
            ASSERT_FALSE(range.commit_to(4 * bytes));
            ASSERT_TRUE(all_zero(data + bytes, 3 * bytes)) << round;
        }
        warm = warm || headroom::statistics().cache_hits != 0;
    }
    EXPECT_TRUE(warm) << "no range was used again, so this has shown nothing";
    headroom::set_cache_limit(before);
}

// A destroyed vector's addresses are not reused until 16 others were released if it is kept with its memory, or 32 if without.
TEST(hardened_memory, the_addresses_of_a_dead_vector_rest) {
    const std::size_t before = headroom::cache_limit();
    for (const std::size_t limit : {before, std::size_t{0}}) {
        headroom::set_cache_limit(limit);
        std::set<const void*> seen;
        const void* first = nullptr;
        const int others = limit == 0 ? 32 : 16;
        for (int i = 0; i < others; ++i) {
            settled_vector<int> v(
                headroom::max_elements{100'000});    // small, since the quarantine shrinks when addresses are few
            v.resize(1000);
            EXPECT_TRUE(seen.insert(v.data()).second) << "after " << i << " others";
            if (first == nullptr) first = v.data();
            EXPECT_TRUE(is_mapped(first)) << "after " << i << " others";
        }
    }
    headroom::set_cache_limit(before);
}

TEST(hardened_memory, a_stale_pointer_faults) {
    for (const headroom::holding how : {headroom::holding::guarded, headroom::holding::open}) {
        volatile int* stale = nullptr;
        {
            settled_vector<int> v(headroom::max_elements{100'000}, headroom::commit_policy{}.held(how));
            v.resize(100'000);
            stale = v.data();
        }
        // without GoogleTest's signal handler in the child
        EXPECT_EXIT(
            {
                *stale = 1;
                std::exit(0);
            },
            [](int status) { return status != 0; }, "");
    }
}

TEST(hardened_memory, warm_memory_past_the_committed_part_faults) {
    bool warm = false;
    for (int i = 0; i < 40; ++i) settled_vector<int>(headroom::max_elements{100'000}).resize(100'000);
    headroom::reset_statistics();
    settled_vector<int> v(headroom::max_elements{100'000});
    v.resize(10);
    warm = headroom::statistics().cache_hits != 0;
    EXPECT_TRUE(warm) << "no range was used again, so this shows nothing";
    volatile int* const beyond = v.data() + 50'000;
    EXPECT_EXIT(
        {
            *beyond = 1;
            std::exit(0);
        },
        [](int status) { return status != 0; }, "");
}

// Each file of a program chooses its own variant of the functions.
TEST(hardened_names, are_not_those_of_other_files) {
#if defined(_MSC_VER)
    GTEST_SKIP() << "Microsoft's ABI has no tags";
#endif
    EXPECT_NE(std::string(typeid(vector<int>).name()).find("hardened"), std::string::npos);
    EXPECT_NE(std::string(typeid(settled_vector<int>).name()).find("hardened"), std::string::npos);
}

}    // namespace
