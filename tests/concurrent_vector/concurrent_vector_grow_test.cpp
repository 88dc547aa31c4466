// SPDX-License-Identifier: MIT
// TBB's names (grow_by, grow_to_at_least, clear), elements made from their index, and ranges appended by an appender: on one
// thread and many, at limits, with an exception at each step.
// Labels: views
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <list>
#include <memory>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <headroom/concurrent_vector.hpp>
#include <headroom/testing.hpp>

#include "support/elements.hpp"
#include "support/emulated.hpp"

namespace {

using headroom::concurrent_vector;
using headroom::max_elements;
using headroom_test::book;
using headroom_test::counted;
using headroom_test::make;
using headroom_test::number;
using headroom_test::numbers;
using headroom_test::numbers_list;
using headroom_test::planned_failure;

template <class T>
class growing : public testing::Test {
protected:
    void SetUp() override { headroom_test::open_book(); }
    void TearDown() override { EXPECT_EQ(book.live, 0) << "elements were leaked, or destroyed more than once"; }
};
using kinds = testing::Types<int, std::string, std::unique_ptr<int>, headroom_test::self_referential, headroom_test::throwing,
                             headroom_test::move_only, headroom_test::throwing_move_only, headroom_test::opted_in,
                             headroom_test::overaligned, headroom_test::big, headroom_test::three_ints>;
TYPED_TEST_SUITE(growing, kinds);

template <class T>
inline constexpr bool has_appender = headroom::detail::nothrow_relocatable<T>;

template <class T>
bool is_default(const T& element) {
    if constexpr (std::is_same_v<T, std::unique_ptr<int>>) {
        return element == nullptr;
    } else if constexpr (std::is_same_v<T, std::string>) {
        return element.empty();
    } else {
        return number(element) == number(T());
    }
}

TYPED_TEST(growing, by_a_count_appends_elements_of_their_default) {
    concurrent_vector<TypeParam> v;
    v.push_back(make<TypeParam>(5));
    EXPECT_EQ(v.grow_by(300), 1U);
    EXPECT_EQ(v.grow_by(0), 301U);
    EXPECT_EQ(v.grow_by(1), 301U);
    ASSERT_EQ(v.size(), 302U);
    EXPECT_EQ(number(v[0]), 5);
    for (std::size_t i = 1; i != v.size(); ++i) ASSERT_TRUE(is_default(v[i]));
}

TYPED_TEST(growing, by_a_value_appends_copies_of_it_be_it_an_element) {
    if constexpr (std::is_copy_constructible_v<TypeParam>) {
        concurrent_vector<TypeParam> v;
        EXPECT_EQ(v.grow_by(3, make<TypeParam>(4)), 0U);
        EXPECT_EQ(v.grow_by(200, v[1]), 3U);
        EXPECT_EQ(v.grow_to_at_least(300, v[0]), 203U);
        EXPECT_EQ(v.grow_to_at_least(300, v[0]), 300U);
        EXPECT_EQ(v.grow_to_at_least(10, v[0]), 10U) << "as TBB's, it answers with what was asked for";
        EXPECT_EQ(numbers(v), numbers_list(300, 4));
    }
}

TYPED_TEST(growing, by_two_iterators_appends_what_is_between) {
    std::vector<TypeParam> some;
    for (int i = 0; i < 50; ++i) some.push_back(make<TypeParam>(i));
    std::list<TypeParam> more;
    for (int i = 50; i < 90; ++i) more.push_back(make<TypeParam>(i));
    concurrent_vector<TypeParam> v;
    EXPECT_EQ(v.grow_by(std::make_move_iterator(some.begin()), std::make_move_iterator(some.end())), 0U);
    EXPECT_EQ(v.grow_by(std::make_move_iterator(more.begin()), std::make_move_iterator(more.end())), 50U);
    EXPECT_EQ(numbers(v), counted(90));
}

TEST(growing_by_two_iterators, walks_a_stream_once_and_copies_memory_at_once) {
    concurrent_vector<int> v;
    std::istringstream text("0 1 2 3");
    EXPECT_EQ(v.grow_by(std::istream_iterator<int>(text), std::istream_iterator<int>()), 0U);
    const int numbers_of_memory[] = {4, 5, 6};
    EXPECT_EQ(v.grow_by(numbers_of_memory, numbers_of_memory + 3), 4U);
    EXPECT_EQ(v.grow_by(2, 9), 7U) << "two numbers are a count and a value";
    EXPECT_EQ(numbers(v), (numbers_list{0, 1, 2, 3, 4, 5, 6, 9, 9}));
}

TYPED_TEST(growing, past_the_limit_changes_nothing) {
    concurrent_vector<TypeParam> v(max_elements{100});
    v.grow_by(60);
    for (const std::size_t many : {std::size_t{41}, std::size_t{101}, SIZE_MAX / 2 + 1, SIZE_MAX}) {
        EXPECT_THROW(v.grow_by(many), std::length_error);
        EXPECT_THROW(v.grow_to_at_least(60 + (many < SIZE_MAX - 60 ? many : SIZE_MAX - 60)), std::length_error);
        EXPECT_THROW(v.append_indexed(many, [](std::size_t) { return make<TypeParam>(1); }), std::length_error);
        EXPECT_EQ(v.size(), 60U);
    }
    EXPECT_EQ(v.grow_to_at_least(100), 60U);
    EXPECT_THROW(v.append_indexed([](std::size_t) { return make<TypeParam>(1); }), std::length_error);
    EXPECT_EQ(v.size(), 100U);
}

TYPED_TEST(growing, takes_back_what_appenders_have_claimed) {
    if constexpr (has_appender<TypeParam>) {
        concurrent_vector<TypeParam> v(max_elements{100});
        {
            typename concurrent_vector<TypeParam>::appender idle(v, 64);
            idle.emplace_back(make<TypeParam>(7));
            v.grow_by(50);
            EXPECT_EQ(v.append_indexed(9, [](std::size_t index) { return make<TypeParam>(static_cast<int>(index)); }), 50U);
            EXPECT_EQ(v.grow_to_at_least(99), 59U);
            EXPECT_THROW(v.grow_by(1), std::length_error);
        }
        EXPECT_EQ(v.size(), 100U);
        EXPECT_EQ(number(v[99]), 7);
    }
}

TYPED_TEST(growing, with_an_exception_at_each_step_changes_nothing) {
    if constexpr (headroom_test::is_tracked<TypeParam>) {
        using vector = concurrent_vector<TypeParam>;
        const std::pair<const char*, void (*)(vector&)> operations[] = {
            {"grow_by", [](vector& v) { v.grow_by(20); }},
            {"grow_by of a value",
             [](vector& v) {
                 if constexpr (std::is_copy_constructible_v<TypeParam>) v.grow_by(20, v[1]);
             }},
            {"grow_to_at_least", [](vector& v) { v.grow_to_at_least(30); }},
            {"append_indexed",
             [](vector& v) { v.append_indexed(20, [](std::size_t i) { return TypeParam(static_cast<int>(i)); }); }},
            {"append_indexed, thrown by what makes it",
             [](vector& v) {
                 v.append_indexed(20, [](std::size_t i) {
                     headroom_test::step();
                     return static_cast<int>(i);
                 });
             }},
        };
        for (const auto& [name, run] : operations) {
            for (long j = 1;; ++j) {
                SCOPED_TRACE(std::string(name) + ", step " + std::to_string(j));
                vector v(max_elements{1000});
                for (int i = 0; i < 10; ++i) v.push_back(make<TypeParam>(i));
                headroom_test::open_book(j);
                bool thrown = false;
                try {
                    run(v);
                } catch (const planned_failure&) {
                    thrown = true;
                }
                headroom_test::open_book();
                if (thrown) {
                    EXPECT_EQ(numbers(v), counted(10));
                }
                v.push_back(make<TypeParam>(7));    // the lock is free
                EXPECT_EQ(number(v[v.size() - 1]), 7);
                if (!thrown || testing::Test::HasFailure()) break;
            }
        }
    }
}

TYPED_TEST(growing, with_each_call_of_the_system_refused_changes_nothing) {
    constexpr std::size_t many = 200'000 / sizeof(TypeParam) + 50;
    using vector = concurrent_vector<TypeParam>;
    void (*const operations[])(vector&) = {
        [](vector& v) { v.grow_by(many); }, [](vector& v) { v.grow_to_at_least(v.size() + many); },
        [](vector& v) { v.append_indexed(many, [](std::size_t) { return make<TypeParam>(1); }); }};
    for (const auto run : operations) {
        for (std::uint64_t k = 1;; ++k) {
            headroom::trim_cache();
            vector v(max_elements{2 * many + 100});
            for (int i = 0; i < 20; ++i) v.push_back(make<TypeParam>(i));
            headroom::testing::fail_system_call(k, ENOMEM, headroom::testing::afterwards::keep_failing);
            bool refused = false;
            try {
                run(v);
            } catch (const std::bad_alloc&) {
                refused = true;
            }
            const std::uint64_t calls = headroom::testing::stop_failing();
            if (refused) {
                EXPECT_EQ(numbers(v), counted(20));
            }
            EXPECT_EQ(v.size(), refused ? 20 : 20 + many);
            run(v);
            if (calls < k || testing::Test::HasFailure()) break;
        }
    }
}

TYPED_TEST(growing, again_after_a_clear_uses_the_same_memory) {
    concurrent_vector<TypeParam> v;
    v.clear();
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 1000; ++i) v.push_back(make<TypeParam>(i));
        EXPECT_EQ(numbers(v), counted(1000));
        const std::size_t capacity = v.capacity();
        const TypeParam* const first = v.data();
        v.clear();
        EXPECT_TRUE(v.empty());
        EXPECT_TRUE(v.published().empty());
        EXPECT_EQ(v.capacity(), capacity);
        EXPECT_EQ(v.data(), first);
        if constexpr (headroom_test::is_tracked<TypeParam>) {
            EXPECT_EQ(book.live, 0);
        }
    }
    concurrent_vector<TypeParam> given(max_elements{10});
    static_cast<void>(std::move(given).take());
    given.clear();
}

