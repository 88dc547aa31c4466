// SPDX-License-Identifier: MIT
// Arrow structs of binary strings, decimals, fixed-size lists, dictionaries and growing text.
// Labels: core
#include <headroom/arrow.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/exported_array.hpp"
#include "support/foreign_array.hpp"

namespace {

using headroom::arrow_column;
using headroom::decimal128;
using headroom_test::exported;

template <class T>
headroom::frozen<T> frozen_of(std::initializer_list<T> values) {
    return headroom::freeze(headroom::settled_vector<T>(values));
}

TEST(arrow_nested, binary_strings_are_offsets_and_bytes) {
    const auto bytes = frozen_of<std::byte>({std::byte{1}, std::byte{0}, std::byte{255}});
    const exported narrow(arrow_column::binary("b", frozen_of<std::int32_t>({0, 1, 3}), bytes));
    const exported wide(arrow_column::binary("b", frozen_of<std::int64_t>({0, 1, 3}), bytes));
    EXPECT_STREQ(narrow.schema.format, "z");
    EXPECT_STREQ(wide.schema.format, "Z");
    EXPECT_EQ(wide.array.length, 2);
    EXPECT_EQ(wide.array.buffers[2], bytes.data());
    EXPECT_THROW(static_cast<void>(arrow_column::binary("b", frozen_of<std::int32_t>({0, 4}), bytes)), std::invalid_argument);
}

TEST(arrow_nested, decimals_say_where_their_point_is) {
    static_assert(sizeof(decimal128) == 16 && decimal128(-1) == decimal128(UINT64_MAX, -1));
    const auto values = frozen_of<decimal128>({decimal128(125), decimal128(-5)});
    const exported out(arrow_column::decimal("d", 10, 2, values));
    EXPECT_STREQ(out.schema.format, "d:10,2");
    EXPECT_EQ(out.array.buffers[1], values.data());
    EXPECT_STREQ(exported(arrow_column::decimal("d", 38, -3, values)).schema.format, "d:38,-3");
    for (const int precision : {0, -1, 39}) {
        EXPECT_THROW(static_cast<void>(arrow_column::decimal("d", precision, 0, values)), std::invalid_argument);
    }
}

TEST(arrow_nested, lists_of_one_length_are_parts_of_their_values) {
    const auto values = frozen_of<float>({1, 2, 3, 4, 5, 6});
    const exported out(arrow_column::fixed_list("rows", 3, arrow_column("item", values)));
    EXPECT_STREQ(out.schema.format, "+w:3");
    EXPECT_EQ(out.array.length, 2);
    EXPECT_EQ(out.array.n_buffers, 1);
    ASSERT_EQ(out.array.n_children, 1);
    EXPECT_EQ(out.array.children[0]->length, 6);
    EXPECT_EQ(out.array.children[0]->buffers[1], values.data());
    const exported deep(arrow_column::fixed_list("a", 1, arrow_column::fixed_list("b", 3, arrow_column("item", values))));
    EXPECT_EQ(deep.array.length, 2);
    for (const std::size_t length : {0U, 4U, 7U}) {
        EXPECT_THROW(static_cast<void>(arrow_column::fixed_list("x", length, arrow_column("item", values))),
                     std::invalid_argument);
    }
}

TEST(arrow_nested, a_part_of_a_table_begins_where_its_lists_begin) {
    ArrowArrayStream stream{};
    const auto values = frozen_of<int>({0, 1, 2, 3, 4, 5, 6, 7});
    headroom::export_arrow_table(&stream, headroom::chunk_rows(3),
                                 arrow_column::fixed_list("r", 2, arrow_column("item", values)));
    for (std::int64_t first = 0; first < 4; first += 3) {
        ArrowArray chunk{};
        ASSERT_EQ(stream.get_next(&stream, &chunk), 0);
        EXPECT_EQ(chunk.children[0]->offset, first);
        EXPECT_EQ(chunk.children[0]->children[0]->offset, 0);
        EXPECT_EQ(chunk.children[0]->children[0]->length, 8);
        chunk.release(&chunk);
    }
    stream.release(&stream);
}

TEST(arrow_nested, a_dictionary_goes_with_its_indices) {
    const auto words = [] {
        headroom::string_column made;
        for (const char* const each : {"red", "green"}) made.push_back(each);
        return arrow_column("", std::move(made));
    };
    exported out(arrow_column::dictionary("colour", frozen_of<std::int8_t>({0, 1, 1, 0}), words(), true));
    EXPECT_STREQ(out.schema.format, "c");
    EXPECT_EQ(out.schema.n_children, 0);
    EXPECT_EQ(out.schema.children, nullptr);
    EXPECT_NE(out.schema.flags & ARROW_FLAG_DICTIONARY_ORDERED, 0);
    ASSERT_NE(out.schema.dictionary, nullptr);
    EXPECT_STREQ(out.schema.dictionary->format, "U");
    EXPECT_EQ(out.array.length, 4);
    EXPECT_EQ(out.array.n_children, 0);
    ASSERT_NE(out.array.dictionary, nullptr);
    EXPECT_EQ(out.array.dictionary->length, 2);
    // Moved out as importers do, it outlives the indices.
    ArrowArray taken = std::exchange(*out.array.dictionary, ArrowArray{});
    out.array.release(&out.array);
    EXPECT_EQ(std::string_view(static_cast<const char*>(taken.buffers[2]), 8), "redgreen");
    taken.release(&taken);
    EXPECT_EQ(exported(arrow_column("x", frozen_of<int>({1}))).schema.dictionary, nullptr);
}

TEST(arrow_nested, bits_that_are_shared_say_which_are_there) {
    const auto bits = frozen_of<std::uint8_t>({0xFE, 0x01});
    const auto column = arrow_column("x", frozen_of<int>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})).nullable(bits);
    EXPECT_EQ(column.null_count(), 2U);
    const exported out(column);
    EXPECT_EQ(out.array.null_count, -1);
    EXPECT_EQ(out.array.buffers[0], bits.data());
    EXPECT_THROW(static_cast<void>(arrow_column("x", headroom::freeze(headroom::settled_vector<int>(17))).nullable(bits)),
                 std::invalid_argument);
}

