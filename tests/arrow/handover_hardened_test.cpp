// SPDX-License-Identifier: MIT
// Hardened: an index out of range on frozen, imported or bit_column ends the program with a message.
// Labels: no-valgrind
#define HEADROOM_HARDENED 1
#include <headroom/arrow.hpp>
#include <headroom/frozen.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using headroom::settled_vector;

TEST(hardened_frozen, ends_the_program_where_an_element_is_not_there) {
    const headroom::frozen<int> three = headroom::freeze(settled_vector<int>{1, 2, 3});
    EXPECT_EQ(three[2], 3);
    EXPECT_DEATH(static_cast<void>(three[3]), "frozen of 3 elements.*operator\\[\\] of index 3");
    EXPECT_DEATH(static_cast<void>(three.first(4)), "frozen of 3 elements.*first\\(\\)");
}

TEST(hardened_bit_columns, end_the_program_where_a_bit_is_not_there) {
    headroom::bit_column bits;
    for (int i = 0; i < 3; ++i) bits.push_back(true);
    EXPECT_TRUE(bits[2]);
    EXPECT_DEATH(static_cast<void>(bits[3]),
                 "bit_column of 3 elements.*operator\\[\\] of index 3");    // out of range, although its byte exists
    EXPECT_DEATH(bits.set(3, true), "bit_column of 3 elements.*set\\(\\) of index 3");
}

TEST(hardened_imported_arrays, end_the_program_where_an_element_is_not_there) {
    ArrowArray array{};
    ArrowSchema schema{};
    headroom::export_arrow(settled_vector<double>{1, 2}, &array, &schema);
    const auto two = headroom::import_arrow<double>(&array, &schema);
    EXPECT_EQ(two[1], 2);
    EXPECT_DEATH(static_cast<void>(two[2]), "imported of 2 elements.*operator\\[\\] of index 2");
    EXPECT_DEATH(static_cast<void>(two.is_valid(2)), "imported of 2 elements.*is_valid\\(\\)");
}

TEST(hardened_imported_bits, end_the_program_where_a_bit_is_not_there) {
    headroom::bit_column bits;
    bits.push_back(true);
    ArrowArray array{};
    ArrowSchema schema{};
    headroom::export_arrow(headroom::arrow_column("", std::move(bits)), &array, &schema);
    const auto one = headroom::import_arrow<bool>(&array, &schema);
    EXPECT_TRUE(one[0]);
    EXPECT_DEATH(static_cast<void>(one[1]), "imported of 1 elements.*operator\\[\\] of index 1");
}

template <class T>
headroom::frozen<T> frozen_of(std::vector<T> values) {
    return headroom::freeze(std::move(values));
}

// Checks that each inner offset is validated, with the first and last ones valid.
template <class Offset>
void offset_by_offset() {
    using headroom::arrow_column;
    const std::vector<Offset> good{0, 2, 2, 5, 6};
    const auto make = [](int kind, const std::vector<Offset>& offsets) {
        if (kind == 0) return arrow_column::text("", frozen_of(offsets), frozen_of(std::vector<char>(6)));
        if (kind == 1) return arrow_column::binary("", frozen_of(offsets), frozen_of(std::vector<std::byte>(6)));
        return arrow_column::list("", frozen_of(offsets), arrow_column("item", frozen_of(std::vector<int>(6))));
    };
    for (const int kind : {0, 1, 2}) {
        EXPECT_EQ(make(kind, good).size(), 4U);
        for (std::size_t i = 1; i + 1 < good.size(); ++i) {
            for (const Offset wrong : {Offset{-1}, Offset{7}, Offset{1000}}) {
                std::vector<Offset> bad = good;
                bad[i] = wrong;
                EXPECT_THROW(make(kind, bad), std::invalid_argument) << kind << ' ' << i << ' ' << wrong;
            }
        }
    }
}

TEST(hardened_columns_of_pieces, every_offset_is_looked_at) {
    offset_by_offset<std::int32_t>();
    offset_by_offset<std::int64_t>();
}

}    // namespace