TYPED_TEST(growing, again_after_a_clear_to_the_last_element_with_appenders_left) {
    if constexpr (has_appender<TypeParam>) {
        concurrent_vector<TypeParam> v(max_elements{100});
        typename concurrent_vector<TypeParam>::appender out(v, 40);
        for (int round = 0; round < 4; ++round) {
            for (int i = static_cast<int>(out.size()); i < 90; ++i) out.emplace_back(make<TypeParam>(i));
            EXPECT_EQ(v.size(), 80U);
            EXPECT_EQ(out.size(), 10U);
            v.clear();
            EXPECT_EQ(out.size(), 10U) << "what is not published is the appender's";
            out.discard();
            for (int i = 0; i < 100; ++i) out.emplace_back(make<TypeParam>(i));
            EXPECT_THROW(out.emplace_back(make<TypeParam>(0)), std::length_error);
            out.flush();
            EXPECT_EQ(numbers(v), counted(100));
            v.clear();
        }
    }
}

TYPED_TEST(growing, makes_elements_of_their_index) {
    concurrent_vector<TypeParam> v;
    const auto of_index = [](std::size_t index) { return make<TypeParam>(static_cast<int>(index)); };
    for (int i = 0; i < 50; ++i) EXPECT_EQ(v.append_indexed(of_index), static_cast<std::size_t>(i));
    EXPECT_EQ(v.append_indexed(100, of_index), 50U);
    EXPECT_EQ(v.append_indexed(0, of_index), 150U);
    if constexpr (has_appender<TypeParam>) {
        typename concurrent_vector<TypeParam>::appender out(v, 16);
        for (int i = 150; i < 200; ++i) {
            if (i % 3 == 0) {
                EXPECT_EQ(out.append_indexed(of_index), static_cast<std::size_t>(i));
            } else {
                out.emplace_back(make<TypeParam>(i));
            }
        }
        out.flush();
        EXPECT_EQ(v.size(), 200U);
    }
    EXPECT_EQ(numbers(v), counted(v.size()));
}

