// SPDX-License-Identifier: MIT
// Reads a process while it makes and destroys ranges, ends, or executes another program: a reading is correct or names a reason
// for failing. Also output of readings.
// Labels: tools linux no-valgrind
#include "maps/run.hpp"

#include <algorithm>
#include <set>

#include "reading.hpp"
#include "show.hpp"
#include "support/sanitizers.hpp"

namespace {

using namespace maps_test;
using headroom::tools::maps::amounts;
using headroom::tools::maps::compare;
using headroom::tools::maps::layout;
using headroom::tools::maps::live_range;
using headroom::tools::maps::problem;
using headroom::tools::maps::process;
using headroom::tools::maps::process_ended;
using headroom::tools::maps::read_ranges;
using headroom::tools::maps::reading;
using headroom::tools::maps::reason_of_refusal;
using headroom::tools::maps::short_bytes;
using headroom::tools::maps::text_of;

constexpr std::uint64_t mebibyte = 1 << 20;

nlohmann::json shown(const reading& what) { return nlohmann::json::parse(headroom::tools::maps::json_of(what, true)); }

TEST(while_ranges_come_and_go, every_reading_is_plausible) {
    const running program({subject("subject"), "churn", "4"});
    ASSERT_TRUE(program.is_ready());
    std::set<std::string> names{"", "steady"};
    for (char letter = 'a'; letter < 'e'; ++letter) names.insert("churn-" + std::string(60, letter));
    process from(program.id());
    std::size_t seen = 0, unsettled = 0;
    // AddressSanitizer maps terabytes, and a reading takes two hundred times as long.
    const std::size_t readings = headroom_test::address_sanitizer ? 50 : 1000;
    // On a busy machine the program may not run for a while: reads on until its other ranges were seen.
    for (std::size_t i = 0; i < readings || seen <= readings; ++i) {
        const reading found = read_ranges(from);
        const auto all = shown(found);
        ASSERT_EQ(nonsense_in(all), "") << all.dump();
        const auto steady = named(all, "steady");
        ASSERT_EQ(steady.size(), 1U) << "what stays is always there: " << all.dump();
        ASSERT_EQ(steady[0]["committed"], mebibyte);
        ASSERT_EQ(steady[0]["resident"].get<std::uint64_t>() + steady[0]["swapped"].get<std::uint64_t>(), mebibyte);
        for (const live_range& each : found.ranges) ASSERT_EQ(names.count(each.name), 1U) << "half a name: " << each.name;
        seen += found.ranges.size();
        unsettled += found.unsettled;
    }
    // A thread that is interrupted while it rewrites a block keeps that one from being read: of the four blocks, not of most ranges.
    EXPECT_LT(unsettled, seen) << "that a block cannot be read is to be an exception";
}

TEST(while_a_block_is_rewritten, it_is_read_whole_or_not_at_all) {
    const running program({subject("foreign"), "rewritten"});
    ASSERT_TRUE(program.is_ready());
    process from(program.id());
    std::set<std::string> seen;
    for (int i = 0; i < 300; ++i) {
        for (const live_range& each : read_ranges(from).ranges) {
            if (each.name == "elevenbytes") continue;    // the other block, or the first before its first change
            ASSERT_EQ(each.name, std::string(11, each.name[0]));
            ASSERT_EQ(each.has.reserved, each.name[0] == 'a' ? 131072U : 262144U) << each.name;
            seen.insert(each.name);
        }
    }
    EXPECT_EQ(seen.size(), 2U);
}

TEST(a_process_that_ends, while_it_is_read_is_said_to_have_ended) {
    int ended = 0;
    const int programs = headroom_test::address_sanitizer ? 8 : 40;
    for (int i = 0; i < programs; ++i) {
        running program({subject("subject"), "churn", "2"});
        ASSERT_TRUE(program.is_ready());
        process from(program.id());
        const pid_t killer = fork();
        if (killer == 0) {
            usleep(static_cast<useconds_t>(i * 150));
            kill(program.id(), SIGKILL);
            _exit(0);
        }
        try {
            for (;;) (void)read_ranges(from);
        } catch (const process_ended& end) {
            ++ended;
            EXPECT_NE(std::string(end.what()).find(program.number()), std::string::npos);
        } catch (const problem& other) {
            ADD_FAILURE() << other.what();
        }
        waitpid(killer, nullptr, 0);
    }
    EXPECT_EQ(ended, programs);
}

TEST(a_process_that_becomes_another, is_read_as_that_or_said_to_have_no_ranges) {
    for (int i = 0; i < 20; ++i) {
        const running program({subject("subject"), "becomes", "/bin/cat"});
        ASSERT_TRUE(program.is_ready());
        process from(program.id());
        EXPECT_EQ(read_ranges(from).ranges.size(), 1U);
        program.step();
        std::string why;
        while (why.empty()) {
            try {
                (void)read_ranges(from);
            } catch (const problem& found) {
                why = found.what();
            }
        }
        EXPECT_NE(why.find("does not contain Headroom"), std::string::npos) << why;
    }
}

TEST(a_process_that_stops, is_read) {
    const running program({subject("subject"), "churn", "3"});
    ASSERT_TRUE(program.is_ready());
    for (int i = 0; i < 20; ++i) {
        kill(program.id(), SIGSTOP);
        process from(program.id());
        const auto all = shown(read_ranges(from));
        EXPECT_EQ(nonsense_in(all), "") << all.dump();
        // A thread may have been stopped in the middle of a change.
        EXPECT_LE(all["unsettled"], 3);
        EXPECT_EQ(named(all, "steady").size(), 1U);
        kill(program.id(), SIGCONT);
    }
}

TEST(a_number, that_another_process_has_meanwhile_does_not_lead_there) {
    running program({subject("subject"), "grow"});
    ASSERT_TRUE(program.is_ready());
    process from(program.id());
    program.kill_and_wait();
    EXPECT_THROW((void)read_ranges(from), process_ended);
    EXPECT_TRUE(from.has_ended());
}

TEST(a_refusal, gives_its_reason) {
    EXPECT_NE(reason_of_refusal(0, 1000, "").find("belongs to user root"), std::string::npos);
    EXPECT_NE(reason_of_refusal(4'000'000'000, 1000, "").find("user number 4000000000"), std::string::npos);
    EXPECT_NE(reason_of_refusal(5, 5, "1\n").find("ptrace_scope is 1: only root may read it, or the process"), std::string::npos);
    EXPECT_NE(reason_of_refusal(5, 5, "2\n").find("ptrace_scope is 2: only root may"), std::string::npos);
    EXPECT_NE(reason_of_refusal(5, 5, "3\n").find("ptrace_scope is 3: nobody may"), std::string::npos);
    EXPECT_NE(reason_of_refusal(5, 5, "0\n").find("PR_SET_DUMPABLE"), std::string::npos);
    for (const unsigned owner : {0U, 5U}) {
        const std::string to_root = reason_of_refusal(owner, 0, "1\n");
        EXPECT_NE(to_root.find("root lacks the right"), std::string::npos) << to_root;
        EXPECT_EQ(to_root.find("root may read"), std::string::npos) << "which root has just tried";
    }
}

// --- from one reading to the next

live_range range_of(std::string name, std::uint64_t base, std::uint64_t committed) {
    live_range one;
    one.name = std::move(name);
    one.block = one.base = base;
    one.has.reserved = 1024 * mebibyte;
    one.has.committed = one.has.resident = committed;
    return one;
}
reading reading_of(double moment, std::vector<live_range> ranges) {
    reading made;
    made.moment = moment;
    made.id = 1;
    made.command = "program";
    for (const live_range& each : ranges) made.live += each.has;
    made.ranges = std::move(ranges);
    return made;
}

TEST(growth, is_what_was_committed_in_a_second) {
    const reading before = reading_of(10, {range_of("a", 1 << 21, 4 * mebibyte), range_of("b", 2 << 21, 8 * mebibyte)});
    reading now = reading_of(12, {range_of("a", 1 << 21, 10 * mebibyte), range_of("c", 3 << 21, 1 * mebibyte)});
    compare(now, before);
    EXPECT_DOUBLE_EQ(*now.ranges[0].has.growth, 3.0 * mebibyte);
    EXPECT_DOUBLE_EQ(*now.ranges[1].has.growth, 0.5 * mebibyte) << "what is new grew from nothing";
    EXPECT_DOUBLE_EQ(*now.live.growth, -0.5 * mebibyte) << "what is gone counts in the total";
}

TEST(growth, of_a_name_is_that_of_all_its_ranges) {
    const reading before = reading_of(1, {range_of("a", 1 << 21, 4 * mebibyte), range_of("a", 2 << 21, 8 * mebibyte)});
    reading now = reading_of(2, {range_of("a", 1 << 21, 6 * mebibyte), range_of("a", 2 << 21, 7 * mebibyte)});
    compare(now, before);
    layout how;
    how.growth = true;
    EXPECT_NE(text_of(now, how).find("+1.00M"), std::string::npos) << text_of(now, how);
}

// --- as text

std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        widest = std::max(widest, end - at);
        at = end + 1;
    }
    return widest;
}

TEST(the_table, fits_into_80_columns_whatever_the_names_and_numbers) {
    reading large = reading_of(0, {});
    large.command = std::string(15, 'x');
    large.tables.resize(3);
    for (auto& each : large.tables) each.library = "v10_11";
    for (std::uint64_t i = 0; i < 300; ++i) {
        live_range one = range_of(std::string(79, static_cast<char>('!' + i % 90)), (i + 1) << 38, (std::uint64_t{1} << 50) - i);
        one.has.reserved = (std::uint64_t{1} << 50);
        one.has.swapped = 1023 * mebibyte;
        one.has.growth = i % 2 == 0 ? 1.2e15 : -1.2e15;
        large.live += one.has;
        large.ranges.push_back(one);
    }
    for (const bool each : {false, true}) {
        for (const bool growth : {false, true}) {
            layout how;
            how.each = each;
            how.growth = growth;
            EXPECT_LE(widest_line(text_of(large, how)), how.width) << text_of(large, how).substr(0, 500);
        }
    }
}

TEST(the_table, is_cut_to_the_rows_there_are) {
    std::vector<live_range> ranges;
    for (std::uint64_t i = 1; i <= 50; ++i) ranges.push_back(range_of("n" + std::to_string(i), i << 30, (100 - i) * mebibyte));
    layout how;
    how.most_rows = 10;
    const std::string text = text_of(reading_of(0, ranges), how);
    EXPECT_NE(text.find("\nn9 "), std::string::npos) << text;
    EXPECT_EQ(text.find("\nn10 "), std::string::npos);
    EXPECT_NE(text.find("\nand 41 more\n"), std::string::npos);
    EXPECT_NE(text.find("\ntotal "), std::string::npos) << "the total is of all";
    how.most_rows = 50;
    EXPECT_EQ(text_of(reading_of(0, ranges), how).find(" more\n"), std::string::npos);
}

TEST(the_table, of_a_process_without_ranges_says_so_by_zeros) {
    const std::string text = text_of(reading_of(0, {}), {});
    EXPECT_NE(text.find("\ntotal           0        0         0        0       0    -\n"), std::string::npos) << text;
}

TEST(bytes, are_written_with_three_digits_and_a_unit) {
    const auto tib = std::uint64_t{1} << 40;
    const std::vector<std::pair<std::uint64_t, std::string>> known{{0, "0"},
                                                                   {1, "1B"},
                                                                   {1023, "1023B"},
                                                                   {1024, "1.00K"},
                                                                   {4096, "4.00K"},
                                                                   {10 * 1024, "10.0K"},
                                                                   {100 * 1024, "100K"},
                                                                   {1023 * 1024, "1023K"},
                                                                   {mebibyte, "1.00M"},
                                                                   {3 * mebibyte / 2, "1.50M"},
                                                                   {64 * tib, "64.0T"},
                                                                   {UINT64_MAX, "16.0E"}};
    for (const auto& [number, text] : known) EXPECT_EQ(short_bytes(number), text);
    for (std::uint64_t number = 1; number < (std::uint64_t{1} << 60); number += number / 37 + 1)
        ASSERT_LE(short_bytes(number).size(), 5U) << number;
}

}    // namespace
