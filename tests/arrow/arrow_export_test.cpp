// SPDX-License-Identifier: MIT
// Export of columns by Arrow's C Data Interface: formats, buffers, nulls, children, order of release.
// Labels: core
#include <headroom/arrow.hpp>
#include <headroom/reservation.hpp>

#include <chrono>

#include "support/exported_array.hpp"

namespace {

using headroom::arrow_column;
using headroom::bit_column;
using headroom_test::exported;

template <class T>
class arrow_of : public testing::Test {};
using kinds = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                             std::uint64_t, float, double>;
TYPED_TEST_SUITE(arrow_of, kinds);

template <class T>
headroom::settled_vector<T> counting(std::size_t count) {
    headroom::settled_vector<T> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back(static_cast<T>(i % 100));
    return made;
}

TYPED_TEST(arrow_of, a_vector_is_given_away_where_it_lies) {
    auto vector = counting<TypeParam>(10'000);
    const TypeParam* const where = vector.data();
    exported out;
    headroom::export_arrow(std::move(vector), &out.array, &out.schema, "numbers");
    EXPECT_EQ(out.array.length, 10'000);
    EXPECT_EQ(out.array.null_count, 0);
    EXPECT_EQ(out.array.offset, 0);
    ASSERT_EQ(out.array.n_buffers, 2);
    EXPECT_EQ(out.array.buffers[0], nullptr);
    EXPECT_EQ(out.array.buffers[1], where);
    EXPECT_EQ(out.array.n_children, 0);
    EXPECT_EQ(out.array.dictionary, nullptr);
    EXPECT_STREQ(out.schema.name, "numbers");
    EXPECT_TRUE(vector.empty());
    vector.push_back(TypeParam{1});    // usable again, with a new block
    EXPECT_NE(vector.data(), where);
}

TYPED_TEST(arrow_of, what_goes_out_comes_back_in) {
    exported out;
    headroom::export_arrow(counting<TypeParam>(1000), &out.array, &out.schema);
    const void* const where = out.array.buffers[1];
    const headroom::imported<TypeParam> in = headroom::import_arrow<TypeParam>(&out.array, &out.schema);
    EXPECT_EQ(out.array.release, nullptr);
    EXPECT_EQ(out.schema.release, nullptr);
    EXPECT_EQ(in.data(), where);
    ASSERT_EQ(in.size(), 1000U);
    EXPECT_EQ(in[999], TypeParam{99});
}

TYPED_TEST(arrow_of, of_what_is_shared_any_number_of_the_first_is_exported) {
    const headroom::frozen<TypeParam> shared = headroom::freeze(counting<TypeParam>(100));
    exported some, all;
    headroom::export_arrow(shared, 7, &some.array, &some.schema);
    headroom::export_arrow(shared, 100, &all.array, &all.schema);
    EXPECT_EQ(some.array.length, 7);
    EXPECT_EQ(some.array.buffers[1], all.array.buffers[1]);
    EXPECT_THROW(headroom::export_arrow(shared, 101, &some.array, &some.schema), std::invalid_argument);
}

TYPED_TEST(arrow_of, elements_live_until_the_array_is_released) {
    exported out;
    headroom::export_arrow(counting<TypeParam>(1000), &out.array, &out.schema);
    const void* const where = out.array.buffers[1];
    EXPECT_TRUE(headroom::owner_of(where));
    out.array.release(&out.array);
    EXPECT_EQ(out.array.release, nullptr);
    EXPECT_FALSE(headroom::owner_of(where));
    EXPECT_STREQ(out.schema.name, "");    // the schema is released separately
}

TYPED_TEST(arrow_of, none_is_a_column_too) {
    exported out;
    headroom::export_arrow(headroom::settled_vector<TypeParam>(), &out.array, &out.schema);
    EXPECT_EQ(out.array.length, 0);
    EXPECT_EQ(headroom::import_arrow<TypeParam>(&out.array, &out.schema).size(), 0U);
}

template <class T>
std::string format_of() {
    return arrow_column("", headroom::freeze(headroom::settled_vector<T>(1))).format();
}
enum class colour : std::uint16_t { red };

TEST(arrow_formats, every_type_has_its_own) {
    using namespace std::chrono;
    EXPECT_EQ(format_of<std::int8_t>(), "c");
    EXPECT_EQ(format_of<std::uint8_t>(), "C");
    EXPECT_EQ(format_of<std::int16_t>(), "s");
    EXPECT_EQ(format_of<std::uint16_t>(), "S");
    EXPECT_EQ(format_of<std::int32_t>(), "i");
    EXPECT_EQ(format_of<std::uint32_t>(), "I");
    EXPECT_EQ(format_of<long long>(), "l");
    EXPECT_EQ(format_of<unsigned long long>(), "L");
    EXPECT_EQ(format_of<std::byte>(), "C");
    EXPECT_EQ(format_of<colour>(), "S");
    EXPECT_EQ(format_of<float>(), "f");
    EXPECT_EQ(format_of<double>(), "g");
    EXPECT_EQ((format_of<duration<std::int64_t>>()), "tDs");
    EXPECT_EQ((format_of<duration<std::int64_t, std::milli>>()), "tDm");
    EXPECT_EQ((format_of<duration<std::int64_t, std::micro>>()), "tDu");
    EXPECT_EQ((format_of<duration<std::int64_t, std::nano>>()), "tDn");
    EXPECT_EQ((format_of<sys_time<duration<std::int64_t>>>()), "tss:UTC");
    EXPECT_EQ((format_of<sys_time<duration<std::int64_t, std::milli>>>()), "tsm:UTC");
    EXPECT_EQ((format_of<sys_time<duration<std::int64_t, std::micro>>>()), "tsu:UTC");
    EXPECT_EQ((format_of<sys_time<duration<std::int64_t, std::nano>>>()), "tsn:UTC");
    EXPECT_EQ((format_of<local_time<duration<std::int64_t, std::micro>>>()), "tsu:");
    EXPECT_EQ((format_of<sys_time<duration<std::int32_t, days::period>>>()), "tdD");
}

struct record {
    int number;
};
enum class truth : bool { no };

TEST(arrow_formats, what_arrow_does_not_have_is_no_column) {
    using namespace std::chrono;
    static_assert(!headroom::arrow_value<bool>);    // exported as bit_column
    static_assert(!headroom::arrow_value<char>);    // exported as text
    static_assert(!headroom::arrow_value<char32_t>);
    static_assert(!headroom::arrow_value<record>);
    static_assert(!headroom::arrow_value<truth>);
    static_assert(!headroom::arrow_value<int*>);
    static_assert(!headroom::arrow_value<std::string>);
    static_assert(!headroom::arrow_value<duration<double>>);
    static_assert(!headroom::arrow_value<duration<std::int64_t, std::ratio<60>>>);
    static_assert(!headroom::arrow_value<steady_clock::time_point>);
    static_assert(sizeof(long double) == 8 || !headroom::arrow_value<long double>);
}

bit_column bits(std::string_view pattern) {
    bit_column made;
    for (const char each : pattern) made.push_back(each == '1');
    return made;
}

TEST(arrow_bits, bits_are_pushed_changed_and_counted) {
    bit_column column = bits("1011001110001");
    EXPECT_EQ(column.size(), 13U);
    EXPECT_EQ(column.count(), 7U);
    EXPECT_EQ(column.data()[0], 0b11001101);
    EXPECT_EQ(column.data()[1], 0b10001);
    column.set(0, false);
    column.set(0, false);
    column.set(1, true);
    EXPECT_FALSE(column[0]);
    EXPECT_TRUE(column[1]);
    EXPECT_EQ(column.count(), 7U);
    const bit_column taken = std::move(column);
    EXPECT_EQ(taken.size(), 13U);
    EXPECT_TRUE(column.empty());
    column.push_back(true);
    EXPECT_EQ(column.count(), 1U);
}

TEST(arrow_bits, a_limit_is_of_bits) {
    bit_column column(headroom::max_elements{9});
    for (int i = 0; i < 16; ++i) column.push_back(true);
    EXPECT_THROW(column.push_back(true), std::length_error);
    EXPECT_EQ(column.size(), 16U);
}

TEST(arrow_bits, a_column_of_bool_is_bits) {
    exported out(arrow_column("flags", bits("110")));
    EXPECT_STREQ(out.schema.format, "b");
    EXPECT_EQ(out.array.length, 3);
    const auto in = headroom::import_arrow<bool>(&out.array, &out.schema);
    EXPECT_TRUE(in[0] && in[1] && !in[2]);
}

TEST(arrow_nulls, a_bit_says_which_elements_are_there) {
    exported out(arrow_column("x", counting<int>(5)).nullable(bits("10110")));
    EXPECT_EQ(out.array.null_count, 2);
    ASSERT_NE(out.array.buffers[0], nullptr);
    EXPECT_EQ(static_cast<const std::uint8_t*>(out.array.buffers[0])[0], 0b1101);
    EXPECT_THROW(static_cast<void>(headroom::import_arrow<int>(&out.array, &out.schema)), std::invalid_argument);
    const auto in = headroom::import_arrow<int>(&out.array, &out.schema, headroom::nulls::allowed);
    EXPECT_EQ(in.null_count(), 2U);
    EXPECT_TRUE(in.is_valid(0));
    EXPECT_FALSE(in.is_valid(1));
    EXPECT_FALSE(in.is_valid(4));
}

TEST(arrow_nulls, as_many_bits_as_elements) {
    EXPECT_THROW(static_cast<void>(arrow_column("x", counting<int>(5)).nullable(bits("1"))), std::invalid_argument);
}

template <class Offset>
headroom::frozen<Offset> offsets(std::initializer_list<Offset> values) {
    return headroom::freeze(headroom::settled_vector<Offset>(values));
}
headroom::frozen<char> bytes(std::string_view text) {
    return headroom::freeze(headroom::settled_vector<char>(text.begin(), text.end()));
}

template <class T>
class arrow_offsets : public testing::Test {};
using widths = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(arrow_offsets, widths);

TYPED_TEST(arrow_offsets, text_is_offsets_and_bytes) {
    exported out(arrow_column::text("words", offsets<TypeParam>({0, 3, 3, 8}), bytes("one+more")));
    EXPECT_STREQ(out.schema.format, sizeof(TypeParam) == 4 ? "u" : "U");
    EXPECT_EQ(out.array.n_buffers, 3);
    const auto in = headroom::import_arrow<std::string_view>(&out.array, &out.schema);
    ASSERT_EQ(in.size(), 3U);
    EXPECT_EQ(in[0], "one");
    EXPECT_EQ(in[1], "");
    EXPECT_EQ(in[2], "+more");
}

TYPED_TEST(arrow_offsets, text_may_be_empty) {
    exported none(arrow_column::text("words", offsets<TypeParam>({0}), headroom::frozen<char>()));
    EXPECT_EQ(none.array.length, 0);
    EXPECT_NE(none.array.buffers[1], nullptr);
    EXPECT_EQ(headroom::import_arrow<std::string_view>(&none.array, &none.schema).size(), 0U);
    exported blanks(arrow_column::text("words", offsets<TypeParam>({0, 0, 0}), headroom::frozen<char>()));
    EXPECT_EQ(headroom::import_arrow<std::string_view>(&blanks.array, &blanks.schema)[1], "");
}

TYPED_TEST(arrow_offsets, offsets_that_lead_outside_are_refused) {
    const auto text = bytes("four");
    for (const auto& wrong :
         {offsets<TypeParam>({}), offsets<TypeParam>({-1, 2}), offsets<TypeParam>({0, 5}), offsets<TypeParam>({3, 2})}) {
        EXPECT_THROW(static_cast<void>(arrow_column::text("", wrong, text)), std::invalid_argument);
        EXPECT_THROW(static_cast<void>(arrow_column::list("", wrong, arrow_column("", counting<int>(4)))), std::invalid_argument);
    }
}

TYPED_TEST(arrow_offsets, lists_are_offsets_into_another_column) {
    exported out(arrow_column::list("lists", offsets<TypeParam>({0, 2, 2, 5}), arrow_column("item", counting<double>(5))));
    EXPECT_STREQ(out.schema.format, sizeof(TypeParam) == 4 ? "+l" : "+L");
    EXPECT_EQ(out.array.length, 3);
    ASSERT_EQ(out.array.n_children, 1);
    EXPECT_EQ(out.array.children[0]->length, 5);
    EXPECT_STREQ(out.schema.children[0]->format, "g");
}

TEST(arrow_structs, fields_are_children_side_by_side) {
    std::vector<arrow_column> fields;
    fields.emplace_back("x", counting<float>(10));
    fields.emplace_back("there", bits("1111100000"));
    exported out(arrow_column::record("point", std::move(fields)).nullable(bits("1111111110")));
    EXPECT_STREQ(out.schema.format, "+s");
    EXPECT_EQ(out.array.n_buffers, 1);
    EXPECT_EQ(out.array.null_count, 1);
    ASSERT_EQ(out.array.n_children, 2);
    ASSERT_EQ(out.schema.n_children, 2);
    EXPECT_STREQ(out.schema.children[1]->name, "there");
    EXPECT_EQ(out.array.children[0]->length, 10);
}

TEST(arrow_structs, fields_of_different_lengths_are_refused) {
    std::vector<arrow_column> fields;
    EXPECT_THROW(static_cast<void>(arrow_column::record("", fields)), std::invalid_argument);
    fields.emplace_back("x", counting<float>(10));
    fields.emplace_back("y", counting<float>(9));
    EXPECT_THROW(static_cast<void>(arrow_column::record("", fields)), std::invalid_argument);
}

TEST(arrow_structs, a_child_that_is_moved_out_outlives_its_parent) {
    std::vector<arrow_column> fields;
    fields.emplace_back("x", counting<int>(100));
    fields.emplace_back("y", counting<int>(100));
    ArrowArray child{};
    const void* other = nullptr;
    {
        const exported out(arrow_column::record("", std::move(fields)));
        child = *out.array.children[0];
        out.array.children[0]->release = nullptr;
        other = out.array.children[1]->buffers[1];
    }
    EXPECT_FALSE(headroom::owner_of(other));
    EXPECT_EQ(static_cast<const int*>(child.buffers[1])[99], 99);
    child.release(&child);
}

TEST(arrow_names, a_zero_byte_in_a_name_is_refused_and_the_vector_kept) {
    auto vector = counting<int>(10);
    ArrowArray array{};
    ArrowSchema schema{};
    EXPECT_THROW(headroom::export_arrow(std::move(vector), &array, &schema, std::string_view("a\0b", 3)), std::invalid_argument);
    EXPECT_EQ(vector.size(), 10U);
    EXPECT_EQ(array.release, nullptr);
    EXPECT_EQ(schema.release, nullptr);
    EXPECT_THROW(headroom::export_arrow(std::move(vector), nullptr, &schema), std::invalid_argument);
    EXPECT_EQ(vector.size(), 10U);
}

TEST(arrow_names, a_schema_is_not_made_for_those_who_know_it) {
    exported out;
    headroom::export_arrow(counting<int>(10), &out.array, nullptr);
    EXPECT_EQ(out.array.length, 10);
}

}    // namespace