struct knows_its_place {
    explicit knows_its_place(std::size_t i) : index(i), self(this) {}
    knows_its_place(const knows_its_place&) = delete;
    knows_its_place& operator=(const knows_its_place&) = delete;
    std::size_t index;
    const knows_its_place* self;
};
TEST(elements_that_cannot_be_moved, are_made_of_their_index_in_their_place) {
    concurrent_vector<knows_its_place> v;
    for (int i = 0; i < 100; ++i) v.append_indexed([](std::size_t index) { return knows_its_place(index); });
    v.append_indexed(100, [](std::size_t index) { return index; });
    for (std::size_t i = 0; i != 200; ++i) {
        ASSERT_EQ(v[i].index, i);
        ASSERT_EQ(v[i].self, v.data() + i);
    }
}

// --- Ranges appended by an appender.

TYPED_TEST(growing, by_ranges_an_appender_publishes_whole_batches) {
    if constexpr (has_appender<TypeParam>) {
        for (const std::size_t batch : {1U, 3U, 64U, 1000U}) {
            concurrent_vector<TypeParam> v(max_elements{5000});
            typename concurrent_vector<TypeParam>::appender out(v, batch);
            std::size_t given = 0;
            for (const std::size_t length : {0U, 1U, 2U, 7U, 100U, 500U, 1000U, 3U}) {
                std::vector<TypeParam> some;
                for (std::size_t i = 0; i != length; ++i) some.push_back(make<TypeParam>(static_cast<int>(given + i)));
                if constexpr (std::is_copy_constructible_v<TypeParam>) {
                    out.append_range(some);
                } else {
                    out.append_range(some |
                                     std::views::transform([](TypeParam& each) -> TypeParam&& { return std::move(each); }));
                }
                given += length;
                EXPECT_EQ(v.size(), given / batch * batch);
                EXPECT_EQ(out.size(), given % batch);
            }
            out.flush();
            EXPECT_EQ(numbers(v), counted(given));
            if constexpr (std::is_copy_constructible_v<TypeParam>) {
                out.append_range(v.published());    // which does not grow while it is walked
                out.append_range({make<TypeParam>(1), make<TypeParam>(2)});
                out.flush();
                EXPECT_EQ(v.size(), 2 * given + 2);
                EXPECT_EQ(number(v[2 * given - 1]), static_cast<int>(given) - 1);
                EXPECT_EQ(number(v[2 * given + 1]), 2);
            }
        }
    }
}

