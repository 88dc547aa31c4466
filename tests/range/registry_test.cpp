// SPDX-License-Identifier: MIT
// owner_of() and reservations().
// Labels: core
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <headroom/reservation.hpp>

#include "support/addresses.hpp"

namespace {

using headroom::reservation;
using headroom_test::many_addresses;

constexpr std::size_t MiB = std::size_t{1} << 20;

void expect_both_ends_lead_to(const reservation& range) {
    for (const std::byte* const at : {range.data(), range.data() + range.reserved() - 1}) {
        const auto owner = headroom::owner_of(at);
        ASSERT_TRUE(owner);
        ASSERT_EQ(owner->base, range.data());
    }
    ASSERT_FALSE(headroom::owner_of(range.data() - 1));
}

TEST(owner_of, finds_the_reservation_of_every_byte_in_it_and_of_none_beside_it) {
    // In one segment of addresses, across two, and across gigabytes.
    for (const std::size_t bytes : {std::size_t{1}, MiB, 2 * MiB, 5 * MiB, (many_addresses ? 1024 : 900) * MiB,
                                    many_addresses ? std::size_t{5} << 30 : 700 * MiB}) {
        const reservation range(bytes);
        for (const std::size_t at : {std::size_t{0}, range.reserved() / 3, range.reserved() / 2, range.reserved() - 1}) {
            const auto owner = headroom::owner_of(range.data() + at);
            ASSERT_TRUE(owner) << bytes << " at " << at;
            EXPECT_EQ(owner->base, range.data());
            EXPECT_EQ(owner->reserved, range.reserved());
        }
        EXPECT_FALSE(headroom::owner_of(range.data() - 1));
        EXPECT_FALSE(headroom::owner_of(range.data() + range.reserved()));
    }
}

TEST(owner_of, tells_many_ranges_apart_that_do_not_start_alike) {
    headroom::trim_cache();
    std::vector<reservation> ranges;
    std::set<std::uintptr_t> starts;
    for (int i = 0; i < 100; ++i) {
        ranges.emplace_back(5 * MiB);
        starts.insert(reinterpret_cast<std::uintptr_t>(ranges.back().data()) % (2 * MiB));
    }
    EXPECT_GE(starts.size(), 4u);    // otherwise the last pages of all would compete for one TLB set
    for (const reservation& range : ranges) {
        ASSERT_NO_FATAL_FAILURE(expect_both_ends_lead_to(range));
        EXPECT_FALSE(headroom::owner_of(range.data() + range.reserved()));
    }
}

TEST(owner_of, knows_nothing_of_other_memory) {
    const int on_the_stack = 0;
    const auto on_the_heap = std::make_unique<int>(0);
    EXPECT_FALSE(headroom::owner_of(&on_the_stack));
    EXPECT_FALSE(headroom::owner_of(on_the_heap.get()));
    EXPECT_FALSE(headroom::owner_of(nullptr));
    EXPECT_FALSE(headroom::owner_of(reinterpret_cast<const void*>(~std::uintptr_t{0})));
}

TEST(owner_of, tells_what_is_committed_and_the_name) {
    reservation range(64 * MiB);
    range.name("orders of today");
    ASSERT_FALSE(range.commit_to(MiB));
    const auto owner = headroom::owner_of(range.data() + 17);
    ASSERT_TRUE(owner);
    EXPECT_EQ(owner->committed, range.committed());
    EXPECT_EQ(owner->name, "orders of today");
    range.name(nullptr);
    EXPECT_EQ(headroom::owner_of(range.data())->name, "");
}

TEST(owner_of, cuts_long_names) {
    reservation range(MiB);
    range.name(std::string(500, 'x').c_str());
    EXPECT_EQ(headroom::owner_of(range.data())->name, std::string(79, 'x'));
}

TEST(owner_of, forgets_a_reservation_that_died_warm_or_not) {
    const void* address = nullptr;
    {
        reservation range(64 * MiB);
        range.name("gone");
        address = range.data();
    }
    EXPECT_FALSE(headroom::owner_of(address));
    headroom::trim_cache();
    EXPECT_FALSE(headroom::owner_of(address));
}

TEST(owner_of, does_not_hand_the_name_of_a_dead_reservation_to_the_next) {
    {
        reservation range(64 * MiB);
        range.name("gone");
    }
    const reservation next(64 * MiB);
    EXPECT_EQ(headroom::owner_of(next.data())->name, "");
}

TEST(owner_of, is_safe_while_other_threads_reserve_and_release) {
    std::atomic<const std::byte*> shared{nullptr};
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 2000; ++i) {
                reservation range((static_cast<std::size_t>(i % 7) + 1) * MiB);
                range.name(i % 2 ? "odd" : "even");
                (void)range.commit_to(5000);
                shared.store(range.data());
                if (i % 64 == 0 && t == 0) headroom::trim_cache();
            }
        });
    std::uint64_t found = 0, asked = 0;
    std::thread reader([&] {
        // At least once: on a busy machine it may start when the others are done.
        do {
            ++asked;
            if (const auto owner = headroom::owner_of(shared.load())) {
                ++found;
                EXPECT_TRUE(owner->name == "odd" || owner->name == "even" || owner->name.empty());
                EXPECT_EQ(owner->reserved % MiB, 0u);
            }
            (void)headroom::reservations();
            (void)headroom::statistics();
        } while (!stop.load());
    });
    for (auto& each : threads) each.join();
    stop.store(true);
    reader.join();
    EXPECT_GT(asked, 0u);
}

