// SPDX-License-Identifier: MIT
// Handed-over elements are released on any thread, and after main().
#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>
#include <headroom/reservation.hpp>

#include <thread>

namespace {

headroom::settled_vector<std::int64_t> counting(std::size_t count) {
    headroom::settled_vector<std::int64_t> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back(static_cast<std::int64_t>(i));
    return made;
}

TEST(arrow_threads, an_array_is_released_by_another_thread) {
    ArrowArray array{};
    headroom::export_arrow(counting(1000), &array, nullptr);
    const void* const where = array.buffers[1];
    std::thread([array]() mutable { array.release(&array); }).join();
    EXPECT_FALSE(headroom::owner_of(where));
}

TEST(arrow_threads, many_share_one_vector_and_the_last_gives_it_back) {
    const void* where = nullptr;
    {
        const auto shared = headroom::freeze(counting(1000));
        where = shared.data();
        std::vector<std::thread> threads;
        for (int each = 0; each < 4; ++each) {
            threads.emplace_back([shared] {
                for (int round = 0; round < 200; ++round) {
                    ArrowArray array{};
                    ArrowSchema schema{};
                    headroom::export_arrow(shared, 1000, &array, &schema);
                    const auto in = headroom::import_arrow<std::int64_t>(&array, &schema);
                    EXPECT_EQ(in[999], 999);
                    DLManagedTensorVersioned* const tensor = headroom::to_dlpack(shared);
                    tensor->deleter(tensor);
                }
            });
        }
        for (std::thread& each : threads) each.join();
        EXPECT_TRUE(headroom::owner_of(where));
    }
    EXPECT_FALSE(headroom::owner_of(where));
}

TEST(arrow_threads, chunks_are_released_while_others_are_read) {
    ArrowArrayStream stream{};
    headroom::export_arrow_table(&stream, headroom::chunk_rows(10), headroom::arrow_column("n", counting(1000)));
    std::vector<std::thread> threads;
    for (;;) {
        ArrowArray chunk{};
        ASSERT_EQ(stream.get_next(&stream, &chunk), 0);
        if (chunk.release == nullptr) break;
        threads.emplace_back([chunk]() mutable { chunk.release(&chunk); });
    }
    stream.release(&stream);
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(threads.size(), 100U);
}

// Released at program exit, after all static objects of the library. A leak checker and AddressSanitizer detect errors.
struct released_last {
    ArrowArray array{};
    ArrowArrayStream stream{};
    DLManagedTensorVersioned* tensor = nullptr;
    ~released_last() {
        if (array.release != nullptr) array.release(&array);
        if (stream.release != nullptr) stream.release(&stream);
        if (tensor != nullptr) tensor->deleter(tensor);
    }
};
released_last at_exit;

TEST(arrow_threads, what_is_released_after_main_is_released) {
    headroom::export_arrow(counting(1000), &at_exit.array, nullptr);
    headroom::export_arrow_table(&at_exit.stream, headroom::arrow_column("n", counting(1000)));
    at_exit.tensor = headroom::to_dlpack(headroom::freeze(counting(1000)));
}

}    // namespace
