// SPDX-License-Identifier: MIT
// Tables of columns by Arrow's C Stream Interface.
#include <headroom/arrow.hpp>

namespace {

using headroom::arrow_column;
using headroom::chunk_rows;

headroom::settled_vector<int> counting(int count) {
    headroom::settled_vector<int> made;
    for (int i = 0; i < count; ++i) made.push_back(i);
    return made;
}

struct read_table {
    std::vector<std::int64_t> rows;
    std::vector<int> numbers;
    std::vector<bool> flags;
    std::vector<std::string> names;
};

// Reads a stream of one int and one bool column, like another engine, and releases all.
read_table read(ArrowArrayStream& stream) {
    read_table result;
    ArrowSchema schema{};
    EXPECT_EQ(stream.get_schema(&stream, &schema), 0);
    EXPECT_STREQ(schema.format, "+s");
    for (std::int64_t i = 0; i < schema.n_children; ++i) result.names.emplace_back(schema.children[i]->name);
    for (;;) {
        ArrowArray chunk{};
        EXPECT_EQ(stream.get_next(&stream, &chunk), 0);
        if (chunk.release == nullptr) break;
        result.rows.push_back(chunk.length);
        const ArrowArray& numbers = *chunk.children[0];
        EXPECT_EQ(numbers.length, chunk.length);
        for (std::int64_t i = 0; i < numbers.length; ++i) {
            result.numbers.push_back(static_cast<const int*>(numbers.buffers[1])[chunk.offset + numbers.offset + i]);
        }
        if (chunk.n_children > 1) {
            const ArrowArray& flags = *chunk.children[1];
            for (std::int64_t i = 0; i < flags.length; ++i) {
                const auto bit = static_cast<std::size_t>(chunk.offset + flags.offset + i);
                result.flags.push_back(headroom::detail::bit_at(static_cast<const std::uint8_t*>(flags.buffers[1]), bit));
            }
        }
        chunk.release(&chunk);
    }
    schema.release(&schema);
    stream.release(&stream);
    EXPECT_EQ(stream.release, nullptr);
    return result;
}

TEST(arrow_table, columns_come_side_by_side_in_one_chunk) {
    headroom::bit_column flags;
    for (int i = 0; i < 10; ++i) flags.push_back(i % 3 == 0);
    ArrowArrayStream stream{};
    headroom::export_arrow_table(&stream, arrow_column("number", counting(10)), arrow_column("flag", std::move(flags)));
    const read_table table = read(stream);
    EXPECT_EQ(table.names, (std::vector<std::string>{"number", "flag"}));
    EXPECT_EQ(table.rows, std::vector<std::int64_t>{10});
    EXPECT_EQ(table.numbers[9], 9);
    EXPECT_TRUE(table.flags[9]);
}

TEST(arrow_table, chunks_cover_every_row_once) {
    for (const std::size_t rows : {1U, 3U, 5U, 9U, 10U, 11U}) {
        headroom::bit_column flags;
        for (int i = 0; i < 10; ++i) flags.push_back(i % 2 == 0);
        ArrowArrayStream stream{};
        headroom::export_arrow_table(&stream, chunk_rows(rows), arrow_column("number", counting(10)),
                                     arrow_column("flag", std::move(flags)));
        const read_table table = read(stream);
        ASSERT_EQ(table.numbers.size(), 10U);
        EXPECT_EQ(table.rows.size(), (10 + rows - 1) / rows);
        for (int i = 0; i < 10; ++i) {
            EXPECT_EQ(table.numbers[static_cast<std::size_t>(i)], i);
            EXPECT_EQ(table.flags[static_cast<std::size_t>(i)], i % 2 == 0);
        }
    }
}

TEST(arrow_table, a_chunk_outlives_its_stream) {
    ArrowArrayStream stream{};
    headroom::export_arrow_table(&stream, chunk_rows(4), arrow_column("number", counting(10)));
    ArrowArray chunk{};
    ASSERT_EQ(stream.get_next(&stream, &chunk), 0);
    chunk.release(&chunk);
    ASSERT_EQ(stream.get_next(&stream, &chunk), 0);
    stream.release(&stream);
    const ArrowArray& numbers = *chunk.children[0];
    EXPECT_EQ(static_cast<const int*>(numbers.buffers[1])[numbers.offset], 4);
    chunk.release(&chunk);
}

TEST(arrow_table, without_rows_is_one_empty_chunk) {
    ArrowArrayStream stream{};
    headroom::export_arrow_table(&stream, arrow_column("number", counting(0)));
    EXPECT_EQ(read(stream).rows, std::vector<std::int64_t>{0});
}

TEST(arrow_table, of_a_list_that_is_made_while_the_program_runs) {
    std::vector<arrow_column> columns;
    for (int i = 0; i < 20; ++i) columns.emplace_back("c" + std::to_string(i), counting(3));
    ArrowArrayStream stream{};
    headroom::export_arrow_table(&stream, columns, chunk_rows(2));
    columns.clear();
    ArrowSchema schema{};
    ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
    EXPECT_EQ(schema.n_children, 20);
    schema.release(&schema);
    stream.release(&stream);
}

TEST(arrow_table, what_does_not_fit_is_refused) {
    ArrowArrayStream stream{};
    EXPECT_THROW(headroom::export_arrow_table(&stream, arrow_column("a", counting(3)), arrow_column("b", counting(4))),
                 std::invalid_argument);
    EXPECT_THROW(headroom::export_arrow_table(&stream, chunk_rows(0), arrow_column("a", counting(3))), std::invalid_argument);
    EXPECT_THROW(headroom::export_arrow_table(&stream, std::vector<arrow_column>()), std::invalid_argument);
    EXPECT_THROW(headroom::export_arrow_table(nullptr, arrow_column("a", counting(3))), std::invalid_argument);
    EXPECT_EQ(stream.release, nullptr);
}

// A nullable struct column in a table is sliced by the struct's offset, not by those of its fields.
TEST(arrow_table, structs_with_nulls_are_cut_once) {
    headroom::bit_column there;
    for (int i = 0; i < 6; ++i) there.push_back(i != 4);
    std::vector<arrow_column> fields;
    fields.emplace_back("x", counting(6));
    ArrowArrayStream stream{};
    headroom::export_arrow_table(&stream, chunk_rows(4),
                                 arrow_column::record("point", std::move(fields)).nullable(std::move(there)));
    ArrowArray chunk{};
    ASSERT_EQ(stream.get_next(&stream, &chunk), 0);
    chunk.release(&chunk);
    ASSERT_EQ(stream.get_next(&stream, &chunk), 0);
    const ArrowArray& points = *chunk.children[0];
    EXPECT_EQ(points.length, 2);
    EXPECT_EQ(points.null_count, -1);
    const auto first = static_cast<std::size_t>(points.offset + points.children[0]->offset);
    EXPECT_EQ(static_cast<const int*>(points.children[0]->buffers[1])[first], 4);
    EXPECT_FALSE(
        headroom::detail::bit_at(static_cast<const std::uint8_t*>(points.buffers[0]), static_cast<std::size_t>(points.offset)));
    chunk.release(&chunk);
    stream.release(&stream);
}

}    // namespace
