// SPDX-License-Identifier: MIT
// Labels: own-heap no-valgrind
// Refuses every allocation and every system call: no half export, no leak, and elements that could not be exported stay with
// their owner.
#include <headroom/arrow.hpp>
#include <headroom/concurrent_vector.hpp>
#include <headroom/dlpack.hpp>
#include <headroom/vector.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "support/foreign_array.hpp"
#include "support/refused_allocations.hpp"

namespace {

using headroom_test::allocations_alive;
using headroom_test::allocations_until_refused;
using headroom_test::refuse_each;

headroom::settled_vector<int> counting() {
    headroom::settled_vector<int> made;
    for (int i = 0; i < 100; ++i) made.push_back(i);
    return made;
}

headroom::bit_column bits() {
    headroom::bit_column made;
    for (int i = 0; i < 100; ++i) made.push_back(i % 2 == 0);
    return made;
}

TEST(arrow_refusals, a_vector_that_could_not_be_given_away_is_as_it_was) {
    const auto met = refuse_each([] {
        auto vector = counting();
        const int* const where = vector.data();
        ArrowArray array{};
        ArrowSchema schema{};
        try {
            headroom::export_arrow(std::move(vector), &array, &schema, "a name that is longer than short strings are");
        } catch (const std::bad_alloc&) {
            EXPECT_EQ(vector.data(), where);
            EXPECT_EQ(vector.size(), 100U);
            EXPECT_EQ(array.release, nullptr);
            EXPECT_EQ(schema.release, nullptr);
            throw;
        }
        array.release(&array);
        schema.release(&schema);
    });
    EXPECT_GT(met.allocations, 5);
}

TEST(arrow_refusals, columns_that_could_not_be_made_leave_their_vectors_alone) {
    const auto met = refuse_each([] {
        auto vector = counting();
        auto flags = bits();
        auto validity = bits();
        try {
            headroom::arrow_column column("a name that is longer than short strings are", std::move(vector));
            headroom::arrow_column flag("flag", std::move(flags));
            static_cast<void>(std::move(column).nullable(std::move(validity)));
        } catch (const std::bad_alloc&) {
            EXPECT_EQ(validity.size(), 100U);
            EXPECT_EQ(validity.count(), 50U);
            throw;
        }
        EXPECT_TRUE(validity.empty());
    });
    EXPECT_GT(met.allocations, 3);
}

TEST(arrow_refusals, a_table_is_exported_whole_or_not_at_all) {
    const auto shared = headroom::freeze(counting());
    const auto met = refuse_each([&shared] {
        ArrowArrayStream stream{};
        try {
            std::vector<headroom::arrow_column> fields;
            fields.emplace_back("x", shared);
            fields.emplace_back("flags", bits());
            auto offsets = headroom::freeze(headroom::settled_vector<std::int32_t>(101, 0));
            headroom::export_arrow_table(&stream, headroom::chunk_rows(30), headroom::arrow_column("n", shared),
                                         headroom::arrow_column::record("s", std::move(fields)).nullable(bits()),
                                         headroom::arrow_column::text("t", offsets, headroom::frozen<char>()),
                                         headroom::arrow_column::list("l", offsets, headroom::arrow_column("item", shared)));
        } catch (const std::bad_alloc&) {
            EXPECT_EQ(stream.release, nullptr);
            throw;
        }
        stream.release(&stream);
    });
    EXPECT_GT(met.allocations, 20);
    EXPECT_EQ(shared[99], 99);
}

// A stream's callbacks throw nothing: they return ENOMEM with a message, and can be called again.
TEST(arrow_refusals, a_stream_answers_and_goes_on) {
    const auto shared = headroom::freeze(counting());
    ArrowArrayStream stream{};
    headroom::export_arrow_table(&stream, headroom::chunk_rows(60), headroom::arrow_column("n", shared),
                                 headroom::arrow_column("flags", bits()));
    for (long k = 1;; ++k) {
        const long alive = allocations_alive;
        ArrowSchema schema{};
        allocations_until_refused = k;
        const int answer = stream.get_schema(&stream, &schema);
        const bool refused = allocations_until_refused == 0;
        allocations_until_refused = 0;
        EXPECT_EQ(answer, refused ? ENOMEM : 0);
        if (!refused) {
            schema.release(&schema);
            break;
        }
        EXPECT_STREQ(stream.get_last_error(&stream), "headroom: memory was refused");
        EXPECT_EQ(schema.release, nullptr);
        EXPECT_EQ(allocations_alive, alive);
    }
    std::int64_t rows = 0;
    for (long k = 1;; ++k) {
        const long alive = allocations_alive;
        ArrowArray chunk{};
        allocations_until_refused = k;
        const int answer = stream.get_next(&stream, &chunk);
        const bool refused = allocations_until_refused == 0;
        allocations_until_refused = 0;
        EXPECT_EQ(answer, refused ? ENOMEM : 0);
        if (refused) {
            EXPECT_EQ(allocations_alive, alive);
            continue;
        }
        if (chunk.release == nullptr) break;
        rows += chunk.length;
        chunk.release(&chunk);
        k = 0;
    }
    EXPECT_EQ(rows, 100);
    EXPECT_EQ(stream.get_last_error(&stream), nullptr);
    stream.release(&stream);
}

TEST(arrow_refusals, a_tensor_is_made_or_not) {
    const auto shared = headroom::freeze(counting());
    const auto met = refuse_each([&shared] {
        DLManagedTensorVersioned* const tensor = headroom::to_dlpack(shared);
        tensor->deleter(tensor);
        DLManagedTensor* const old = headroom::to_unversioned_dlpack(shared);
        old->deleter(old);
    });
    EXPECT_EQ(met.allocations, 2);
}

TEST(arrow_refusals, freezing_takes_nothing_that_it_cannot_keep) {
    const auto met = refuse_each([] {
        auto vector = counting();
        try {
            static_cast<void>(headroom::freeze(std::move(vector)));
        } catch (const std::bad_alloc&) {
            EXPECT_EQ(vector.size(), 100U);
            throw;
        }
    });
    EXPECT_EQ(met.allocations, 1);
}

// Freezing a vector either succeeds or keeps its elements.
template <class Vector>
void append_to(Vector& vector) {
    for (int i = 0; i < 3000; ++i) vector.push_back(i);
}
template <class Shared>
void expect_counted(const Shared& shared) {
    ASSERT_EQ(shared.size(), 3000U);
    for (std::size_t i = 0; i < 3000; ++i) ASSERT_EQ(shared[i], static_cast<int>(i));
}

template <class Vector>
class freezing : public testing::Test {};
using containers =
    testing::Types<headroom::settled_vector<int>, headroom::vector<int>, std::vector<int>, headroom::concurrent_vector<int>>;
TYPED_TEST_SUITE(freezing, containers);

TYPED_TEST(freezing, keeps_what_it_cannot_share) {
    const auto met = refuse_each([] {
        TypeParam vector;
        append_to(vector);
        std::optional<headroom::frozen<int>> shared;
        try {
            shared = headroom::freeze(std::move(vector));
        } catch (const std::bad_alloc&) {
            expect_counted(vector);
            throw;
        }
        expect_counted(*shared);
        const headroom::frozen<int> again = shared->first(10);
        shared.reset();
        EXPECT_EQ(again[9], 9);
    });
    EXPECT_GT(met.allocations, 0);
}

TYPED_TEST(freezing, of_an_owner_keeps_the_owner) {
    const auto met = refuse_each([] {
        auto owner = std::make_unique<TypeParam>();
        append_to(*owner);
        const std::span<const int> elements(std::as_const(*owner).data(), owner->size());
        try {
            const headroom::frozen<int> shared(elements, std::move(owner));
            expect_counted(shared);
            ArrowArray array{};
            headroom::export_arrow(shared, 3000, &array, nullptr, "a name that is longer than short strings are");
            array.release(&array);
        } catch (const std::bad_alloc&) {
            if (owner != nullptr) expect_counted(*owner);
            throw;
        }
    });
    EXPECT_GT(met.allocations, 2);
}

TEST(arrow_refusals, a_published_part_is_shared_or_not) {
    const auto met = refuse_each([] {
        auto vector = std::make_shared<headroom::concurrent_vector<int>>();
        append_to(*vector);
        const headroom::frozen<int> part = headroom::freeze(vector);
        vector->push_back(3000);
        vector.reset();
        expect_counted(part);
    });
    EXPECT_EQ(met.allocations, 2);    // the vector itself, and its control block
    EXPECT_GT(met.refused_by_calls, 0);
}

// A valid import allocates nothing. A refused import releases nothing, even if there is no memory for its message.
TEST(arrow_refusals, importing_takes_nothing_that_it_refuses) {
    {
        headroom_test::foreign_array from;
        allocations_until_refused = 1;
        const auto in = headroom::import_arrow<std::int64_t>(&from.array, &from.schema);
        EXPECT_EQ(std::exchange(allocations_until_refused, 0), 1);
        EXPECT_EQ(in[9], 19);
    }
    for (long k = 1;; ++k) {
        headroom_test::foreign_array from;
        const long alive = allocations_alive;
        bool told = false;
        allocations_until_refused = k;
        try {
            static_cast<void>(headroom::import_arrow<double>(&from.array, &from.schema));
        } catch (const std::bad_alloc&) {
        } catch (const std::invalid_argument&) {
            told = true;
        }
        allocations_until_refused = 0;
        EXPECT_EQ(allocations_alive, alive);
        EXPECT_EQ(from.arrays_released + from.schemas_released, 0);
        EXPECT_NE(from.array.release, nullptr);
        EXPECT_NE(from.schema.release, nullptr);
        if (told || testing::Test::HasFailure()) break;
    }
}

// Bits are stored in bytes, whose allocation can fail at any of them.
TEST(arrow_refusals, a_bit_that_finds_no_room_is_not_counted) {
    const auto met = refuse_each([] {
        headroom::bit_column column;
        std::size_t in = 0;
        try {
            for (; in < 40'000 * 8; in += 8) {
                for (std::size_t i = 0; i < 8; ++i) column.push_back(i < 3);
            }
        } catch (const std::bad_alloc&) {
            EXPECT_EQ(column.size(), in);
            EXPECT_EQ(column.count(), in / 8 * 3);
            throw;
        }
    });
    EXPECT_GT(met.refused_by_calls, 2);
}

}    // namespace