TYPED_TEST(growing, by_a_range_that_does_not_fit_an_appender_keeps_what_does) {
    if constexpr (has_appender<TypeParam> && std::is_copy_constructible_v<TypeParam>) {
        std::vector<TypeParam> some;
        for (int i = 0; i < 80; ++i) some.push_back(make<TypeParam>(i));
        for (const std::size_t batch : {1U, 7U, 64U, 1000U}) {
            concurrent_vector<TypeParam> v(max_elements{60});
            typename concurrent_vector<TypeParam>::appender other(v, 30), out(v, batch);
            other.push_back(some[0]);    // has claimed more than it will need
            EXPECT_THROW(out.append_range(some), std::length_error);
            EXPECT_THROW(out.append_range(some), std::length_error);
            out.flush();
            EXPECT_EQ(numbers(v), counted(59));
            EXPECT_THROW(other.append_range(some), std::length_error);
            other.flush();
            EXPECT_EQ(v.size(), 60U);
        }
    }
}

TYPED_TEST(growing, by_a_range_whose_elements_throw_an_appender_keeps_those_before) {
    if constexpr (has_appender<TypeParam> && headroom_test::is_tracked<TypeParam> && std::is_copy_constructible_v<TypeParam>) {
        std::vector<TypeParam> some;
        for (int i = 0; i < 20; ++i) some.push_back(make<TypeParam>(i));
        for (long j = 1; j <= 20; ++j) {
            concurrent_vector<TypeParam> v;
            {
                typename concurrent_vector<TypeParam>::appender out(v, 6);
                headroom_test::open_book(j);
                EXPECT_THROW(out.append_range(some), planned_failure);
                headroom_test::open_book();
                EXPECT_EQ(v.size(), static_cast<std::size_t>((j - 1) / 6 * 6));
            }
            EXPECT_EQ(numbers(v), counted(static_cast<std::size_t>(j - 1)));
        }
    }
}

