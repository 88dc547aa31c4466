// SPDX-License-Identifier: MIT
// Names of vectors, found by a pointer and in the system's list of mappings.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include <headroom/pages.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

namespace {

using headroom::max_elements;
using headroom::settled_vector;

std::string name_of(const void* pointer) {
    const auto owner = headroom::owner_of(pointer);
    return owner ? owner->name : "nobody's";
}

bool listed(const std::string& name) {
    const auto all = headroom::reservations();
    return std::any_of(all.begin(), all.end(), [&](const headroom::owner& o) { return o.name == name; });
}

bool in_maps(const std::string& name) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find(name) != std::string::npos) return true;
    }
    return false;
}

// True if the system keeps names of mappings, which is an option of Linux.
bool system_keeps_names() {
    std::error_code error;
    const headroom::page_range range = headroom::reserve(headroom::page_size(), headroom::page_size(), error);
    const bool kept = !headroom::name(range, "probe") && in_maps("probe");
    (void)headroom::release(range);
    return kept;
}

TEST(a_name, is_what_owner_of_answers) {
    settled_vector<int> v{1, 2, 3};
    EXPECT_EQ(name_of(v.data()), "");
    v.name("particles");
    EXPECT_EQ(name_of(v.data()), "particles");
    EXPECT_EQ(name_of(&v[2]), "particles");
    v.name("other particles");
    EXPECT_EQ(name_of(v.data()), "other particles");
    v.name(nullptr);
    EXPECT_EQ(name_of(v.data()), "");
}

TEST(a_name, is_listed_among_the_reservations) {
    settled_vector<int> v{1, 2, 3};
    v.name("in the list");
    EXPECT_TRUE(listed("in the list"));
    v = settled_vector<int>();
    EXPECT_FALSE(listed("in the list"));
}

TEST(a_name, appears_in_the_systems_list_of_mappings) {
    if (!system_keeps_names()) GTEST_SKIP() << "the system keeps no names of mappings";
    settled_vector<int> v(100'000, 1);
    v.name("seen-from-outside");
    EXPECT_TRUE(in_maps("seen-from-outside"));
    settled_vector<int> w(std::move(v));
    EXPECT_TRUE(in_maps("seen-from-outside"));
    w = settled_vector<int>();
    EXPECT_FALSE(in_maps("seen-from-outside"));
}

TEST(a_name, covers_what_is_committed_later) {
    if (!system_keeps_names()) GTEST_SKIP() << "the system keeps no names of mappings";
    settled_vector<int> v;
    v.name("grows-later");
    EXPECT_TRUE(in_maps("grows-later"));
    v.resize(1'000'000);
    const auto last = reinterpret_cast<std::uintptr_t>(&v.back());
    std::ifstream maps("/proc/self/maps");
    bool covered = false;
    for (std::string line; std::getline(maps, line);) {
        const std::size_t dash = line.find('-');
        const auto from = std::stoull(line.substr(0, dash), nullptr, 16);
        const auto to = std::stoull(line.substr(dash + 1), nullptr, 16);
        if (from <= last && last < to) covered = line.find("grows-later") != std::string::npos;
    }
    EXPECT_TRUE(covered);
}

TEST(a_name, is_cut_to_79_bytes) {
    settled_vector<int> v{1};
    v.name(std::string(200, 'n').c_str());
    EXPECT_EQ(name_of(v.data()), std::string(79, 'n'));
}

TEST(a_name, goes_along_with_the_elements) {
    settled_vector<int> v{1, 2, 3};
    v.name("a");
    settled_vector<int> w{4};
    w.name("b");
    w.swap(v);
    EXPECT_EQ(name_of(w.data()), "a");
    EXPECT_EQ(name_of(v.data()), "b");
    settled_vector<int> taken(std::move(w));
    EXPECT_EQ(name_of(taken.data()), "a");
    taken.rehome(max_elements{10});
    EXPECT_EQ(name_of(taken.data()), "a");
}

TEST(a_name, is_not_copied_and_not_inherited_by_the_next_vector) {
    {
        settled_vector<int> v{1, 2, 3};
        v.name("mine alone");
        const settled_vector<int> copy(v);
        EXPECT_EQ(name_of(copy.data()), "");
    }
    const settled_vector<int> recycled{1, 2, 3};
    EXPECT_EQ(name_of(recycled.data()), "");
    EXPECT_FALSE(listed("mine alone"));
}

TEST(a_name, for_a_vector_that_owns_nothing_makes_it_reserve) {
    settled_vector<int> v{1};
    const settled_vector<int> taken(std::move(v));
    v.name(nullptr);
    EXPECT_EQ(v.data(), nullptr);
    v.name("for later");
    EXPECT_EQ(name_of(v.data()), "for later");
    EXPECT_EQ(taken.size(), 1U);
}

TEST(an_owner, ends_with_its_vector) {
    const int* dangling = nullptr;
    {
        const settled_vector<int> v{1, 2, 3};
        dangling = v.data();
        EXPECT_TRUE(headroom::owner_of(dangling));
    }
    EXPECT_FALSE(headroom::owner_of(dangling));
    EXPECT_FALSE(headroom::owner_of(nullptr));
}

TEST(an_owner, does_not_reach_past_its_reservation) {
    const settled_vector<int> v(max_elements{1000});
    const auto owner = headroom::owner_of(v.data());
    ASSERT_TRUE(owner);
    const auto* const base = static_cast<const std::byte*>(owner->base);
    EXPECT_TRUE(headroom::owner_of(base + owner->reserved - 1));
    EXPECT_FALSE(headroom::owner_of(base + owner->reserved));
    EXPECT_FALSE(headroom::owner_of(base - 1));
}

}    // namespace