TEST(string_column, grows_and_is_given_away_where_it_lies) {
    headroom::string_column text;
    EXPECT_TRUE(text.empty());
    std::vector<std::string> wanted;
    for (int i = 0; i < 10'000; ++i) {
        wanted.push_back(std::string(static_cast<std::size_t>(i % 17), 'a') + std::to_string(i));
        text.push_back(wanted.back());
    }
    text.push_back(text[3]);    // from its own element
    wanted.push_back(wanted[3]);
    text.push_back("gone");
    text.pop_back();
    ASSERT_EQ(text.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(text[i], wanted[i]);
    const char* const where = text[0].data();
    exported out(arrow_column("t", std::move(text)));
    EXPECT_STREQ(out.schema.format, "U");
    EXPECT_EQ(out.array.buffers[2], where);
    EXPECT_TRUE(text.empty());
    const auto back = headroom::import_arrow<std::string_view>(&out.array, &out.schema);
    for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(back[i], wanted[i]);
    text.push_back("anew");
    EXPECT_EQ(text[0], "anew");
}

TEST(string_column, without_elements_is_a_column_too) {
    const exported out(arrow_column("t", headroom::string_column()));
    EXPECT_EQ(out.array.length, 0);
    ASSERT_NE(out.array.buffers[1], nullptr);
    EXPECT_EQ(*static_cast<const std::int64_t*>(out.array.buffers[1]), 0);
}

TEST(string_column, what_finds_no_room_leaves_it_as_it_was) {
    headroom::string_column few(headroom::max_elements{2}, headroom::max_elements{1000});
    few.push_back("a");
    few.push_back("b");
    EXPECT_THROW(few.push_back("c"), std::length_error);
    headroom::string_column little(headroom::max_elements{100}, headroom::max_elements{3});
    little.push_back("ab");
    EXPECT_THROW(little.push_back("cd"), std::length_error);
    EXPECT_EQ(few.size(), 2U);
    EXPECT_EQ(little.size(), 1U);
    little.push_back("c");
    EXPECT_EQ(little[1], "c");
}

// Tests wrong offsets at every position, also between the first and the last. One could make a string of 2^64 bytes.
template <class Offset>
void every_offset_is_looked_at(const char* format) {
    for (std::size_t length = 1; length != 40; ++length) {
        for (std::size_t wrong = 0; wrong <= length; ++wrong) {
            for (const bool high : {false, true}) {
                std::vector<Offset> offsets(length + 1);
                for (std::size_t i = 0; i <= length; ++i) offsets[i] = static_cast<Offset>(i);
                offsets[wrong] = static_cast<Offset>(high ? 1000 : -1);
                if (high && wrong == length) continue;    // undetectable: the structs do not give the number of bytes
                headroom_test::foreign_array from;
                from.schema.format = format;
                from.array.n_buffers = 3;
                from.array.length = static_cast<std::int64_t>(length);
                from.buffers[1] = offsets.data();
                from.buffers[2] = "";
                EXPECT_THROW(static_cast<void>(headroom::import_arrow<std::string_view>(&from.array, &from.schema)),
                             std::invalid_argument)
                    << length << " " << wrong;
                from.schema.release(&from.schema);
            }
        }
    }
}

TEST(arrow_import_offsets, every_offset_is_looked_at) {
    every_offset_is_looked_at<std::int32_t>("u");
    every_offset_is_looked_at<std::int64_t>("U");
}

}    // namespace
