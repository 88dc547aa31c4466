// Labels: own-heap no-valgrind
// Memory refused at every allocation in turn: nothing is half exported, nothing leaks, and what was to be given away is kept.
#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>

#include <cstdlib>
#include <new>

namespace {
long allocations_until_refused = 0;    // 0: none is
long allocations_alive = 0;

void* allocate(std::size_t bytes) {
    if (allocations_until_refused != 0 && --allocations_until_refused == 0) throw std::bad_alloc();
    void* const block = std::malloc(bytes);
    if (block == nullptr) throw std::bad_alloc();
    ++allocations_alive;
    return block;
}
void give_back(void* block) noexcept {
    if (block != nullptr) --allocations_alive;
    std::free(block);
}
}    // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void operator delete(void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }

namespace {

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

// Runs `work` with its first allocation refused, then the second, ... until none is. Returns how many were.
template <class Work>
long refuse_each(Work work) {
    work();    // control blocks of ranges are made once and kept
    for (long k = 1;; ++k) {
        const long alive = allocations_alive;
        const std::size_t ranges = headroom::reservations().size();
        bool thrown = false;
        allocations_until_refused = k;
        try {
            work();
        } catch (const std::bad_alloc&) {
            thrown = true;
        }
        const bool done = allocations_until_refused != 0;
        allocations_until_refused = 0;
        EXPECT_EQ(allocations_alive, alive) << "leaked when allocation " << k << " was refused";
        EXPECT_EQ(headroom::reservations().size(), ranges) << "leaked when allocation " << k << " was refused";
        EXPECT_EQ(thrown, !done);
        if (done || testing::Test::HasFailure()) return k - 1;
    }
}

TEST(arrow_refusals, a_vector_that_could_not_be_given_away_is_as_it_was) {
    const long refused = refuse_each([] {
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
    EXPECT_GT(refused, 5);
}

TEST(arrow_refusals, columns_that_could_not_be_made_leave_their_vectors_alone) {
    const long refused = refuse_each([] {
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
    EXPECT_GT(refused, 3);
}

TEST(arrow_refusals, a_table_is_exported_whole_or_not_at_all) {
    const auto shared = headroom::freeze(counting());
    const long refused = refuse_each([&shared] {
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
    EXPECT_GT(refused, 20);
    EXPECT_EQ(shared[99], 99);
}

// A stream is read by code that knows no exceptions: it answers ENOMEM, says why, and can be asked again.
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
    const long refused = refuse_each([&shared] {
        DLManagedTensorVersioned* const tensor = headroom::to_dlpack(shared);
        tensor->deleter(tensor);
        DLManagedTensor* const old = headroom::to_unversioned_dlpack(shared);
        old->deleter(old);
    });
    EXPECT_EQ(refused, 2);
}

TEST(arrow_refusals, freezing_takes_nothing_that_it_cannot_keep) {
    const long refused = refuse_each([] {
        auto vector = counting();
        try {
            static_cast<void>(headroom::freeze(std::move(vector)));
        } catch (const std::bad_alloc&) {
            EXPECT_EQ(vector.size(), 100U);
            throw;
        }
    });
    EXPECT_EQ(refused, 1);
}

}    // namespace