// Ranges that come and go change the lists that a lookup follows, and reused control blocks change lists.
TEST(owner_of, finds_those_that_stay_while_others_of_many_sizes_come_and_go) {
    headroom::trim_cache();
    constexpr std::size_t sizes = 7;
    const auto size_of = [](std::size_t i) { return std::size_t{1} << (20 + i % sizes); };
    // Interleaved, so that those that stay are in the middle of lists and in lists of their own.
    std::vector<reservation> stay, go;
    for (std::size_t i = 0; i < 60; ++i) (i % 3 == 0 ? stay : go).emplace_back(size_of(i));
    go.clear();
    headroom::trim_cache();
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
        threads.emplace_back([&] {
            for (std::size_t i = 0; i < 3000; ++i) {
                std::vector<reservation> few;
                for (std::size_t k = 0; k <= i % 5; ++k) few.emplace_back(size_of(i + k));
                few.clear();
                headroom::trim_cache();
            }
        });
    std::thread reader([&] {
        do {
            for (const reservation& each : stay) ASSERT_NO_FATAL_FAILURE(expect_both_ends_lead_to(each));
        } while (!stop.load());
    });
    for (auto& each : threads) each.join();
    stop.store(true);
    reader.join();
}

TEST(reservations, lists_every_live_one) {
    const std::size_t before = headroom::reservations().size();
    std::vector<reservation> many;
    for (int i = 0; i < 200; ++i) {
        many.emplace_back(MiB);
        many.back().name(std::to_string(i).c_str());
    }
    const auto listed = headroom::reservations();
    EXPECT_EQ(listed.size(), before + 200);
    for (int i = 0; i < 200; ++i) {
        const auto found = std::find_if(listed.begin(), listed.end(),
                                        [&](const auto& each) { return each.base == many[static_cast<std::size_t>(i)].data(); });
        ASSERT_NE(found, listed.end());
        EXPECT_EQ(found->name, std::to_string(i));
    }
    many.clear();
    EXPECT_EQ(headroom::reservations().size(), before);
}

// maps lists the names with addresses, smaps with resident memory.
TEST(names, show_in_the_systems_lists_of_mappings_where_it_has_them) {
    reservation range(64 * MiB);
    ASSERT_FALSE(range.commit_to(MiB));
    std::memset(range.data(), 1, MiB);
    std::error_code error;
    const headroom::page_range probe = headroom::reserve(1, 1, error);
    ASSERT_FALSE(error);
    const bool kept = !headroom::name(probe, "probe");
    EXPECT_FALSE(headroom::release(probe));
    range.name("a name to be seen");
    EXPECT_EQ(headroom::owner_of(range.data())->name, "a name to be seen");
    for (const char* const list : {"/proc/self/maps", "/proc/self/smaps"}) {
        std::ifstream maps(list);
        std::size_t resident = 0;    // KiB, of the mappings with that name
        bool seen = false, ours = false;
        for (std::string line; std::getline(maps, line);) {
            const bool header = line.find('-') < line.find(' ');
            if (header) ours = line.find("a name to be seen") != std::string::npos;
            seen = seen || ours;
            if (ours && line.rfind("Rss:", 0) == 0) resident += std::stoul(line.substr(4));
        }
        EXPECT_EQ(seen, kept) << list;
        if (kept && std::string(list) == "/proc/self/smaps") {
            EXPECT_GE(resident, MiB / 1024);
        }
    }
    if (!kept) GTEST_SKIP() << "this system keeps no names of mappings: only owner_of and reservations() know ours";
}

}    // namespace
