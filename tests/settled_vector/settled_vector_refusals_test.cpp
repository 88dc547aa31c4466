// SPDX-License-Identifier: MIT
// Labels: many-ranges
// Refuses every system call of every public operation in turn: it throws bad_alloc with the vector unchanged, or finds another
// way. Nothing leaks, is lost or half done.
// Valgrind supports at most 30,000 mappings, enough for one element type.
// Not under Valgrind: refused_calls_of/1.* refused_calls_of/2.* refused_calls_under/*
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>

#include "support/contract/contract.hpp"
#include "support/refusals.hpp"

namespace {

using headroom::access;
using headroom::max_elements;
using headroom::settled_vector;
using headroom::testing::afterwards;
using headroom_test::counted;
using headroom_test::filled;
using headroom_test::make;
using headroom_test::numbers;
using headroom_test::refuse_each_call;

template <class T>
class refused_calls_of : public testing::Test {};
using copyable = testing::Types<int, std::string, headroom_test::big>;
TYPED_TEST_SUITE(refused_calls_of, copyable);

// Like the default policy, but vectors start at equal offsets, so that all full ones have equal sizes.
struct in_one_place : headroom::settled_policy {
    static constexpr headroom::commit_policy commit =
        headroom::balanced(std::size_t{32} << 10, std::size_t{4} << 20, std::size_t{260} << 10);
};
template <class T>
using alike = settled_vector<T, in_one_place>;

// Full after its first commit, so that one more element needs a system call.
template <class T>
alike<T> tight() {
    return headroom_test::full<alike<T>>(1);
}
template <class T>
alike<T> owning_nothing() {
    alike<T> v;
    const alike<T> taken(std::move(v));
    return v;
}
// Many more elements than one growth step.
template <class T>
constexpr std::size_t many_of = (std::size_t{300} << 10) / sizeof(T) + 7;

// Refuses once, refuses from then on, and with each documented error. std::function keeps hundreds of instantiations small.
template <class Vector>
headroom_test::refusals in_every_way(const std::function<Vector()>& prepare, const std::function<void(Vector&)>& operation) {
    const auto persistent = refuse_each_call(prepare, operation, ENOMEM, afterwards::keep_failing);
    const auto once = refuse_each_call(prepare, operation, ENOMEM);
    refuse_each_call(prepare, operation, EAGAIN, afterwards::keep_failing);
    refuse_each_call(prepare, operation, EINVAL, afterwards::keep_failing);
    // Not equal: a range that is not aligned at first takes three more calls.
    EXPECT_EQ(once.calls == 0, persistent.calls == 0);
    // An operation that needs the system throws if it is always refused.
    EXPECT_TRUE(persistent.calls == 0 || persistent.thrown > 0);
    return persistent;
}

TYPED_TEST(refused_calls_of, appending) {
    using vector = alike<TypeParam>;
    const TypeParam value = make<TypeParam>(3);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.push_back(value); }).calls, 0U);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [](vector& v) { v.push_back(make<TypeParam>(3)); }).calls, 0U);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.emplace_back(value); }).calls, 0U);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [](vector& v) { v.push_back(v[0]); }).calls, 0U);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [](vector& v) { v.append_default_init(5); }).calls, 0U);
    const headroom_test::forward_range<TypeParam> range(counted(5));
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.append_range(range); }).calls, 0U);
}

TYPED_TEST(refused_calls_of, the_first_append_after_a_move) {
    using vector = alike<TypeParam>;
    const auto found = in_every_way<vector>(owning_nothing<TypeParam>, [](vector& v) { v.push_back(make<TypeParam>(3)); });
    EXPECT_GE(found.calls, 2U);    // a reservation and a commit
    in_every_way<vector>(owning_nothing<TypeParam>, [](vector& v) { v.reserve(100); });
    in_every_way<vector>(owning_nothing<TypeParam>, [](vector& v) { v.resize(100); });
    in_every_way<vector>(owning_nothing<TypeParam>, [](vector& v) { v.insert(v.begin(), make<TypeParam>(3)); });
    in_every_way<vector>(owning_nothing<TypeParam>, [](vector& v) { v.assign(100, make<TypeParam>(3)); });
}

