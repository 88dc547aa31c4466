// SPDX-License-Identifier: MIT
// Foreign code that runs during release: the owner's destructor and the exporter's release, in any order and nested.
#include <headroom/arrow.hpp>
#include <headroom/dlpack.hpp>

#include <functional>
#include <memory>
#include <optional>

#include "support/foreign_array.hpp"

namespace {

// Owner that calls a function in its destructor.
struct told {
    std::function<void()> end;
    std::vector<int> values = std::vector<int>(100, 7);
    explicit told(std::function<void()> tell) : end(std::move(tell)) {}
    told(const told&) = delete;
    ~told() { end(); }
};

headroom::frozen<int> values_of(std::unique_ptr<told> owner) {
    const std::span<const int> values(owner->values);
    return {values, std::move(owner)};
}

// A release callback marks the struct as released before it destroys the elements: their destructor may look at it.
TEST(handed_over, structs_say_that_they_are_released_before_the_elements_go) {
    ArrowArray array{};
    int ends = 0;
    headroom::export_arrow(values_of(std::make_unique<told>([&] {
                               ++ends;
                               EXPECT_EQ(array.release, nullptr);
                               if (array.release != nullptr) array.release(&array);
                           })),
                           100, &array, nullptr);
    array.release(&array);
    EXPECT_EQ(ends, 1);
    EXPECT_EQ(array.private_data, nullptr);
}

TEST(handed_over, streams_say_that_they_are_released_before_the_elements_go) {
    ArrowArrayStream stream{};
    int ends = 0;
    headroom::export_arrow_table(&stream, headroom::arrow_column("a", values_of(std::make_unique<told>([&] {
                                                                     ++ends;
                                                                     EXPECT_EQ(stream.release, nullptr);
                                                                 }))));
    stream.release(&stream);
    EXPECT_EQ(ends, 1);
}

// A released struct is not accessed after its elements are destroyed: it may lie in their owner.
TEST(handed_over, structs_may_lie_in_what_keeps_their_elements) {
    struct batch {
        std::vector<int> values = std::vector<int>(100, 7);
        ArrowArray array{};
        ArrowArrayStream stream{};
        char behind[64] = {};
    };
    {
        auto all = std::make_shared<batch>();
        ArrowArray* const array = &all->array;
        const std::span<const int> values(all->values);
        headroom::export_arrow(headroom::frozen<int>(values, std::move(all)), 100, array, nullptr);
        array->release(array);
    }
    auto all = std::make_shared<batch>();
    ArrowArrayStream* const stream = &all->stream;
    const std::span<const int> values(all->values);
    headroom::export_arrow_table(stream, headroom::arrow_column("a", headroom::frozen<int>(values, std::move(all))));
    stream->release(stream);
}

TEST(handed_over, a_tensor_is_gone_before_its_elements_go) {
    DLManagedTensorVersioned* tensor = nullptr;
    int ends = 0;
    tensor = headroom::to_dlpack(values_of(std::make_unique<told>([&] {
        ++ends;
        DLManagedTensorVersioned* const another = headroom::to_dlpack(headroom::freeze(std::vector<int>{1}));
        another->deleter(another);
    })));
    tensor->deleter(tensor);
    EXPECT_EQ(ends, 1);
}

// The owner of one array may hold the last share of another, in a chain.
TEST(handed_over, arrays_may_keep_each_other) {
    constexpr int links = 300;    // one destroys the next: more would not fit on the megabyte of stack that Windows gives
    int ends = 0;
    std::optional<headroom::frozen<int>> last;
    for (int i = 0; i != links; ++i) {
        auto kept = std::make_shared<std::optional<headroom::frozen<int>>>(std::move(last));
        last = values_of(std::make_unique<told>([kept, &ends] { ++ends; }));
    }
    ArrowArray array{};
    headroom::export_arrow(std::move(*last), 100, &array, nullptr);
    last.reset();
    array.release(&array);
    EXPECT_EQ(ends, links);
}

TEST(handed_over, a_frozen_that_was_moved_from_has_no_elements) {
    headroom::frozen<int> from = headroom::freeze(std::vector<int>{1, 2, 3});
    headroom::frozen<int> to = std::move(from);
    EXPECT_EQ(to.size(), 3U);
    EXPECT_TRUE(from.empty());
    EXPECT_EQ(from.data(), nullptr);
    EXPECT_EQ(from.shared().get(), nullptr);
    from = headroom::freeze(std::vector<int>{4});
    from = std::move(to);
    EXPECT_EQ(from[2], 3);
    EXPECT_TRUE(to.empty());
    auto& same = from;
    from = std::move(same);
    EXPECT_EQ(from.size(), 3U);
}

using headroom_test::foreign_array;

TEST(taken_over, an_array_is_the_importer_s_before_its_schema_is_released) {
    foreign_array from;
    {
        const auto in = headroom::import_arrow<std::int64_t>(&from.array, &from.schema);
        EXPECT_TRUE(from.array_was_the_importer_s);
        EXPECT_EQ(from.arrays_released, 0);
        EXPECT_EQ(in[9], 19);
    }
    EXPECT_EQ(from.arrays_released, 1);
}

// Some producers give an empty array an invalid address.
TEST(taken_over, no_elements_may_lie_anywhere) {
    foreign_array from;
    from.array.length = 0;
    from.buffers[1] = reinterpret_cast<const void*>(std::uintptr_t{1});
    {
        const auto in = headroom::import_arrow<std::int64_t>(&from.array, &from.schema);
        EXPECT_TRUE(in.empty());
        EXPECT_EQ(in.begin(), in.end());
    }
    foreign_array text;
    text.array.length = 0;
    text.array.n_buffers = 3;
    text.schema.format = "U";
    text.buffers[1] = text.buffers[2] = reinterpret_cast<const void*>(std::uintptr_t{1});
    EXPECT_TRUE(headroom::import_arrow<std::string_view>(&text.array, &text.schema).empty());
}

// An import is refused unless all elements lie in the named buffers. Nothing is read before that is checked.
TEST(taken_over, structs_of_every_shape_are_refused_or_right) {
    constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)(), least = (std::numeric_limits<std::int64_t>::min)();
    const std::vector<std::int64_t> numbers{least, -2, -1, 0, 1, 10, 11, most / 8, most / 4, most - 10, most};
    int taken = 0;
    for (const char* const format : {"l", "b", "U", "c"}) {
        for (const std::int64_t length : numbers) {
            for (const std::int64_t offset : numbers) {
                // A length wrong by less than the size of memory is undetectable, so it is left out.
                const bool may_be = length >= 0 && offset >= 0 && length <= most / 8 && offset <= most / 8;
                if (may_be && length + offset > 10) continue;
                for (const std::int64_t nulls : numbers) {
                    for (const int missing : {0, 1, 2, 3}) {    // the null buffer; 3: no list of buffers
                        foreign_array from;
                        const std::vector<std::uint8_t> bits(8, 0xFF);
                        from.values.assign(11, 0);
                        const void* const there[3] = {bits.data(), from.values.data(), from.values.data()};
                        for (int i = 0; i != 3; ++i) from.buffers[i] = i == missing ? nullptr : there[i];
                        from.array.length = length;
                        from.array.offset = offset;
                        from.array.null_count = nulls;
                        from.array.n_buffers = *format == 'U' ? 3 : 2;
                        if (missing == 3) from.array.buffers = nullptr;
                        from.schema.format = format;
                        try {
                            const auto look = [&](const auto& in) {
                                ++taken;
                                std::size_t sum = in.null_count();
                                for (std::size_t i = 0; i != in.size(); ++i) {
                                    if constexpr (requires { in[i].size(); }) {
                                        sum += in[i].size();
                                    } else {
                                        sum += static_cast<std::size_t>(in[i]);
                                    }
                                    sum += in.is_valid(i) ? 1U : 0U;
                                }
                                EXPECT_LE(in.size(), 10U) << sum;
                            };
                            constexpr auto allowed = headroom::nulls::allowed;
                            if (*format == 'l') look(headroom::import_arrow<std::int64_t>(&from.array, &from.schema, allowed));
                            if (*format == 'b') look(headroom::import_arrow<bool>(&from.array, &from.schema, allowed));
                            if (*format == 'U')
                                look(headroom::import_arrow<std::string_view>(&from.array, &from.schema, allowed));
                            if (*format == 'c') look(headroom::import_arrow<std::int8_t>(&from.array, &from.schema, allowed));
                            EXPECT_EQ(from.arrays_released, 1);
                        } catch (const std::invalid_argument&) {
                            EXPECT_NE(from.array.release, nullptr);
                            EXPECT_NE(from.schema.release, nullptr);
                            EXPECT_EQ(from.arrays_released, 0);
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(taken, 100);
}

}    // namespace
