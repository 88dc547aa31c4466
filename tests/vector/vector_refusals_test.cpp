// SPDX-License-Identifier: MIT
// Labels: many-ranges own-heap
// Refuses every system call of every operation in turn, with and without a heap to fall back on: no leak, no lost element, and
// bad_alloc only when nothing is left to try.
// Valgrind replaces the heap that refuses here, and supports at most 30,000 mappings: enough for one element type.
// Not under Valgrind: everything_refused_to/* refused_calls_of/0.growing_falls_back_on_the_heap refused_calls_of/1.* refused_calls_of/2.*
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>

#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include "support/contract/contract.hpp"
#include "support/refusals.hpp"
#include "support/refusing_new.hpp"
#include "support/vectors.hpp"

namespace {

using headroom::testing::afterwards;
using headroom_test::aligned;
using headroom_test::all_allocations_refused;
using headroom_test::counted;
using headroom_test::early_vector;
using headroom_test::filled;
using headroom_test::make;
using headroom_test::mapped_vector;
using headroom_test::numbers;
using headroom_test::numbers_list;
using headroom_test::refuse_each_call;

template <class Vector>
using operation_on = std::function<void(Vector&)>;

// Every operation that may allocate. They start from full containers.
template <class Vector>
std::vector<operation_on<Vector>> growing_operations() {
    using T = typename Vector::value_type;
    static const T value = make<T>(3);
    static const headroom_test::forward_range<T> range(counted(60, 500));
    static const Vector source = filled<Vector>(20'000 / sizeof(T) + 50);
    std::vector<operation_on<Vector>> result{
        [](Vector& v) { v.push_back(value); },
        [](Vector& v) { v.push_back(make<T>(3)); },
        [](Vector& v) { v.emplace_back(value); },
        [](Vector& v) { v.push_back(v[0]); },
        [](Vector& v) { v.reserve(v.capacity() + 40'000 / sizeof(T)); },
        [](Vector& v) { v.resize(v.size() + 40'000 / sizeof(T) + 5); },
        [](Vector& v) { v.resize(v.size() + 40'000 / sizeof(T) + 5, value); },
        [](Vector& v) { v.resize(v.size() + 400'000 / sizeof(T), v[2]); },
        [](Vector& v) { v.append_range(range); },
        [](Vector& v) { v.assign(v.capacity() + 60, value); },
        [](Vector& v) { v = source; },
        [](Vector& v) { v = Vector(source); },
        [](Vector& v) { v = Vector(range.begin(), range.end()); },
        [](Vector& v) { v = Vector(20'000 / sizeof(T) + 9, value); },
        [](Vector& v) { v = Vector(headroom::from_range, range); },
    };
    for (const std::size_t quarter : {0U, 2U, 4U}) {
        const auto at = [quarter](Vector& v) { return nth(v, v.size() * quarter / 4); };
        result.push_back([at](Vector& v) { v.insert(at(v), value); });
        result.push_back([at](Vector& v) { v.emplace(at(v), make<T>(3)); });
        result.push_back([at](Vector& v) { v.insert(at(v), 60, value); });
        result.push_back([at](Vector& v) { v.insert(at(v), range.begin(), range.end()); });
        result.push_back([at](Vector& v) { v.insert_range(at(v), range); });
    }
    return result;
}

template <class Vector>
class refused_calls_of : public testing::Test {};
using subjects =
    testing::Types<mapped_vector<std::string>, mapped_vector<headroom_test::three_ints>, early_vector<headroom_test::opted_in>>;
TYPED_TEST_SUITE(refused_calls_of, subjects);

TYPED_TEST(refused_calls_of, growing_falls_back_on_the_heap) {
    std::uint64_t calls = 0;
    for (const auto& operation : growing_operations<TypeParam>()) {
        for (const std::size_t count : {3U, 900U}) {
            const std::function<TypeParam()> prepare = [count] { return headroom_test::full<TypeParam>(count); };
            for (const afterwards then : {afterwards::succeed, afterwards::keep_failing}) {
                const auto found = refuse_each_call(prepare, operation, ENOMEM, then);
                EXPECT_EQ(found.thrown, 0U);
                calls += found.calls;
            }
        }
    }
    EXPECT_GT(calls, 20U);
}

TYPED_TEST(refused_calls_of, what_cannot_fail_does_not) {
    const std::function<TypeParam()> prepare = [] {
        auto v = filled<TypeParam>(2000);
        v.erase(v.begin() + 900, v.end());
        return v;
    };
    const operation_on<TypeParam> operations[] = {
        [](TypeParam& v) { v.shrink_to_fit(); },
        [](TypeParam& v) {
            v.erase(v.begin() + 1, v.end());
            v.shrink_to_fit();
        },
        [](TypeParam& v) {
            v.clear();
            v.shrink_to_fit();
        },
        [](TypeParam& v) { v = TypeParam(std::move(v)); },
        [](TypeParam& v) { TypeParam(std::move(v)).clear(); },
        [](TypeParam& v) { v.erase(v.begin()); },
    };
    for (const auto& operation : operations) {
        for (const afterwards then : {afterwards::succeed, afterwards::keep_failing}) {
            EXPECT_EQ(refuse_each_call(prepare, operation, ENOMEM, then).thrown, 0U);
        }
    }
}

// Refuses the larger reservation, its commit, or the move of the pages.
TYPED_TEST(refused_calls_of, outgrowing_a_reservation) {
    using T = typename TypeParam::value_type;
    const std::function<TypeParam()> prepare = [] {
        headroom::testing::limit_address_space(std::size_t{6} << 20);
        auto v = headroom_test::full<TypeParam>(8000 / sizeof(T));
        headroom::testing::limit_address_space(0);
        return v;
    };
    const operation_on<TypeParam> outgrow = [](TypeParam& v) { v.reserve((std::size_t{8} << 20) / sizeof(T)); };
    for (const afterwards then : {afterwards::succeed, afterwards::keep_failing}) {
        const auto found = refuse_each_call(prepare, outgrow, ENOMEM, then);
        EXPECT_EQ(found.thrown, 0U);
        EXPECT_GE(found.calls, 2U);
    }
}

// The heap refuses too.
template <class Vector>
class everything_refused_to : public testing::Test {
protected:
    void TearDown() override { all_allocations_refused = false; }
};
// Over-aligned elements: their heap is operator new.
using on_operator_new =
    testing::Types<mapped_vector<aligned<headroom_test::throwing>>, early_vector<aligned<headroom_test::throwing>>,
                   headroom_test::heap_vector<aligned<headroom_test::self_referential>>>;
TYPED_TEST_SUITE(everything_refused_to, on_operator_new);

TYPED_TEST(everything_refused_to, growing_throws_and_changes_nothing) {
    const long live = headroom_test::book.live;
    {
        const auto operations = growing_operations<TypeParam>();
        for (std::size_t i = 0; i < operations.size(); ++i) {
            SCOPED_TRACE(i);
            for (const std::size_t count : {3U, 900U}) {
                headroom::trim_cache();
                TypeParam v = headroom_test::full<TypeParam>(count);
                headroom::trim_cache();
                const numbers_list before = numbers(v);
                const auto* const where = v.data();
                bool thrown = false;
                all_allocations_refused = true;
                headroom::testing::fail_system_call(1, ENOMEM, afterwards::keep_failing);
                try {
                    operations[i](v);
                } catch (const std::bad_alloc&) {
                    thrown = true;
                }
                all_allocations_refused = false;
                headroom::testing::stop_failing();
                // A copy or a range may fit into the existing capacity.
                if (thrown) {
                    EXPECT_EQ(numbers(v), before);
                    EXPECT_EQ(v.data(), where);
                } else {
                    EXPECT_LE(v.size(), std::max<std::size_t>(before.size(), v.capacity()));
                    EXPECT_GE(i, 10U) << "nothing could be had, yet it grew";
                }
                headroom_test::append(v, 2000);
                EXPECT_GE(v.size(), 2000U);
            }
        }
    }
    // The operations own a value, a range and a source.
    EXPECT_LE(headroom_test::book.live - live, 4000) << "elements were leaked";
}

TYPED_TEST(everything_refused_to, the_try_forms_answer_null_and_leave_their_argument_alone) {
    using T = typename TypeParam::value_type;
    headroom::trim_cache();    // a cached range would need no system call
    TypeParam v = headroom_test::full<TypeParam>(100);
    const numbers_list before = numbers(v);
    T value = make<T>(7);
    all_allocations_refused = true;
    headroom::testing::fail_system_call(1, ENOMEM, afterwards::keep_failing);
    const T* const answers[] = {v.try_push_back(value), v.try_push_back(std::move(value)), v.try_emplace_back(3),
                                v.try_push_back(v[0])};
    all_allocations_refused = false;
    headroom::testing::stop_failing();
    for (const T* const answer : answers) EXPECT_EQ(answer, nullptr);
    EXPECT_EQ(number(value), 7);    // NOLINT: that is the question
    EXPECT_EQ(numbers(v), before);
    ASSERT_NE(v.try_push_back(std::move(value)), nullptr);
    EXPECT_EQ(number(v.back()), 7);
}

TYPED_TEST(everything_refused_to, shrink_to_fit_leaves_what_it_cannot_move) {
    TypeParam v = filled<TypeParam>(2000);
    v.erase(v.begin() + 5, v.end());
    all_allocations_refused = true;
    headroom::testing::fail_system_call(1, ENOMEM, afterwards::keep_failing);
    v.shrink_to_fit();
    all_allocations_refused = false;
    headroom::testing::stop_failing();
    EXPECT_EQ(numbers(v), counted(5));
    headroom_test::append(v, 3000, 5);
    EXPECT_EQ(numbers(v), counted(3005));
}

// A block larger than any heap, for relocatable elements, which use malloc.
TEST(an_impossible_size, is_refused_and_changes_nothing) {
    if (sizeof(std::size_t) < 8) GTEST_SKIP() << "two gigabytes are not impossible";
    headroom::testing::limit_address_space(std::size_t{1} << (sizeof(std::size_t) >= 8 ? 40 : 28));
    headroom_test::heap_vector<int> heap = filled<headroom_test::heap_vector<int>>(10);
    mapped_vector<int> mapped = filled<mapped_vector<int>>(10);
    mapped_vector<std::string> strings = filled<mapped_vector<std::string>>(10);
    EXPECT_THROW(heap.reserve(heap.max_size() - 1), std::bad_alloc);
    EXPECT_THROW(mapped.reserve(mapped.max_size() - 1), std::bad_alloc);
    EXPECT_THROW(strings.reserve(strings.max_size() - 1), std::bad_alloc);
    EXPECT_THROW(heap.resize(heap.max_size() - 1), std::bad_alloc);
    EXPECT_THROW(mapped.insert(mapped.begin() + 5, mapped.max_size() - 20, 1), std::bad_alloc);
    EXPECT_THROW(headroom::vector<int>(heap.max_size() - 1), std::bad_alloc);
    headroom::testing::limit_address_space(0);
    EXPECT_EQ(numbers(heap), counted(10));
    EXPECT_EQ(numbers(mapped), counted(10));
    EXPECT_EQ(numbers(strings), counted(10));
}

}    // namespace

// Makes AddressSanitizer return null, as these tests expect, instead of ending the program.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
