// SPDX-License-Identifier: MIT
// Appenders in one thread: when batches are published, that nothing is published twice or lost, and that all max_size() elements
// fit in spite of claimed slots.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <headroom/concurrent_vector.hpp>
#include <headroom/testing.hpp>

#include "support/elements.hpp"

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
class an_appender : public testing::Test {
protected:
    void SetUp() override { headroom_test::open_book(); }
    void TearDown() override { EXPECT_EQ(book.live, 0) << "elements were leaked, or destroyed more than once"; }
};
using kinds = testing::Types<int, std::string, std::unique_ptr<int>, headroom_test::self_referential, headroom_test::move_only,
                             headroom_test::opted_in, headroom_test::overaligned, headroom_test::big, headroom_test::three_ints>;
TYPED_TEST_SUITE(an_appender, kinds);

template <class T>
using appender = typename concurrent_vector<T>::appender;

TYPED_TEST(an_appender, publishes_a_batch_when_it_is_complete) {
    concurrent_vector<TypeParam> v;
    appender<TypeParam> out(v, 3);
    for (int i = 0; i < 10; ++i) {
        out.emplace_back(make<TypeParam>(i));
        EXPECT_EQ(v.size(), static_cast<std::size_t>((i + 1) / 3 * 3));
    }
    EXPECT_EQ(numbers(v), counted(9));
    out.flush();
    EXPECT_EQ(numbers(v), counted(10));
    out.flush();
    EXPECT_EQ(v.size(), 10U);
}

TYPED_TEST(an_appender, publishes_the_rest_at_its_end) {
    concurrent_vector<TypeParam> v;
    {
        appender<TypeParam> out(v);
        for (int i = 0; i < 5; ++i) out.push_back(make<TypeParam>(i));
        const std::size_t whole = 5 / out.default_batch * out.default_batch;
        EXPECT_EQ(v.size(), whole);
    }
    EXPECT_EQ(numbers(v), counted(5));
}

TYPED_TEST(an_appender, discards_what_is_not_published) {
    concurrent_vector<TypeParam> v;
    {
        appender<TypeParam> out(v, 4);
        for (int i = 0; i < 6; ++i) out.emplace_back(make<TypeParam>(i));
        out.discard();
        EXPECT_EQ(numbers(v), counted(4));
        out.emplace_back(make<TypeParam>(4));
        out.discard();
        out.discard();
        out.emplace_back(make<TypeParam>(4));
    }
    EXPECT_EQ(numbers(v), counted(5));
}

TYPED_TEST(an_appender, takes_a_batch_of_none_for_one_of_one) {
    concurrent_vector<TypeParam> v;
    appender<TypeParam> out(v, 0);
    out.emplace_back(make<TypeParam>(0));
    EXPECT_EQ(v.size(), 1U);
}

TYPED_TEST(an_appender, fills_the_vector_to_its_limit_and_not_further) {
    for (const std::size_t batch : {1U, 7U, 64U, 1000U}) {
        concurrent_vector<TypeParam> v(max_elements{100});
        {
            appender<TypeParam> out(v, batch);
            for (int i = 0; i < 100; ++i) out.emplace_back(make<TypeParam>(i));
            EXPECT_THROW(out.emplace_back(make<TypeParam>(100)), std::length_error);
            EXPECT_THROW(out.emplace_back(make<TypeParam>(100)), std::length_error);
        }
        EXPECT_EQ(numbers(v), counted(100));
    }
}

TYPED_TEST(an_appender, leaves_room_that_it_does_not_need_to_others) {
    // An appender with one element and a claimed batch leaves the rest of the batch to others, up to the last slot.
    for (const std::size_t batch : {7U, 64U, 1000U}) {
        concurrent_vector<TypeParam> v(max_elements{200});
        std::size_t fitted = 0;
        {
            appender<TypeParam> idle(v, batch);
            idle.emplace_back(make<TypeParam>(0));
            appender<TypeParam> busy(v, batch);
            for (int i = 0; i < 100; ++i) busy.emplace_back(make<TypeParam>(i));
            for (;; ++fitted) {
                try {
                    v.emplace_back(make<TypeParam>(0));
                } catch (const std::length_error&) {
                    break;
                }
            }
            EXPECT_EQ(fitted, 99U);
            EXPECT_THROW(idle.emplace_back(make<TypeParam>(0)), std::length_error);
            EXPECT_THROW(busy.emplace_back(make<TypeParam>(0)), std::length_error);
            idle.discard();    // a discarded element frees its slot
            busy.emplace_back(make<TypeParam>(0));
            EXPECT_THROW(busy.emplace_back(make<TypeParam>(0)), std::length_error);
        }
        EXPECT_EQ(v.size(), 200U);
    }
}

