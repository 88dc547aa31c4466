// SPDX-License-Identifier: MIT
// Refuses every system call of each operation, on one thread: the operation throws and changes nothing, or completes.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <headroom/concurrent_vector.hpp>
#include <headroom/testing.hpp>

#include "support/elements.hpp"
#include "support/iterators.hpp"

namespace {

using headroom::concurrent_vector;
using headroom::max_elements;
using headroom::testing::afterwards;
using headroom_test::book;
using headroom_test::counted;
using headroom_test::make;
using headroom_test::numbers;
using headroom_test::numbers_list;

template <class T>
class a_refused_call : public testing::Test {};
using kinds = testing::Types<int, std::string, headroom_test::self_referential, headroom_test::throwing, headroom_test::opted_in,
                             headroom_test::big>;
TYPED_TEST_SUITE(a_refused_call, kinds);

template <class T>
struct operation {
    const char* name;
    std::function<void(concurrent_vector<T>&)> run;
    bool all_or_nothing = true;    // false: a part of it may stay
};

template <class T>
std::vector<T> some_elements(int count) {
    std::vector<T> some;
    some.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) some.push_back(make<T>(i));
    return some;
}

template <class T>
std::vector<operation<T>> operations() {
    constexpr int many = 100'000 / sizeof(T) + 50;
    std::vector<operation<T>> all{
        {"emplace_back", [](auto& v) { v.emplace_back(make<T>(1000)); }},
        {"append_range", [](auto& v) { v.append_range(some_elements<T>(many)); }},
        {"reserve", [](auto& v) { v.reserve(v.size() + many); }},
    };
    if constexpr (headroom::detail::nothrow_relocatable<T>) {
        all.push_back({"an appender's first element", [](auto& v) {
                           typename concurrent_vector<T>::appender out(v, many);
                           out.emplace_back(make<T>(1000));
                       }});
    }
    return all;
}

// Operations on few elements, so that each step of an element can fail in turn.
template <class T>
std::vector<operation<T>> short_operations() {
    static const std::vector<T> some = some_elements<T>(5);
    static const T one = make<T>(77);
    std::vector<operation<T>> all{
        {"emplace_back", [](auto& v) { v.emplace_back(one); }},
        {"push_back, given away", [](auto& v) { v.push_back(T(one)); }},
        {"push_back of its own", [](auto& v) { v.empty() ? v.push_back(one) : v.push_back(v[0]); }},
        {"append_range", [](auto& v) { v.append_range(some); }},
        {"append_range of what is walked once",
         [](auto& v) {
             headroom_test::single_pass<T> once(counted(5));
             v.append_range(once);
         }},
        {"append_range of its own", [](auto& v) { v.append_range(v.published().first(v.size() / 2)); }},
        {"reserve", [](auto& v) { v.reserve(v.size() + 5000); }},
        {"wait_for", [](auto& v) { v.wait_for(v.size()); }},
        {"name", [](auto& v) { v.name("a name"); }},
        {"protect",
         [](auto& v) {
             if (v.try_protect(headroom::access::read_only)) throw std::bad_alloc();
             headroom::testing::stop_failing();    // so that the next call can succeed
             v.protect(headroom::access::read_write);
         }},
        {"construction", [](auto&) { const concurrent_vector<T> made(max_elements{100}); }},
    };
    if constexpr (headroom::detail::nothrow_relocatable<T>) {
        using appender = typename concurrent_vector<T>::appender;
        all.push_back({"an appender's batches",
                       [](auto& v) {
                           appender out(v, 2);
                           for (const T& each : some) out.emplace_back(each);
                       },
                       false});
        all.push_back({"an appender that discards",
                       [](auto& v) {
                           appender out(v, 50);
                           for (const T& each : some) out.push_back(each);
                           out.discard();
                       },
                       false});    // thrown before discard(): its destructor publishes
        all.push_back({"two appenders in turn",
                       [](auto& v) {
                           appender first(v, 3), second(v, 50);
                           for (const T& each : some) {
                               first.push_back(each);
                               second.push_back(T(each));
                           }
                           second.flush();
                       },
                       false});
    }
    return all;
}

