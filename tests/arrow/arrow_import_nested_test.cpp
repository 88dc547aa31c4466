// SPDX-License-Identifier: MIT
// Import of foreign lists and structs: their content from any offset, and refused formats.
#include <headroom/arrow.hpp>

#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/foreign_array.hpp"

namespace {

using headroom::arrow_column;
using lists = std::span<const std::int64_t>;

template <class T>
headroom::frozen<T> frozen_of(const std::vector<T>& values) {
    return headroom::freeze(headroom::settled_vector<T>(values.begin(), values.end()));
}

// Reads an exported table like a foreign one, in chunks: structs whose fields start where the chunk starts.
struct table_stream {
    ArrowArrayStream stream{};
    ArrowSchema schema{};
    ArrowArray array{};
    explicit table_stream(std::vector<arrow_column> columns, std::size_t rows) {
        headroom::export_arrow_table(&stream, std::move(columns), headroom::chunk_rows(rows));
    }
    table_stream(const table_stream&) = delete;
    bool next() {
        EXPECT_EQ(stream.get_schema(&stream, &schema), 0);
        EXPECT_EQ(stream.get_next(&stream, &array), 0);
        if (array.release == nullptr) schema.release(&schema);
        return array.release != nullptr;
    }
    ~table_stream() { stream.release(&stream); }
};

template <class Offset>
class imported_lists : public testing::Test {};
using widths = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(imported_lists, widths);

TYPED_TEST(imported_lists, begin_where_the_chunk_begins) {
    std::vector<TypeParam> offsets{0};
    for (TypeParam i = 0; i < 20; ++i) offsets.push_back(static_cast<TypeParam>(offsets.back() + i % 4));
    std::vector<std::int64_t> values(static_cast<std::size_t>(offsets.back()));
    std::iota(values.begin(), values.end(), 0);
    std::vector<arrow_column> columns;
    columns.push_back(arrow_column::list("l", frozen_of(offsets), arrow_column("item", frozen_of(values))));
    table_stream chunks(std::move(columns), 7);
    std::size_t row = 0;
    while (chunks.next()) {
        auto fields = headroom::import_arrow_fields(&chunks.array, &chunks.schema);
        ASSERT_EQ(fields.size(), 1U);
        EXPECT_STREQ(fields[0].name(), "l");
        const auto found = headroom::import_arrow<lists>(&fields[0].array, &fields[0].schema);
        for (std::size_t i = 0; i < found.size(); ++i, ++row) {
            ASSERT_EQ(found[i].size(), row % 4);
            for (std::size_t k = 0; k < found[i].size(); ++k) EXPECT_EQ(found[i][k], offsets[row] + static_cast<TypeParam>(k));
        }
    }
    EXPECT_EQ(row, 20U);
}

TEST(imported_lists_of_one_length, begin_where_the_chunk_begins) {
    std::vector<std::int64_t> values(60);
    std::iota(values.begin(), values.end(), 0);
    headroom::bit_column there;
    for (int i = 0; i < 20; ++i) there.push_back(i != 4);
    std::vector<arrow_column> columns;
    columns.push_back(arrow_column::fixed_list("l", 3, arrow_column("item", frozen_of(values))).nullable(std::move(there)));
    table_stream chunks(std::move(columns), 7);
    std::int64_t row = 0;
    while (chunks.next()) {
        auto fields = headroom::import_arrow_fields(&chunks.array, &chunks.schema);
        const auto found = headroom::import_arrow<lists>(&fields[0].array, &fields[0].schema, headroom::nulls::allowed);
        for (std::size_t i = 0; i < found.size(); ++i, ++row) {
            EXPECT_EQ(found.is_valid(i), row != 4);
            EXPECT_EQ(std::vector(found[i].begin(), found[i].end()), (std::vector{row * 3, row * 3 + 1, row * 3 + 2}));
        }
    }
    EXPECT_EQ(row, 20);
}

TEST(imported_fields, are_arrays_of_their_own) {
    std::vector<std::int64_t> values{1, 2, 3, 4, 5};
    headroom::string_column text;
    for (const char* const each : {"a", "", "ccc", "dd", "e"}) text.push_back(each);
    headroom::bit_column truths;
    for (int i = 0; i < 5; ++i) truths.push_back(i % 2 == 0);
    std::vector<arrow_column> columns;
    columns.emplace_back("n", frozen_of(values));
    columns.emplace_back("t", std::move(text));
    columns.emplace_back("b", std::move(truths));
    table_stream chunks(std::move(columns), 2);
    std::size_t row = 0;
    const std::vector<std::string> words{"a", "", "ccc", "dd", "e"};
    while (chunks.next()) {
        auto fields = headroom::import_arrow_fields(&chunks.array, &chunks.schema);
        EXPECT_EQ(chunks.array.release, nullptr);
        EXPECT_EQ(chunks.schema.release, nullptr);
        ASSERT_EQ(fields.size(), 3U);
        std::swap(fields[0], fields[2]);    // in any order, some not at all
        const auto words_found = headroom::import_arrow<std::string_view>(&fields[1].array, &fields[1].schema);
        const auto found = headroom::import_arrow<std::int64_t>(&fields[2].array, &fields[2].schema);
        for (std::size_t i = 0; i < found.size(); ++i, ++row) {
            EXPECT_EQ(found[i], values[row]);
            EXPECT_EQ(words_found[i], words[row]);
        }
    }
    EXPECT_EQ(row, 5U);
}

// Ten foreign numbers as elements of lists, or as a field of a struct.
struct nested {
    headroom_test::foreign_array child;
    std::int32_t offsets[5] = {0, 2, 4, 6, 10};
    std::uint8_t validity[1] = {0x0F};
    const void* buffers[2] = {nullptr, offsets};
    ArrowArray* arrays[1] = {&child.array};
    ArrowSchema* schemas[1] = {&child.schema};
    ArrowArray array{};
    ArrowSchema schema{};
    int released = 0;