// Default-sized vectors become small.
struct small_policy : headroom::settled_policy {
    static constexpr std::size_t default_reservation = 65536, smallest_reservation = 4096;
};

TYPED_TEST(an_appender, keeps_few_places_of_a_reservation_that_nobody_counted) {
    for (const std::size_t batch : {4U, 6U, 64U, 1000U}) {
        concurrent_vector<TypeParam, small_policy> v;
        using appender = typename concurrent_vector<TypeParam, small_policy>::appender;
        {
            appender published(v, batch);    // empty again: keeps no claimed slots
            for (int i = 0; i < 2; ++i) published.emplace_back(make<TypeParam>(0));
            published.flush();
            appender idle(v, batch);
            for (int i = 0; i < 2; ++i) idle.emplace_back(make<TypeParam>(0));
            appender busy(v, batch);
            std::size_t fitted = 4;    // those of the others
            for (;; ++fitted) {
                try {
                    busy.emplace_back(make<TypeParam>(0));
                } catch (const std::length_error&) {
                    break;
                }
            }
            EXPECT_LE(fitted, v.max_size());
            EXPECT_GE(fitted + 512 / sizeof(TypeParam), v.max_size());
            while (fitted != v.max_size()) {    // it can use the slots that it has kept
                idle.emplace_back(make<TypeParam>(0));
                ++fitted;
            }
            EXPECT_THROW(idle.emplace_back(make<TypeParam>(0)), std::length_error);
        }
        EXPECT_EQ(v.size(), v.max_size());
    }
}

TEST(a_large_batch, takes_memory_as_it_is_built) {
    concurrent_vector<int> v;
    {
        concurrent_vector<int>::appender out(v, std::size_t{1} << 26);
        out.emplace_back(0);
        EXPECT_LE(v.capacity(), std::size_t{1} << 22) << "a whole batch was provided for one element";
        for (int i = 1; i < 1'000'000; ++i) out.emplace_back(i);
        EXPECT_EQ(v.size(), 0U);
    }
    EXPECT_EQ(numbers(v), counted(1'000'000));
}

TYPED_TEST(an_appender, shares_the_last_room_with_others_in_turn) {
    concurrent_vector<TypeParam> v(max_elements{1000});
    std::size_t built = 0;
    {
        std::vector<std::unique_ptr<appender<TypeParam>>> all;
        for (int i = 0; i < 8; ++i) all.push_back(std::make_unique<appender<TypeParam>>(v, 256));
        std::size_t full = 0;
        for (std::size_t i = 0; full != all.size(); i = (i + 1) % all.size()) {
            try {
                all[i]->emplace_back(make<TypeParam>(0));
                ++built;
                full = 0;
            } catch (const std::length_error&) {
                ++full;
            }
        }
    }
    EXPECT_EQ(built, 1000U);
    EXPECT_EQ(v.size(), 1000U);
}

TYPED_TEST(an_appender, interleaves_with_single_appends_and_other_appenders) {
    concurrent_vector<TypeParam> v;
    std::size_t sum = 0;
    {
        appender<TypeParam> a(v, 5), b(v, 11);
        for (int i = 0; i < 2000; ++i) {
            a.emplace_back(make<TypeParam>(i));
            b.emplace_back(make<TypeParam>(i));
            v.emplace_back(make<TypeParam>(i));
        }
    }
    ASSERT_EQ(v.size(), 6000U);
    for (const TypeParam& each : v) sum += static_cast<std::size_t>(number(each));
    EXPECT_EQ(sum, 3U * 1999U * 1000U);
}

TEST(an_appender_of_tracked_elements, keeps_what_it_has_built_when_a_constructor_throws) {
    headroom_test::open_book();
    {
        concurrent_vector<headroom_test::self_referential> v;
        {
            concurrent_vector<headroom_test::self_referential>::appender out(v, 100);
            for (int i = 0; i < 10; ++i) {
                headroom_test::open_book(1);
                EXPECT_THROW(out.emplace_back(1000), planned_failure);
                headroom_test::open_book();
                out.emplace_back(i);
            }
        }
        EXPECT_EQ(numbers(v), counted(10));
    }
    EXPECT_EQ(book.live, 0);
}

