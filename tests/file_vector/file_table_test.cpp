// SPDX-License-Identifier: MIT
// Tables of file columns with atomic rows, in one process: appends all or nothing when something throws or is refused, recovery
// after a crash between two columns, which files can be opened.
// Labels: posix
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <headroom/file_table.hpp>
#include <headroom/testing.hpp>

#include "support/filed.hpp"
#include "support/scratch_folder.hpp"

namespace {

using headroom::file_access;
using headroom::file_table;
using headroom::file_vector;
using headroom::max_elements;

struct place {
    using headroom_is_storable = std::true_type;
    const int x;    // not assignable
    short y;
};
using table = file_table<std::uint64_t, float, place, std::uint8_t>;
constexpr max_elements limit{1'000'000};

class a_file_table : public testing::Test {
protected:
    [[nodiscard]] table::paths files() const {
        return {folder_.file("id"), folder_.file("value"), folder_.file("place"), folder_.file("flag")};
    }
    static void append(table& to, std::size_t count) {
        for (std::size_t i = to.size(), end = i + count; i != end; ++i) append_row(to, i);
    }
    static void append_row(table& to, std::size_t i) {
        to.append(i, static_cast<float>(i), place{static_cast<int>(i), 7}, static_cast<std::uint8_t>(i));
    }
    static void expect_rows(const table& of, std::size_t count) {
        ASSERT_EQ(of.size(), count);
        ASSERT_EQ(of.column<0>().size(), count);
        ASSERT_EQ(of.column<3>().size(), count);
        for (std::size_t i = 0; i != count; ++i) {
            const auto& [id, value, where, flag] = of[i];
            ASSERT_TRUE(id == i && value == static_cast<float>(i) && where.x == static_cast<int>(i) && where.y == 7 &&
                        flag == static_cast<std::uint8_t>(i))
                << i;
        }
    }
    template <std::size_t I>
    [[nodiscard]] auto alone(file_access access = file_access::read_write) const {
        return file_vector<std::remove_cvref_t<std::tuple_element_t<I, table::const_reference>>>::open(files()[I], access, limit);
    }