    explicit nested(const char* format) {
        array.length = 4;
        array.n_buffers = std::string_view(format) == "+l" ? 2 : 1;
        array.n_children = 1;
        array.buffers = buffers;
        array.children = arrays;
        array.private_data = this;
        array.release = [](ArrowArray* self) {
            ++static_cast<nested*>(self->private_data)->released;
            self->release = nullptr;
        };
        schema.format = format;
        schema.name = "";
        schema.n_children = 1;
        schema.children = schemas;
        schema.release = [](ArrowSchema* self) { self->release = nullptr; };
    }
    nested(const nested&) = delete;
    ~nested() {
        if (child.schema.release != nullptr) child.schema.release(&child.schema);
    }
};

struct fault {
    const char* message;
    std::function<void(nested&)> plant;
};

template <class Import>
void expect_refusals(const char* format, const std::vector<fault>& faults, Import import) {
    for (const fault& each : faults) {
        nested from(format);
        each.plant(from);
        try {
            import(from);
            ADD_FAILURE() << "taken: " << each.message;
        } catch (const std::invalid_argument& refused) {
            EXPECT_NE(std::string_view(refused.what()).find(each.message), std::string_view::npos) << refused.what();
        }
        EXPECT_EQ(from.released, 0);
        EXPECT_EQ(from.child.arrays_released, 0);
    }
    nested whole(format);
    import(whole);
    EXPECT_EQ(whole.released, 1);
}

TEST(imported_lists_refused, say_what_does_not_fit) {
    const auto import = [](nested& from) { static_cast<void>(headroom::import_arrow<lists>(&from.array, &from.schema)); };
    std::vector<fault> both{
        {"elements are missing", [](nested& f) { f.schema.n_children = 0; }},
        {"elements are missing", [](nested& f) { f.schema.children = nullptr; }},
        {"elements are missing", [](nested& f) { f.array.children = nullptr; }},
        {"other buffers or children", [](nested& f) { f.array.n_children = 2; }},
        {"its type is \"g\"", [](nested& f) { f.child.schema.format = "g"; }},
        {"null",
         [](nested& f) { f.child.buffers[0] = f.child.validity, f.child.array.null_count = -1, f.child.validity[0] = 1; }},
        {"null", [](nested& f) { f.buffers[0] = f.validity, f.array.null_count = 1, f.validity[0] = 7; }},
        {"out of range", [](nested& f) { f.array.length = -1; }},
        {"released", [](nested& f) { f.child.array.release = nullptr; }},
    };
    auto of_any = both;
    of_any.push_back({"reach beyond", [](nested& f) { f.offsets[4] = 11; }});
    of_any.push_back({"backwards", [](nested& f) { f.offsets[2] = 1; }});
    of_any.push_back({"backwards", [](nested& f) { f.offsets[0] = -1; }});
    of_any.push_back({"backwards", [](nested& f) { f.offsets[2] = 1000; }});
    of_any.push_back({"offsets is missing", [](nested& f) { f.buffers[1] = nullptr; }});
    of_any.push_back({"not aligned", [](nested& f) { f.buffers[1] = reinterpret_cast<const char*>(f.offsets) + 1; }});
    expect_refusals("+l", of_any, import);
    auto of_one = both;
    of_one.push_back({"reach beyond", [](nested& f) { f.array.length = 6; }});
    of_one.push_back({"reach beyond", [](nested& f) { f.array.offset = 2; }});
    of_one.push_back({"names no length", [](nested& f) { f.schema.format = "+w:"; }});
    of_one.push_back({"names no length", [](nested& f) { f.schema.format = "+w:2x"; }});
    of_one.push_back({"names no length", [](nested& f) { f.schema.format = "+w:99999999999999999999"; }});
    expect_refusals("+w:2", of_one, import);
}

TEST(imported_fields_refused, say_what_does_not_fit) {
    const std::vector<fault> faults{
        {"no array of structs", [](nested& f) { f.schema.format = "+l"; }},
        {"no array of structs", [](nested& f) { f.schema.format = nullptr; }},
        {"other buffers or children", [](nested& f) { f.array.n_children = 2; }},
        {"other buffers or children", [](nested& f) { f.array.children = nullptr; }},
        {"other buffers or children", [](nested& f) { f.array.n_buffers = 2; }},
        {"out of range", [](nested& f) { f.array.offset = -1; }},
        {"shorter", [](nested& f) { f.array.length = 11; }},
        {"shorter", [](nested& f) { f.array.offset = 7; }},
        {"shorter", [](nested& f) { f.child.array.offset = -1; }},
        {"null", [](nested& f) { f.buffers[0] = f.validity, f.array.null_count = -1, f.validity[0] = 7; }},
        {"released", [](nested& f) { f.child.array.release = nullptr; }},
    };
    expect_refusals("+s", faults,
                    [](nested& from) { static_cast<void>(headroom::import_arrow_fields(&from.array, &from.schema)); });
    EXPECT_THROW(static_cast<void>(headroom::import_arrow_fields(nullptr, nullptr)), std::invalid_argument);
}

TEST(imported_fields_refused, each_of_them_is_looked_at) {
    for (const bool shorter : {false, true}) {
        nested from("+s");
        headroom_test::foreign_array second;
        ArrowArray* arrays[2] = {&from.child.array, &second.array};
        ArrowSchema* schemas[2] = {&from.child.schema, &second.schema};
        from.array.n_children = from.schema.n_children = 2;
        from.array.children = arrays;
        from.schema.children = schemas;
        if (shorter) second.array.length = from.array.length - 1;
        const auto import = [&] { return headroom::import_arrow_fields(&from.array, &from.schema).size(); };
        if (shorter) {
            EXPECT_THROW(static_cast<void>(import()), std::invalid_argument);
            EXPECT_EQ(from.released, 0);
        } else {
            EXPECT_EQ(import(), 2U);
        }
    }
}

}    // namespace
