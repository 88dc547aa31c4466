// SPDX-License-Identifier: MIT
// Global vectors are constant-initialized, before any dynamic initializer in any file.
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>

#include "settled_vector/settled_vector_static_test.hpp"

namespace headroom_test {

constinit headroom::settled_vector<int> global_here;
headroom::settled_vector<std::string> strings_here;

}    // namespace headroom_test

namespace {

using headroom::settled_vector;
using namespace headroom_test;

// Each file fills the other's vectors during startup: the first to run finds the other's file not yet initialized.
const bool filled_from_here = (fill(global_beside), fill(strings_beside), true);

struct room_for_1000 : headroom::settled_policy {
    static constexpr std::size_t default_reservation = 1000;
};

TEST(a_global_vector, keeps_what_an_initialiser_of_another_file_appended) {
    EXPECT_TRUE(filled_from_here);
    EXPECT_TRUE(is_filled(global_beside));
    EXPECT_TRUE(is_filled(strings_beside));
    EXPECT_TRUE(is_filled(global_here));
    EXPECT_TRUE(is_filled(strings_here));
}

TEST(an_empty_vector, owns_nothing_and_asks_the_system_for_nothing) {
    static_assert(std::is_nothrow_default_constructible_v<settled_vector<int>>);
    headroom::trim_cache();
    const std::size_t before = headroom::reservations().size();
    headroom::testing::count_system_calls();
    {
        settled_vector<int> v;
        EXPECT_EQ(v.data(), nullptr);
        EXPECT_EQ(v.capacity(), 0U);
        EXPECT_GT(v.max_size(), 0U);
        const settled_vector<int> copy(v);
        settled_vector<int> moved(std::move(v));
        moved.clear();
        moved.shrink_to_fit();
        moved.name(nullptr);
        moved = copy;
        EXPECT_EQ(headroom::reservations().size(), before);
    }
    EXPECT_EQ(headroom::testing::stop_failing(), 0U);
}

TEST(an_empty_vector, may_be_named_before_it_has_elements) {
    settled_vector<int> v;
    v.name("orders");
    v.push_back(1);
    EXPECT_EQ(headroom::owner_of(v.data())->name, "orders");
}

TEST(an_empty_vector, asks_for_no_less_than_its_first_elements_need) {
    headroom::trim_cache();
    headroom::testing::limit_address_space(std::size_t{48} << 20);
    const settled_vector<char> v(std::size_t{40} << 20, 'x');
    headroom::testing::limit_address_space(0);
    EXPECT_EQ(v.size(), std::size_t{40} << 20);
    EXPECT_EQ(v.back(), 'x');
}

// 2^30 elements and two flags do not fit into a 32-bit word.
struct a_gigabyte : headroom::settled_policy {
    static constexpr std::size_t default_reservation = std::size_t{1} << 30;
};
struct as_much_as_can_be_said : headroom::settled_policy {
    static constexpr std::size_t default_reservation = SIZE_MAX;
};

TEST(max_size_of_a_large_reservation, does_not_overflow) {
    EXPECT_EQ((settled_vector<char, a_gigabyte>().max_size()), std::size_t{1} << 30);
    EXPECT_GE((settled_vector<char, as_much_as_can_be_said>().max_size()), std::size_t{1} << 30);
    EXPECT_EQ((settled_vector<int, room_for_1000>().max_size()), 250U);
    settled_vector<char, a_gigabyte> v;
    v.push_back('x');
    EXPECT_GT(v.max_size(), 0U);
}

}    // namespace