TEST(a_range_given_to_an_appender, that_claims_step_by_step_arrives_whole) {
    headroom::trim_cache();
    concurrent_vector<int> v;
    concurrent_vector<int>::appender out(v, 1'000'000);
    const std::vector<int> some = [] {
        std::vector<int> made(300'000);
        for (std::size_t i = 0; i != made.size(); ++i) made[i] = static_cast<int>(i);
        return made;
    }();
    out.append_range(some);
    EXPECT_EQ(out.size(), 300'000U);
    EXPECT_EQ(v.size(), 0U);
    for (std::uint64_t k = 1; k <= 3; ++k) {
        headroom::testing::fail_system_call(k, ENOMEM);
        out.append_range(std::vector<int>(10));
        headroom::testing::stop_failing();
    }
    out.flush();
    ASSERT_EQ(v.size(), 300'030U);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), v.begin()));
}

// --- Many threads.

template <class Body>
void in_threads(unsigned count, Body body) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < count; ++t) threads.emplace_back([&, t] { body(t); });
    for (auto& each : threads) each.join();
}

TEST(threads_that_grow_it, to_a_size_make_it_no_larger) {
    for (int round = 0; round < headroom_test::times(40, 8); ++round) {
        concurrent_vector<std::string> moved;
        concurrent_vector<int> copied;
        std::atomic<std::size_t> appended{0};
        in_threads(4, [&](unsigned t) {
            for (std::size_t n = 1; n <= 300; ++n) {
                const std::size_t first = moved.grow_to_at_least(n + t, "a text that has no room inside of a string");
                ASSERT_LE(first, n + t);
                ASSERT_GE(moved.size(), n + t);
                ASSERT_EQ(moved[n + t - 1], "a text that has no room inside of a string");
                appended += n + t - first >= 1 ? 1 : 0;
                ASSERT_LE(copied.grow_to_at_least(2 * n, 5), 2 * n);
                ASSERT_EQ(copied[2 * n - 1], 5);
            }
        });
        EXPECT_EQ(moved.size(), 303U);
        EXPECT_EQ(copied.size(), 600U);
        EXPECT_GE(appended, 1U);
    }
}

TEST(threads_that_grow_it, by_blocks_get_each_one_of_their_own) {
    concurrent_vector<int> v;
    in_threads(4, [&](unsigned t) {
        const int rounds = headroom_test::times(500, 50);
        for (int r = 0; r < rounds; ++r) {
            const std::size_t count = 1 + static_cast<std::size_t>(r) % 50;
            const std::size_t first = v.grow_by(count);
            for (std::size_t i = first; i != first + count; ++i) {
                ASSERT_EQ(v[i], 0);
                v[i] = static_cast<int>(t) + 1;
            }
        }
    });
    for (const int each : v) ASSERT_NE(each, 0);
}

TEST(threads_that_grow_it, make_each_element_of_its_own_index) {
    concurrent_vector<std::size_t> v;
    const unsigned rounds = headroom_test::times(2000U, 100U);
    in_threads(4, [&](unsigned t) {
        const auto own = [](std::size_t index) { return index + 1; };
        concurrent_vector<std::size_t>::appender out(v, 10);
        for (unsigned r = 0; r < rounds; ++r) {
            if (t % 2 == 0) {
                v.append_indexed(1 + r % 5, own);
            } else {
                out.append_indexed(own);
                if (r % 4 == 0) out.emplace_back(0U);
            }
        }
    });
    for (std::size_t i = 0; i != v.size(); ++i) ASSERT_TRUE(v[i] == i + 1 || v[i] == 0);
}

TEST(threads_that_grow_it, by_ranges_fill_it_exactly_and_in_each_ones_order) {
    struct label {
        unsigned thread, number;
    };
    for (const std::size_t batch : {5U, 64U, 700U}) {
        const unsigned each = headroom_test::times(20'000U, 2000U);
        concurrent_vector<label> v(max_elements{std::size_t{4} * each});
        in_threads(4, [&](unsigned t) {
            concurrent_vector<label>::appender out(v, batch);
            for (unsigned n = 0; n != each;) {
                std::vector<label> some;
                const unsigned until = n + 1 + n % 97 < each ? n + 1 + n % 97 : each;
                for (; n != until; ++n) some.push_back({t, n});
                out.append_range(some);
            }
        });
        ASSERT_EQ(v.size(), v.max_size());
        std::vector<unsigned> next(4, 0);
        for (const label& found : v) ASSERT_EQ(found.number, next[found.thread]++);
    }
}

}    // namespace
