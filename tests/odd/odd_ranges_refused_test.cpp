// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Every operation on a range, over every kind of range (ranges.hpp) x {the k-th system call is refused, or all from it on} x {the
// range ends normally, or throws midway}.
//
// When memory is refused, appending and inserting have no effect, for ranges of known and unknown size. Nothing is lost or
// leaked, and the operation can be repeated.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include <headroom/pages.hpp>
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/testing.hpp>
#include <headroom/vector.hpp>

#include <gtest/gtest.h>

#include "odd/ranges.hpp"
#include "support/vectors.hpp"

namespace {

using namespace headroom_test;
using headroom::testing::afterwards;

// Makes a system call for each page.
struct page_each : headroom::settled_policy {
    static constexpr headroom::commit_policy commit = headroom::page_by_page();
};
struct mapped_page_each : mapped_policy {
    static constexpr headroom::commit_policy commit = headroom::page_by_page();
};

template <class Container>
inline constexpr bool goes_nowhere_else = false;
template <class T, class Policy>
inline constexpr bool goes_nowhere_else<headroom::settled_vector<T, Policy>> = true;

// Elements of a few pages before the operation, and more by it.
constexpr std::size_t before = 150;
constexpr std::size_t added = 420;

// How an operation ended.
enum class outcome { done, refused, broken };

template <class Operation>
outcome with_refusals(std::uint64_t k, afterwards then, std::uint64_t& calls, Operation operation) {
    outcome result = outcome::done;
    headroom::testing::fail_system_call(k, ENOMEM, then);
    try {
        operation();
    } catch (const broken_range&) {
        result = outcome::broken;
    } catch (const std::bad_alloc&) {
        result = outcome::refused;
    }
    calls = headroom::testing::stop_failing();
    return result;
}

struct counts {
    long tried = 0;
    long refused = 0;
};

template <class Container, walks Walks, sized Sized, reads Reads>
void one_operation(operation what, afterwards then, std::size_t fails_at, counts& all) {
    using range = odd_range<Walks, Sized, Reads>;
    const model old = strings(old_elements<model>(before));
    std::uint64_t calls = 1;
    for (std::uint64_t k = 1; k <= calls; ++k) {
        SCOPED_TRACE("call " + std::to_string(k));
        headroom::trim_cache();
        Container v = old_elements<Container>(before);
        headroom::trim_cache();
        range values(added, fails_at);
        const outcome result = with_refusals(k, then, calls, [&] { perform(v, what, values); });
        ++all.tried;
        all.refused += result == outcome::refused;
        ASSERT_EQ(values.begun, 1);
        if (result == outcome::done) {
            ASSERT_EQ(fails_at, 0U);
            ASSERT_EQ(strings(v), expected(what, before, added));
            continue;
        }
        if (what != operation::assign && (result == outcome::refused || Walks == walks::once)) {
            ASSERT_EQ(strings(v), old);
        }
        for (const std::string& x : v) ASSERT_LT(x.size(), 100U);    // reads all elements
        v.assign(old.begin(), old.end());
        range again(added);
        perform(v, what, again);
        ASSERT_EQ(strings(v), expected(what, before, added));
    }
}

template <class Container, walks Walks, sized Sized, reads Reads>
void construction(afterwards then, std::size_t fails_at, counts& all) {
    using range = odd_range<Walks, Sized, Reads>;
    std::uint64_t calls = 1;
    for (std::uint64_t k = 1; k <= calls; ++k) {
        SCOPED_TRACE("call " + std::to_string(k));
        headroom::trim_cache();
        range values(added, fails_at);
        const outcome result = with_refusals(k, then, calls, [&] {
            const Container v(headroom::from_range, values);
            EXPECT_EQ(strings(v), new_elements(added));
        });
        ++all.tried;
        all.refused += result == outcome::refused;
        ASSERT_TRUE(fails_at == 0 || result != outcome::done);
    }
}

template <class Container, walks Walks, sized Sized, reads Reads>
void one_kind(counts& all) {
    SCOPED_TRACE("sized " + std::to_string(static_cast<int>(Sized)) + ", reads " + std::to_string(static_cast<int>(Reads)));
    const std::size_t reservations = headroom::reservations().size();
    for (const afterwards then : {afterwards::succeed, afterwards::keep_failing}) {
        for (const std::size_t fails_at : {std::size_t{0}, std::size_t{555}}) {
            SCOPED_TRACE(std::string(then == afterwards::succeed ? "once" : "from then on") + ", fails at " +
                         std::to_string(fails_at));
            for (const operation what : {operation::append, operation::insert, operation::assign}) {
                SCOPED_TRACE("operation " + std::to_string(static_cast<int>(what)));
                one_operation<Container, Walks, Sized, Reads>(what, then, fails_at, all);
            }
            construction<Container, Walks, Sized, Reads>(then, fails_at, all);
        }
    }
    headroom::trim_cache();
    EXPECT_EQ(headroom::reservations().size(), reservations);
}

template <class Container, walks Walks, sized Sized>
void all_reads(counts& all) {
    one_kind<Container, Walks, Sized, reads::reference>(all);
    one_kind<Container, Walks, Sized, reads::value>(all);
    one_kind<Container, Walks, Sized, reads::stand_in>(all);
}
template <class Container, walks Walks>
void all_sizes() {
    counts all;
    all_reads<Container, Walks, sized::by_size>(all);
    all_reads<Container, Walks, sized::by_sentinel>(all);
    all_reads<Container, Walks, sized::by_neither>(all);
    all_reads<Container, Walks, sized::too_small>(all);
    all_reads<Container, Walks, sized::too_large>(all);
    EXPECT_GT(all.tried, 500);
    // A vector without a reservation falls back on the heap. An assignment over existing elements needs little memory.
    if constexpr (goes_nowhere_else<Container>) {
        EXPECT_GE(all.refused, all.tried / 4);
    }
    testing::Test::RecordProperty("tried", static_cast<int>(all.tried));
    testing::Test::RecordProperty("refused", static_cast<int>(all.refused));
}

template <class Container>
class odd_ranges_refused : public testing::Test {};
using subjects =
    testing::Types<headroom::settled_vector<std::string, page_each>,
                   headroom::vector<std::string, std::allocator<std::string>, mapped_page_each>, early_vector<std::string>>;
TYPED_TEST_SUITE(odd_ranges_refused, subjects);
TYPED_TEST(odd_ranges_refused, walked_once) { all_sizes<TypeParam, walks::once>(); }
TYPED_TEST(odd_ranges_refused, walked_often) { all_sizes<TypeParam, walks::often>(); }
TYPED_TEST(odd_ranges_refused, side_by_side) { all_sizes<TypeParam, walks::side_by_side>(); }

}    // namespace