TYPED_TEST(refused_calls_of, inserting) {
    using vector = alike<TypeParam>;
    const TypeParam value = make<TypeParam>(3);
    const headroom_test::forward_range<TypeParam> range(counted(5));
    for (const std::size_t quarter : {0U, 2U, 4U}) {
        const auto at = [quarter](vector& v) { return nth(v, v.size() * quarter / 4); };
        EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.insert(at(v), value); }).calls, 0U);
        EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.emplace(at(v), make<TypeParam>(3)); }).calls, 0U);
        EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.insert(at(v), 5, value); }).calls, 0U);
        EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.insert(at(v), range.begin(), range.end()); }).calls,
                  0U);
        EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.insert(at(v), {value, value}); }).calls, 0U);
        EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.insert_range(at(v), range); }).calls, 0U);
    }
}

TYPED_TEST(refused_calls_of, resizing_and_reserving) {
    using vector = alike<TypeParam>;
    const TypeParam value = make<TypeParam>(3);
    const std::size_t many = many_of<TypeParam>;
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [=](vector& v) { v.reserve(many); }).calls, 0U);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [=](vector& v) { v.resize(many); }).calls, 0U);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.resize(many, value); }).calls, 0U);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>,
                                   [=](vector& v) {
                                       v.resize_default_init(many);
                                       for (std::size_t i = 0; i < many; ++i) v[i] = make<TypeParam>(1);
                                   })
                  .calls,
              0U);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>,
                                   [=](vector& v) {
                                       v.resize_and_overwrite(many, [](TypeParam* p, std::size_t n) {
                                           for (std::size_t i = 0; i < n; ++i) p[i] = make<TypeParam>(1);
                                           return n;
                                       });
                                   })
                  .calls,
              0U);
}

TYPED_TEST(refused_calls_of, assigning) {
    using vector = alike<TypeParam>;
    const TypeParam value = make<TypeParam>(3);
    const std::size_t many = many_of<TypeParam>;
    const headroom_test::forward_range<TypeParam> range(counted(many));
    const vector source = filled<vector>(many);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.assign(many, value); }).calls, 0U);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.assign(range.begin(), range.end()); }).calls, 0U);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v.assign_range(range); }).calls, 0U);
    EXPECT_GT(in_every_way<vector>(tight<TypeParam>, [&](vector& v) { v = source; }).calls, 0U);
}

TYPED_TEST(refused_calls_of, constructing) {
    using vector = alike<TypeParam>;
    const TypeParam value = make<TypeParam>(3);
    const std::size_t many = many_of<TypeParam>;
    const headroom_test::forward_range<TypeParam> range(counted(many));
    const vector source = filled<vector>(many);
    // Each builds another vector; `v` changes only if that succeeds.
    EXPECT_EQ(in_every_way<vector>(owning_nothing<TypeParam>, [](vector& v) { v = vector(); }).calls, 0U);
    EXPECT_GE(in_every_way<vector>(owning_nothing<TypeParam>, [](vector& v) { v = vector(max_elements{1000}); }).calls, 1U);
    EXPECT_GE(in_every_way<vector>(owning_nothing<TypeParam>, [&](vector& v) { v = vector(many); }).calls, 2U);
    EXPECT_GE(in_every_way<vector>(owning_nothing<TypeParam>, [&](vector& v) { v = vector(many, value); }).calls, 2U);
    EXPECT_GE(in_every_way<vector>(owning_nothing<TypeParam>, [&](vector& v) { v = vector(range.begin(), range.end()); }).calls,
              2U);
    EXPECT_GE(in_every_way<vector>(owning_nothing<TypeParam>, [&](vector& v) { v = vector{value, value, value}; }).calls, 2U);
    EXPECT_GE(in_every_way<vector>(owning_nothing<TypeParam>, [&](vector& v) { v = vector(source); }).calls, 2U);
    EXPECT_GE(in_every_way<vector>(owning_nothing<TypeParam>, [&](vector& v) { v = vector(headroom::from_range, range); }).calls,
              2U);
}