    headroom::testing_support::scratch_folder folder_;
};

TEST_F(a_file_table, is_made_appended_to_committed_and_opened_again) {
    table rows = table::create(files(), limit);
    EXPECT_TRUE(rows.is_writer() && rows.empty());
    EXPECT_EQ(rows.max_size(), limit.value);
    append(rows, 3000);
    expect_rows(rows, 3000);
    EXPECT_EQ(rows.committed_size(), 0U);
    rows.commit();
    EXPECT_EQ(rows.committed_size(), 3000U);
    table reader = table::open(files(), file_access::read_only, limit);
    expect_rows(reader, 3000);
    append(rows, 100);
    expect_rows(reader, 3000);
    rows.publish();
    reader.refresh();
    expect_rows(reader, 3100);
    EXPECT_EQ(reader.committed_size(), 3000U);
    table moved = std::move(rows);
    append(moved, 5);
    moved.close();
    EXPECT_EQ(moved.size(), 0U);
    expect_rows(table::open(files(), file_access::read_write, limit), 3105);
}

TEST_F(a_file_table, takes_columns_of_rows_and_its_own_rows) {
    table rows = table::create(files(), limit);
    std::vector<std::uint64_t> ids;
    std::vector<float> values;
    std::vector<place> places;
    std::vector<std::uint8_t> flags;
    for (std::size_t i = 0; i != 500; ++i) {
        ids.push_back(i);
        values.push_back(static_cast<float>(i));
        places.push_back({static_cast<int>(i), 7});
        flags.push_back(static_cast<std::uint8_t>(i));
    }
    rows.append_columns(ids, values, places, flags);
    expect_rows(rows, 500);
    flags.pop_back();
    EXPECT_THROW(rows.append_columns(ids, values, places, flags), std::length_error);
    expect_rows(rows, 500);
    for (int i = 0; i != 5; ++i) std::apply([&](const auto&... values_of) { rows.append(values_of...); }, rows[3]);
    rows.append_columns(rows.column<0>(), rows.column<1>(), rows.column<2>(), rows.column<3>());
    ASSERT_EQ(rows.size(), 1010U);
    EXPECT_EQ(std::get<0>(rows[504]), 3U);
    EXPECT_EQ(std::get<2>(rows[1009]).x, 3);
    rows.truncate(500);
    expect_rows(rows, 500);
    rows.truncate(600);
    expect_rows(rows, 500);
}

TEST_F(a_file_table, has_the_rows_that_all_columns_have_and_its_writer_cuts_the_rest) {
    {
        table rows = table::create(files(), limit);
        append(rows, 100);
    }
    {
        auto longer = alone<0>();
        for (std::uint64_t i = 0; i != 50; ++i) longer.push_back(i);
        auto shorter = alone<2>();
        for (int i = 0; i != 20; ++i) shorter.pop_back();
    }
    const table reader = table::open(files(), file_access::read_only, limit);
    expect_rows(reader, 80);
    EXPECT_EQ(alone<0>(file_access::read_only).committed_size(), 150U) << "a reader cuts nothing";
    table rows = table::open(files(), file_access::read_write, limit);
    expect_rows(rows, 80);
    EXPECT_EQ(rows.committed_size(), 80U);
    EXPECT_EQ(alone<0>(file_access::read_only).committed_size(), 80U) << "before others take their places";
    append(rows, 30);
    expect_rows(rows, 110);
    rows.truncate(90);
    EXPECT_EQ(rows.committed_size(), 80U) << "what was never committed need not be waited for";
    rows.truncate(70);
    EXPECT_EQ(rows.committed_size(), 70U);
    EXPECT_EQ(alone<3>(file_access::read_only).committed_size(), 70U);
}

TEST_F(a_file_table, appends_nothing_where_a_column_is_full) {
    static_cast<void>(table::create(files(), limit));
    table rows(alone<0>(), alone<1>(), file_vector<place>::open(files()[2], file_access::read_write, max_elements{10}),
               alone<3>());
    EXPECT_EQ(rows.max_size(), 10U);
    append(rows, 10);
    EXPECT_THROW(append_row(rows, 10), std::length_error);
    const std::vector<std::uint8_t> one(1);
    EXPECT_THROW(rows.append_columns(rows.column<0>(), rows.column<1>(), rows.column<2>(), rows.column<3>()), std::length_error);
    expect_rows(rows, 10);
    auto columns = std::move(rows).take();
    EXPECT_EQ(std::get<0>(columns).size(), 10U);
    EXPECT_EQ(std::get<3>(columns).size(), 10U);
    EXPECT_EQ(rows.size(), 0U);
}

TEST_F(a_file_table, appends_nothing_where_the_system_refuses_any_call) {
    table rows = table::create(files(), limit);
    std::size_t size = 0, refused = 0;
    for (std::uint64_t k = 1; k <= 12; ++k) {
        for (const bool many : {false, true}) {
            // So that each of the columns is full in turn.
            while (size % 1024 != (k % 4 == 0 ? 0U : k * 80)) append_row(rows, size++);
            const std::vector<std::uint64_t> ids(static_cast<std::size_t>(300'000 / k));
            const std::vector<float> values(ids.size());
            const std::vector<place> places(ids.size(), place{1, 1});
            const std::vector<std::uint8_t> flags(ids.size());
            headroom::testing::fail_system_call(k, ENOSPC, headroom::testing::afterwards::keep_failing);
            try {
                if (many) {
                    rows.append_columns(ids, values, places, flags);
                } else {
                    for (int i = 0; i != 300'000; ++i) append_row(rows, rows.size());
                }
            } catch (const headroom::refused&) {
                ++refused;
            }
            headroom::testing::stop_failing();
            const auto& [a, b, c, d] = std::tuple(rows.column<0>(), rows.column<1>(), rows.column<2>(), rows.column<3>());
            ASSERT_TRUE(a.size() == rows.size() && b.size() == rows.size() && c.size() == rows.size() && d.size() == rows.size());
            rows.truncate(size);
            expect_rows(rows, size);
            rows.commit();
        }
    }
    EXPECT_GT(refused, 8U);
    auto columns = std::move(rows).take();
    EXPECT_EQ(std::get<0>(columns).size(), size);
    EXPECT_EQ(std::get<1>(columns).size(), size);
    EXPECT_EQ(std::get<2>(columns).size(), size);
    EXPECT_EQ(std::get<3>(columns).size(), size);
}

TEST_F(a_file_table, whose_commit_is_refused_is_whole_when_it_is_opened_again) {
    int failed = 0;
    for (std::uint64_t k = 1; k <= 24; ++k) {
        SCOPED_TRACE(k);
        table rows = k == 1 ? table::create(files(), limit) : table::open(files(), file_access::read_write, limit);
        const std::size_t before = rows.size();
        append(rows, 100);
        headroom::testing::fail_system_call(k, EIO);
        bool refused = false;
        try {
            rows.commit();
        } catch (const headroom::file_error&) {
            refused = true;
        }
        headroom::testing::stop_failing();
        refused = refused && !rows.is_writer();    // otherwise it can be repeated
        failed += refused ? 1 : 0;
        if (refused) {
            EXPECT_THROW(rows.commit(), headroom::file_error);
            EXPECT_THROW(append_row(rows, rows.size()), headroom::file_error);
            expect_rows(rows, before + 100);
            EXPECT_THROW(rows.close(), headroom::file_error);
        } else {
            rows.close();
        }
        const table again = table::open(files(), file_access::read_write, limit);
        expect_rows(again, refused ? again.size() : before + 100);
        EXPECT_GE(again.size(), before);
        EXPECT_LE(again.size(), before + 100);
    }
    EXPECT_GT(failed, 8);
}

TEST_F(a_file_table, of_which_some_files_were_made_is_made_and_one_with_rows_is_not) {
    static_cast<void>(file_vector<float>::create(files()[1], limit));    // as a crash may leave it
    {
        table rows = table::create(files(), limit);
        append(rows, 3);
    }
    EXPECT_THROW(table::create(files(), limit), headroom::file_error);
    expect_rows(table::open(files(), file_access::read_only, limit), 3);
    std::filesystem::remove(files()[2]);
    EXPECT_THROW(table::open(files(), file_access::read_write, limit), headroom::file_error);
    EXPECT_EQ(alone<0>().size(), 3U) << "a column that is missing is no reason to cut the others";
}

TEST_F(a_file_table, with_a_new_column_cuts_nothing_of_the_others_for_it) {
    {
        table rows = table::create(files(), limit);
        append(rows, 5);
    }
    for (const bool committed_once : {true, false}) {
        SCOPED_TRACE(committed_once);
        const auto all_but = [&](std::size_t rows) {
            EXPECT_EQ(alone<0>().committed_size(), 5U);
            EXPECT_EQ(alone<1>().committed_size(), rows);
            EXPECT_EQ(alone<2>().committed_size(), 5U);
            EXPECT_EQ(alone<3>().committed_size(), 5U);
        };
        std::filesystem::remove(files()[1]);
        {
            auto fresh = file_vector<float>::create(files()[1], limit);
            EXPECT_THROW(table(alone<0>(), std::move(fresh), alone<2>(), alone<3>()), std::invalid_argument);
        }
        all_but(0);
        EXPECT_THROW(table::open(files(), file_access::read_write, limit), std::invalid_argument);
        EXPECT_THROW(table::create(files(), limit), headroom::file_error);
        all_but(0);
        if (committed_once) {    // its own branch: the longer column is not the first
            auto other = alone<3>();
            other.push_back(5);
            other.commit();
            other.pop_back();
            other.commit();
        }
        auto fresh = alone<1>();
        for (int i = 0; i != 5; ++i) fresh.push_back(static_cast<float>(i));
        table rows(alone<0>(), std::move(fresh), alone<2>(), alone<3>());
        expect_rows(rows, 5);
        EXPECT_EQ(rows.committed_size(), 5U);
    }
}

TEST_F(a_file_table, whose_first_commit_was_interrupted_is_opened_without_rows) {
    for (std::uint64_t k = 5; k <= 16; ++k) {
        SCOPED_TRACE(k);
        for (const auto& each : files()) std::filesystem::remove(each);
        table rows = table::create(files(), limit);
        append(rows, 100);
        headroom::testing::fail_system_call(k, EIO, headroom::testing::afterwards::keep_failing);
        try {
            rows.commit();
        } catch (const headroom::file_error&) {}
        rows = table();
        headroom::testing::stop_failing();
        const table again = table::open(files(), file_access::read_write, limit);
        EXPECT_TRUE(again.size() == 0 || again.size() == 100) << again.size();
        expect_rows(again, again.size());
    }
}

TEST_F(a_file_table, of_which_no_column_is_cut_alone_whatever_is_refused) {
    int refused = 0, ended = 0;
    for (std::uint64_t k = 1; k <= 30; ++k) {
        SCOPED_TRACE(k);
        for (const auto& each : files()) std::filesystem::remove(each);
        table rows = table::create(files(), limit);
        append(rows, 100);
        rows.commit();
        headroom::testing::fail_system_call(k, EIO);
        bool threw = false;
        try {
            rows.truncate(20);
        } catch (const headroom::file_error&) {
            threw = true;
        }
        headroom::testing::stop_failing();
        refused += threw ? 1 : 0;
        expect_rows(rows, 20);
        try {
            append_row(rows, 20);
            EXPECT_LE(rows.committed_size(), 20U);
            const auto columns = std::move(rows).take();
            EXPECT_EQ(std::get<0>(columns).size(), 21U);
            EXPECT_EQ(std::get<1>(columns).size(), 21U);
            EXPECT_EQ(std::get<2>(columns).size(), 21U);
            EXPECT_EQ(std::get<3>(columns).size(), 21U);
            EXPECT_TRUE(std::get<0>(columns).committed_size() <= 20 && std::get<1>(columns).committed_size() <= 20 &&
                        std::get<2>(columns).committed_size() <= 20 && std::get<3>(columns).committed_size() <= 20)
                << "rows are appended over rows that the disk still has";
        } catch (const headroom::file_error&) {
            ++ended;
            EXPECT_FALSE(rows.is_writer());
        }
    }
    EXPECT_GT(refused, 8);
    EXPECT_EQ(ended, refused);
}

TEST_F(a_file_table, has_one_writer_and_is_written_to_in_all_columns_or_in_none) {
    table rows = table::create(files(), limit);
    append(rows, 4);
    rows.commit();
    EXPECT_THROW(table::open(files(), file_access::read_write, limit), headroom::file_error);
    table reader = table::open(files(), file_access::read_only, limit);
    EXPECT_FALSE(reader.is_writer());
    EXPECT_THROW(append_row(reader, 4), headroom::file_error);
    EXPECT_THROW(reader.commit(), headroom::file_error);
    expect_rows(reader, 4);
    rows.close();
    EXPECT_THROW(table(alone<0>(), alone<1>(file_access::read_only), alone<2>(), alone<3>()), std::invalid_argument);
    table none;
    EXPECT_EQ(none.size(), 0U);
    EXPECT_FALSE(none.is_writer());
    EXPECT_THROW(append_row(none, 0), std::length_error);
    none.publish();
    none.refresh();
    none.close();
}

}    // namespace