TYPED_TEST(a_refused_call, changes_nothing_or_hinders_nothing) {
    using vector = concurrent_vector<TypeParam>;
    headroom_test::open_book();
    const long live = book.live;
    for (const auto& tried : operations<TypeParam>()) {
        for (const auto& [filled, then] : {std::pair(0, afterwards::succeed), std::pair(0, afterwards::keep_failing),
                                           std::pair(300, afterwards::succeed), std::pair(300, afterwards::keep_failing)}) {
            for (std::uint64_t k = 1;; ++k) {
                SCOPED_TRACE(std::string(tried.name) + ", call " + std::to_string(k));
                headroom::trim_cache();
                const std::size_t reservations = headroom::reservations().size();
                std::uint64_t calls = 0;
                {
                    vector v(max_elements{100'000});
                    // An empty vector has no memory yet, so every operation needs some.
                    for (int i = 0; i < filled; ++i) v.push_back(make<TypeParam>(i));
                    const auto before = counted(v.size());
                    headroom::trim_cache();
                    bool thrown = false;
                    headroom::testing::fail_system_call(k, ENOMEM, then);
                    try {
                        tried.run(v);
                    } catch (const std::bad_alloc& refused) {
                        thrown = true;
                        EXPECT_NE(std::string(refused.what()), "");
                    }
                    calls = headroom::testing::stop_failing();
                    if (thrown) {
                        EXPECT_EQ(numbers(v), before);
                        EXPECT_GE(calls, k) << "thrown though nothing was refused";
                    } else {
                        EXPECT_GE(v.size(), before.size());
                    }
                    tried.run(v);
                    const std::size_t size = v.size();
                    v.push_back(make<TypeParam>(7));
                    EXPECT_EQ(v.size(), size + 1);
                }
                EXPECT_EQ(headroom::reservations().size(), reservations);
                EXPECT_EQ(book.live, live);
                if (calls < k || testing::Test::HasFailure()) break;
            }
        }
    }
}

// For all k and j: system call k is refused, and step j of an element throws.
TYPED_TEST(a_refused_call, beside_a_step_that_throws_changes_nothing) {
    headroom_test::open_book();
    long tried = 0, failed = 0;
    for (const auto& each : short_operations<TypeParam>()) {
        SCOPED_TRACE(each.name);
        const long live = book.live;    // those of the operations
        for (const auto& [filled, then] : {std::pair(0, afterwards::keep_failing), std::pair(7, afterwards::succeed),
                                           std::pair(7, afterwards::keep_failing)}) {
            bool more_calls = true;
            for (std::uint64_t k = 0; more_calls; ++k) {    // 0: no call is refused
                more_calls = k == 0;
                bool more_steps = true;
                for (long j = 0; more_steps; ++j) {    // 0: no step throws
                    SCOPED_TRACE("call " + std::to_string(k) + ", step " + std::to_string(j));
                    headroom::trim_cache();
                    headroom_test::open_book();
                    {
                        concurrent_vector<TypeParam> v(max_elements{10'000});
                        for (int i = 0; i < filled; ++i) v.push_back(make<TypeParam>(i));
                        const auto before = numbers(v);
                        headroom::trim_cache();
                        headroom_test::open_book(j);
                        if (k != 0) headroom::testing::fail_system_call(k, ENOMEM, then);
                        bool thrown = false;
                        try {
                            each.run(v);
                        } catch (const std::bad_alloc&) {
                            thrown = true;
                        } catch (const headroom_test::planned_failure&) {
                            thrown = true;
                        }
                        if (headroom::testing::stop_failing() >= k && k != 0) more_calls = true;
                        more_steps = j == 0 ? headroom_test::is_tracked<TypeParam> : book.steps >= j;
                        headroom_test::open_book();
                        ++tried;
                        failed += thrown;
                        auto after = numbers(v);    // reads every element
                        ASSERT_GE(after.size(), before.size());
                        if (thrown && each.all_or_nothing) {
                            ASSERT_EQ(after.size(), before.size());
                        }
                        after.resize(before.size());
                        ASSERT_EQ(after, before);
                        const std::size_t index = v.push_back(make<TypeParam>(42));
                        ASSERT_EQ(headroom_test::number(v[index]), 42);
                    }
                    ASSERT_EQ(book.live, live) << "an element was leaked, or destroyed twice";
                }
            }
        }
    }
    EXPECT_GT(tried, 60);
    EXPECT_GT(failed, 10);
}

TEST(a_refused_reservation, is_a_bad_alloc_that_says_what_was_wanted) {
    headroom::trim_cache();
    headroom::testing::fail_system_call(1, ENOMEM, afterwards::keep_failing);
    std::string said;
    try {
        const concurrent_vector<int> v(max_elements{1000});
    } catch (const headroom::refused& why) {
        said = why.what();
    }
    headroom::testing::stop_failing();
    EXPECT_NE(said.find("concurrent_vector"), std::string::npos) << said;
    EXPECT_THROW(concurrent_vector<int>(max_elements{SIZE_MAX}), std::length_error);
}

TEST(a_default_reservation, is_smaller_where_addresses_are_short) {
    headroom::trim_cache();
    headroom::testing::limit_address_space(std::size_t{64} << 20);
    {
        concurrent_vector<int> v;
        EXPECT_LT(v.max_size(), (std::size_t{64} << 20) / sizeof(int));
        v.push_back(1);
        EXPECT_EQ(v[0], 1);
    }
    headroom::testing::limit_address_space(0);
    headroom::trim_cache();
}

TEST(a_refused_fence, lets_nobody_build_more_than_fits) {
    // Claims cannot be undone without the fence. A slot may stay unused, but there is never one element too many.
    concurrent_vector<int> v(max_elements{100});
    {
        concurrent_vector<int>::appender idle(v, 50);
        idle.emplace_back(0);
        for (int i = 0; i < 50; ++i) v.emplace_back(i);
        headroom::testing::fail_system_call(1, EPERM, afterwards::keep_failing);
        try {
            v.emplace_back(50);
        } catch (const std::length_error&) {}
        headroom::testing::stop_failing();
        v.append_range(counted(100 - 1 - v.size()));
        EXPECT_EQ(v.size(), 99U);
    }
    EXPECT_EQ(v.size(), 100U);
}

}    // namespace