template <std::size_t Bytes>
struct refuses_or_not {
    explicit refuses_or_not(bool refuse) {
        if (refuse) throw planned_failure{};
    }
    unsigned char bytes[Bytes] = {};
};
template <class T>
class an_appender_whose_constructor_threw : public testing::Test {};
using sizes = testing::Types<refuses_or_not<1>, refuses_or_not<8>, refuses_or_not<48>, refuses_or_not<300>, refuses_or_not<600>>;
TYPED_TEST_SUITE(an_appender_whose_constructor_threw, sizes);

TYPED_TEST(an_appender_whose_constructor_threw, keeps_nothing_once_it_is_flushed) {
    for (const std::size_t batch : {1U, 4U, 1000U}) {
        concurrent_vector<TypeParam, small_policy> v;
        typename concurrent_vector<TypeParam, small_policy>::appender refused(v, batch);
        EXPECT_THROW(refused.emplace_back(true), planned_failure);
        refused.flush();
        for (std::size_t i = 0; i < v.max_size(); ++i) ASSERT_NO_THROW(v.emplace_back(false)) << i << " of " << v.max_size();
    }
}

TEST(an_appender_of_tracked_elements, throws_away_nothing_when_an_exception_ends_it) {
    headroom_test::open_book();
    {
        concurrent_vector<headroom_test::self_referential> v;
        try {
            concurrent_vector<headroom_test::self_referential>::appender out(v, 100);
            out.emplace_back(1);
            throw planned_failure{};
        } catch (const planned_failure&) {}
        EXPECT_EQ(numbers(v), (numbers_list{1}));
    }
    EXPECT_EQ(book.live, 0);
}

TEST(an_appender_of_ints, refuses_a_batch_that_no_array_can_have) {
    concurrent_vector<int> v;
    EXPECT_THROW(concurrent_vector<int>::appender(v, SIZE_MAX), std::length_error);
    v.push_back(1);
    EXPECT_EQ(v.size(), 1U);
}

TEST(an_appender_of_ints, publishes_what_it_built_though_every_later_call_is_refused) {
    headroom::trim_cache();
    concurrent_vector<int> v;
    {
        concurrent_vector<int>::appender out(v, 100'000);
        for (int i = 0; i < 50'000; ++i) out.emplace_back(i);
        headroom::testing::fail_system_call(1, ENOMEM, headroom::testing::afterwards::keep_failing);
    }
    headroom::testing::stop_failing();
    EXPECT_EQ(numbers(v), counted(50'000));
}

TEST(an_appender_of_ints, takes_less_than_a_batch_when_memory_is_refused) {
    headroom::trim_cache();
    concurrent_vector<int> v;
    concurrent_vector<int>::appender out(v, 10'000);
    // A refused commit is retried after the cache is released, and then with fewer pages.
    for (std::uint64_t k = 1; k <= 3; ++k) {
        headroom::testing::fail_system_call(k, ENOMEM);
        out.emplace_back(static_cast<int>(k));
        headroom::testing::stop_failing();
    }
    out.flush();
    EXPECT_EQ(numbers(v), counted(3, 1));
}

// Commits memory for the elements built and a little ahead, not for the whole batch.
TYPED_TEST(an_appender, of_a_huge_batch_asks_for_memory_as_the_batch_fills) {
    constexpr std::size_t MiB = std::size_t{1} << 20, size = sizeof(TypeParam);
    headroom::trim_cache();
    concurrent_vector<TypeParam> v(max_elements{256 * MiB / size});
    appender<TypeParam> out(v, 128 * MiB / size);
    out.emplace_back(make<TypeParam>(0));
    EXPECT_LT(v.capacity(), 3 * MiB / size + 1);
    const int some = 300'000 / static_cast<int>(size);
    for (int i = 1; i < some; ++i) out.emplace_back(make<TypeParam>(i));
    EXPECT_LT(v.capacity(), 5 * MiB / size + 1);
    EXPECT_EQ(v.size(), 0U);
    v.push_back(make<TypeParam>(some));    // others can append meanwhile
    out.flush();
    ASSERT_EQ(v.size(), static_cast<std::size_t>(some) + 1);
    EXPECT_EQ(number(v[0]), some);
    for (int i = 0; i < some; ++i) ASSERT_EQ(number(v[static_cast<std::size_t>(i) + 1]), i);
}

}    // namespace