TYPED_TEST(refused_calls_of, rehoming) {
    using vector = alike<TypeParam>;
    const std::size_t many = many_of<TypeParam>;
    const auto found =
        in_every_way<vector>([=] { return filled<vector>(many); }, [=](vector& v) { v.rehome(max_elements{2 * many}); });
    EXPECT_GE(found.calls, 2U);
}

// Operations that only release memory or set a name never throw.
TYPED_TEST(refused_calls_of, what_cannot_fail_does_not) {
    using vector = alike<TypeParam>;
    const std::size_t many = many_of<TypeParam>;
    const auto prepare = [=] {
        vector v = filled<vector>(many);
        v.erase(v.begin() + 3, v.end());
        return v;
    };
    for (const afterwards then : {afterwards::succeed, afterwards::keep_failing}) {
        EXPECT_EQ(refuse_each_call(prepare, [](vector& v) { v.shrink_to_fit(); }, ENOMEM, then).thrown, 0U);
        EXPECT_EQ(refuse_each_call(prepare, [](vector& v) { v.name("x"); }, ENOMEM, then).thrown, 0U);
        EXPECT_EQ(refuse_each_call(prepare, [](vector& v) { v = vector(std::move(v)); }, ENOMEM, then).thrown, 0U);
        EXPECT_EQ(refuse_each_call(prepare, [](vector& v) { v.erase(v.begin()); }, ENOMEM, then).thrown, 0U);
        EXPECT_EQ(refuse_each_call(prepare, [](vector& v) { vector(std::move(v)).clear(); }, ENOMEM, then).thrown, 0U);
    }
}

TYPED_TEST(refused_calls_of, the_try_forms_answer_null) {
    using vector = alike<TypeParam>;
    for (std::uint64_t k = 1;; ++k) {
        headroom::trim_cache();
        vector v = tight<TypeParam>();
        const auto before = numbers(v);
        const TypeParam value = make<TypeParam>(3);
        headroom::testing::fail_system_call(k, ENOMEM, afterwards::keep_failing);
        const TypeParam* const pushed = v.try_push_back(value);
        const TypeParam* const emplaced = v.try_emplace_back(make<TypeParam>(4));
        if (headroom::testing::stop_failing() < k) {
            EXPECT_NE(pushed, nullptr);
            EXPECT_NE(emplaced, nullptr);
            EXPECT_GE(k, 2U);
            break;
        }
        auto expected = before;
        if (pushed != nullptr) expected.push_back(3);
        if (emplaced != nullptr) expected.push_back(4);
        EXPECT_EQ(numbers(v), expected);
        ASSERT_NE(v.try_push_back(value), nullptr);
    }
}

TYPED_TEST(refused_calls_of, protecting_says_so_and_changes_nothing) {
    using vector = alike<TypeParam>;
    vector v = filled<vector>(100);
    headroom::testing::fail_system_call(1, ENOMEM, afterwards::keep_failing);
    EXPECT_THROW(v.protect(access::read_only), std::system_error);
    headroom::testing::stop_failing();
    EXPECT_EQ(v.current_access(), access::read_write);
    v[5] = make<TypeParam>(5);
    headroom::testing::fail_system_call(1, ENOMEM, afterwards::keep_failing);
    EXPECT_THROW((void)headroom::scoped_access(v, access::none), std::system_error);
    headroom::testing::stop_failing();
    EXPECT_EQ(numbers(v), counted(100));
}

// A vector destroyed while all calls are refused still destroys its elements and its reservation.
TYPED_TEST(refused_calls_of, destroying) {
    using vector = alike<TypeParam>;
    headroom::trim_cache();
    const std::size_t before = headroom::reservations().size();
    const long live = headroom_test::book.live;
    for (const access allowed : {access::read_write, access::read_only}) {
        if (allowed != access::read_write && !std::is_trivially_destructible_v<TypeParam>) continue;
        for (std::uint64_t k = 1; k < 6; ++k) {
            {
                vector v = filled<vector>(100);
                v.protect(allowed);
                headroom::testing::fail_system_call(k, ENOMEM, afterwards::keep_failing);
            }
            headroom::testing::stop_failing();
            EXPECT_EQ(headroom::reservations().size(), before);
        }
    }
    EXPECT_EQ(headroom_test::book.live, live);
}

