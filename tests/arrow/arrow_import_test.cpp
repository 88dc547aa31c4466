// SPDX-License-Identifier: MIT
// Import validates foreign structs. A refused array stays its owner's; an imported one is released once.
#include <headroom/arrow.hpp>

#include <chrono>
#include <functional>

#include "support/foreign_array.hpp"

namespace {

using foreign = headroom_test::foreign_array;

template <class T = std::int64_t>
headroom::imported<T> taken(foreign& from, headroom::nulls missing = headroom::nulls::refused) {
    return headroom::import_arrow<T>(&from.array, &from.schema, missing);
}

// Returns the message of a refused import, and checks that nothing was released.
template <class T = std::int64_t>
std::string refusal(foreign& from, headroom::nulls missing = headroom::nulls::refused) {
    try {
        static_cast<void>(taken<T>(from, missing));
    } catch (const std::invalid_argument& refused) {
        EXPECT_EQ(from.arrays_released, 0);
        EXPECT_EQ(from.schemas_released, 0);
        return refused.what();
    }
    return "taken";
}

TEST(arrow_import, is_a_span_over_what_the_other_side_holds) {
    foreign from;
    const auto in = taken(from);
    EXPECT_EQ(in.data(), from.values.data());
    EXPECT_EQ(in.size(), 10U);
    EXPECT_EQ(in[9], 19);
    EXPECT_EQ(in.end() - in.begin(), 10);
}

TEST(arrow_import, releases_the_schema_at_once_and_the_array_once) {
    foreign from;
    {
        auto in = taken(from);
        EXPECT_EQ(from.schemas_released, 1);
        EXPECT_EQ(from.arrays_released, 0);
        auto moved = std::move(in);
        EXPECT_EQ(in.size(), 0U);
        headroom::imported<std::int64_t> assigned;
        assigned = std::move(moved);
        EXPECT_EQ(assigned[0], 10);
    }
    EXPECT_EQ(from.arrays_released, 1);
    EXPECT_EQ(from.schemas_released, 1);
}

TEST(arrow_import, begins_where_the_offset_says) {
    foreign from;
    from.array.offset = 3;
    from.array.length = 5;
    const auto in = taken(from);
    EXPECT_EQ(in.data(), from.values.data() + 3);
    EXPECT_EQ(in[4], 17);
}

TEST(arrow_import, may_be_of_no_elements_and_no_buffer) {
    foreign from;
    from.array.length = 0;
    from.buffers[1] = nullptr;
    EXPECT_TRUE(taken(from).empty());
}

TEST(arrow_import, counts_the_nulls_that_nobody_has_counted) {
    foreign from;
    from.validity[0] = 0b1111'0101;
    from.buffers[0] = from.validity;
    from.array.null_count = -1;
    from.array.offset = 1;
    from.array.length = 8;
    EXPECT_NE(refusal(from).find("2 of its elements are null"), std::string::npos);
    const auto in = taken(from, headroom::nulls::allowed);
    EXPECT_EQ(in.null_count(), 2U);
    EXPECT_FALSE(in.is_valid(0));
    EXPECT_TRUE(in.is_valid(1));
    EXPECT_FALSE(in.is_valid(2));
    EXPECT_TRUE(in.is_valid(7));
}

TEST(arrow_import, takes_a_bitmap_without_nulls_for_no_nulls) {
    foreign from;
    from.buffers[0] = from.validity;
    from.array.null_count = -1;
    EXPECT_EQ(taken(from).null_count(), 0U);
}

TEST(arrow_import, bits_begin_at_any_bit) {
    foreign from;
    const std::uint8_t bits[2] = {0b1010'1000, 0b1};
    from.buffers[1] = bits;
    from.schema.format = "b";
    from.array.offset = 3;
    from.array.length = 6;
    const auto in = taken<bool>(from);
    EXPECT_TRUE(in[0] && !in[1] && in[2] && !in[3] && in[4] && in[5]);
}

TEST(arrow_import, text_begins_where_the_offset_says) {
    foreign from;
    const std::int32_t offsets[] = {0, 2, 5, 9};
    from.buffers[1] = offsets;
    from.buffers[2] = "abcdefghi";
    from.array.n_buffers = 3;
    from.array.offset = 1;
    from.array.length = 2;
    from.schema.format = "u";
    const auto in = taken<std::string_view>(from);
    EXPECT_EQ(in[0], "cde");
    EXPECT_EQ(in[1], "fghi");
}

TEST(arrow_import, text_of_empty_strings_needs_no_bytes) {
    foreign from;
    const std::int32_t offsets[] = {4, 4, 4};
    from.buffers[1] = offsets;
    from.array.n_buffers = 3;
    from.array.length = 2;
    from.schema.format = "u";
    const auto in = taken<std::string_view>(from);
    EXPECT_EQ(in[0].data(), nullptr);
    EXPECT_TRUE(in[0].empty() && in[1].empty());
}

TEST(arrow_import, instants_are_the_same_in_every_time_zone_and_local_times_have_none) {
    using namespace std::chrono;
    using instant = sys_time<duration<std::int64_t, std::micro>>;
    using local = local_time<duration<std::int64_t, std::micro>>;
    foreign from;
    from.schema.format = "tsu:";
    EXPECT_NE(refusal<instant>(from).find("tsu:UTC"), std::string::npos);
    from.schema.format = "tsm:Europe/Zurich";
    EXPECT_NE(refusal<instant>(from), "taken");
    from.schema.format = "tsu:Europe/Zurich";
    EXPECT_NE(refusal<local>(from), "taken");
    EXPECT_EQ(taken<instant>(from)[0].time_since_epoch().count(), 10);
}

struct fault {
    const char* message;
    std::function<void(foreign&)> plant;
};

TEST(arrow_import, says_what_does_not_fit) {
    static const ArrowSchema another{};
    static std::int64_t number = 0;
    const fault faults[] = {
        {"null", [](foreign& f) { f.schema.release = nullptr; }},
        {"released", [](foreign& f) { f.array.release = nullptr; }},
        {"names no type", [](foreign& f) { f.schema.format = nullptr; }},
        {"its type is \"i\"; the type asked for is \"l\"", [](foreign& f) { f.schema.format = "i"; }},
        {"its type is \"\"", [](foreign& f) { f.schema.format = ""; }},
        {"its type is \"tss:UTC\"", [](foreign& f) { f.schema.format = "tss:UTC"; }},
        {"its type is \"+s\"", [](foreign& f) { f.schema.format = "+s"; }},
        {"its type is \"a newer type of Arrow\"", [](foreign& f) { f.schema.format = "a newer type of Arrow"; }},
        {"dictionary", [](foreign& f) { f.schema.dictionary = const_cast<ArrowSchema*>(&another); }},
        {"dictionary", [](foreign& f) { f.array.dictionary = &f.array; }},
        {"buffers", [](foreign& f) { f.array.n_buffers = 3; }},
        {"buffers", [](foreign& f) { f.array.n_buffers = 0; }},
        {"buffers", [](foreign& f) { f.array.buffers = nullptr; }},
        {"children", [](foreign& f) { f.array.n_children = 1; }},
        {"out of range", [](foreign& f) { f.array.length = -1; }},
        {"out of range", [](foreign& f) { f.array.offset = -1; }},
        {"out of range", [](foreign& f) { f.array.null_count = -2; }},
        {"out of range", [](foreign& f) { f.array.null_count = 11; }},
        {"out of range", [](foreign& f) { f.array.length = INT64_MAX; }},
        {"out of range", [](foreign& f) { f.array.offset = INT64_MAX; }},
        {"no buffer that says which", [](foreign& f) { f.array.null_count = 1; }},
        {"says that it has 3 nulls, and has 0", [](foreign& f) { f.array.null_count = 3, f.buffers[0] = f.validity; }},
        {"elements is missing", [](foreign& f) { f.buffers[1] = nullptr; }},
        {"4 bytes past a multiple of 8", [](foreign& f) { f.buffers[1] = reinterpret_cast<const char*>(&number) + 4; }},
    };
    for (const fault& each : faults) {
        if (std::string_view(each.message) == "4 bytes past a multiple of 8" && alignof(std::int64_t) != 8) continue;
        foreign from;
        each.plant(from);
        const std::string said = std::string_view(each.message) == "null" ? refusal(from) + " null" : refusal(from);
        EXPECT_NE(said.find(each.message), std::string::npos) << said;
        EXPECT_NE(said, "taken") << each.message;
    }
    foreign from;
    EXPECT_THROW(static_cast<void>(headroom::import_arrow<int>(nullptr, &from.schema)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(headroom::import_arrow<int>(&from.array, nullptr)), std::invalid_argument);
}

TEST(arrow_import, says_what_does_not_fit_of_text) {
    static const std::int32_t backwards[] = {0, 5, 2};
    static const std::int32_t negative[] = {-1, 0, 2};
    static const std::int32_t right[] = {0, 1, 2};
    const fault faults[] = {
        {"its type is \"vu\"", [](foreign& f) { f.schema.format = "vu"; }},
        {"backwards", [](foreign& f) { f.buffers[1] = negative; }},
        {"backwards", [](foreign& f) { f.buffers[1] = backwards + 1, f.array.length = 1; }},
        {"offsets is missing", [](foreign& f) { f.buffers[1] = nullptr; }},
        {"bytes is missing", [](foreign& f) { f.buffers[2] = nullptr; }},
        {"not aligned", [](foreign& f) { f.buffers[1] = reinterpret_cast<const char*>(right) + 1; }},
    };
    for (const fault& each : faults) {
        foreign from;
        from.schema.format = "u";
        from.array.n_buffers = 3;
        from.array.length = 2;
        from.buffers[1] = right;
        from.buffers[2] = "ab";
        each.plant(from);
        const std::string said = refusal<std::string_view>(from);
        EXPECT_NE(said.find(each.message), std::string::npos) << said;
    }
}

TEST(arrow_import, what_was_refused_can_be_tried_as_another_type) {
    foreign from;
    EXPECT_NE(refusal<double>(from), "taken");
    EXPECT_EQ(taken<std::int64_t>(from)[0], 10);
}

TEST(arrow_import, what_is_imported_can_be_shared_and_exported_again) {
    foreign from;
    {
        auto in = taken(from);
        const std::span<const std::int64_t> where(in.data(), in.size());
        const headroom::frozen<std::int64_t> shared(where, std::move(in));
        ArrowArray array{};
        headroom::export_arrow(shared, 10, &array, nullptr);
        EXPECT_EQ(array.buffers[1], from.values.data());
        array.release(&array);
        EXPECT_EQ(from.arrays_released, 0);
    }
    EXPECT_EQ(from.arrays_released, 1);
}

}    // namespace