// Its destructor writes to it.
struct written_at_its_end {
    volatile int value = 0;
    ~written_at_its_end() {
        value = -1;
        ++ended;
    }
    static inline int ended = 0;
};

// If write access stays refused, the destructors of the elements are skipped: a fault would end the program.
TEST(a_protected_vector, dies_although_the_system_refuses_access_to_its_elements) {
    headroom::trim_cache();
    const std::size_t before = headroom::reservations().size();
    for (const access allowed : {access::read_only, access::none}) {
        for (const afterwards then : {afterwards::succeed, afterwards::keep_failing}) {
            for (std::uint64_t k = 1; k < 6; ++k) {
                written_at_its_end::ended = 0;
                {
                    settled_vector<written_at_its_end> v(1000);
                    v.protect(allowed);
                    headroom::testing::fail_system_call(k, ENOMEM, then);
                }
                headroom::testing::stop_failing();
                EXPECT_EQ(written_at_its_end::ended, k == 1 && then == afterwards::keep_failing ? 0 : 1000);
                EXPECT_EQ(headroom::reservations().size(), before);
            }
        }
    }
}

// Every policy falls back on ordinary pages when other requests are refused.
struct one_by_one : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::page_by_page();
};
struct in_steps : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::stepped(16384, 1 << 20);
};
struct in_huge_pages : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::huge_pages(0);
};
struct held_open : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::commit_policy{}.held(headroom::holding::open);
};
template <class Policy>
class refused_calls_under : public testing::Test {};
using policies = testing::Types<one_by_one, in_steps, in_huge_pages, held_open>;
TYPED_TEST_SUITE(refused_calls_under, policies);

TYPED_TEST(refused_calls_under, growing_from_nothing) {
    using vector = settled_vector<int, TypeParam>;
    const auto nothing = [] {
        vector v;
        const vector taken(std::move(v));
        return v;
    };
    const auto found = in_every_way<vector>(nothing, [](vector& v) { v = filled<vector>(100'000); });
    EXPECT_GE(found.calls, 1U);
}

// Moves elements only after there is memory for all of them.
template <class T>
class move_source : public testing::Test {};
using counted_owner = testing::Types<std::string, std::unique_ptr<int>, headroom_test::move_only>;
TYPED_TEST_SUITE(move_source, counted_owner);

template <class T, class Take>
void nothing_given_is_lost(Take take) {
    constexpr std::size_t count = (std::size_t{700} << 10) / sizeof(T);    // several chunks of construction
    std::uint64_t refusals = 0;
    for (std::uint64_t k = 1;; ++k) {
        std::vector<T> given;
        for (std::size_t i = 0; i < count; ++i) given.push_back(make<T>(static_cast<int>(i)));
        headroom::trim_cache();
        bool thrown = false;
        headroom::testing::fail_system_call(k, ENOMEM, afterwards::keep_failing);
        try {
            take(std::make_move_iterator(given.begin()), std::make_move_iterator(given.end()));
        } catch (const std::bad_alloc&) {
            thrown = true;
        }
        const bool refused = headroom::testing::stop_failing() >= k;
        if (!refused) break;
        if (!thrown) continue;
        ++refusals;
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(headroom_test::number(given[i]), static_cast<int>(i)) << "the " << k << "th call refused";
    }
    EXPECT_GE(refusals, 2U);
}
TYPED_TEST(move_source, to_a_new_vector) {
    nothing_given_is_lost<TypeParam>([](auto first, auto last) { settled_vector<TypeParam>(first, last); });
}
TYPED_TEST(move_source, to_one_that_has_elements) {
    nothing_given_is_lost<TypeParam>([](auto first, auto last) {
        settled_vector<TypeParam> v;
        v.push_back(make<TypeParam>(1));
        v.insert(v.end(), first, last);
    });
    nothing_given_is_lost<TypeParam>([](auto first, auto last) {
        settled_vector<TypeParam> v;
        v.push_back(make<TypeParam>(1));
        v.assign(first, last);
    });
}

}    // namespace
