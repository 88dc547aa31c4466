// SPDX-License-Identifier: MIT
// Labels: thread
// Readers see whole elements, however they are appended: single or in ranges, trivial or not, built in a local or in place.
// ThreadSanitizer detects an element read before it is published.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <headroom/concurrent_vector.hpp>

#include "support/elements.hpp"
#include "support/emulated.hpp"
#include "support/iterators.hpp"

namespace {

using headroom::concurrent_vector;
using headroom_test::make;
using headroom_test::number;
using headroom_test::numbers_list;

// Runs one appending thread and one reader of the published elements. Only one appends, and no tracked elements: their counters
// are not thread-safe.
template <class T, class Append>
void read_while(Append append) {
    const auto rounds = static_cast<std::size_t>(headroom_test::times(3000, 300));
    concurrent_vector<T> v(headroom::max_elements{20 * rounds});
    std::atomic<bool> done{false};
    std::size_t wrong = 0, read = 0;
    std::thread reader([&] {
        for (bool last = false; !last;) {
            last = done.load();
            const auto there = v.published();
            for (; read < there.size(); ++read) wrong += number(there[read]) != static_cast<int>(read);
        }
    });
    for (std::size_t round = 0; round < rounds; ++round) append(v, static_cast<int>(v.size()));
    done = true;
    reader.join();
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(read, v.size());
    EXPECT_GE(v.size(), rounds);
}

// Too large to be built on the stack.
struct large {
    std::string text;
    char ballast[1500] = {};
};
// Its move may throw: built in place.
struct hard_to_move {
    std::string text;
    explicit hard_to_move(std::string of) : text(std::move(of)) {}
    hard_to_move(const hard_to_move& other) : text(other.text) {}    // NOLINT: so that there is no move
    hard_to_move& operator=(const hard_to_move&) = default;
    ~hard_to_move() = default;
};
int number(const large& of) { return headroom_test::number(of.text); }
int number(const hard_to_move& of) { return headroom_test::number(of.text); }

template <class T>
T made(int of) {
    if constexpr (std::is_same_v<T, large>) {
        return large{make<std::string>(of), {}};
    } else if constexpr (std::is_same_v<T, hard_to_move>) {
        return hard_to_move(make<std::string>(of));
    } else {
        return make<T>(of);
    }
}

template <class T>
class a_reader : public testing::Test {};
using kinds = testing::Types<int, std::string, headroom_test::three_ints, headroom_test::overaligned, large, hard_to_move>;
TYPED_TEST_SUITE(a_reader, kinds);

TYPED_TEST(a_reader, sees_whole_elements_that_were_appended_one_by_one) {
    read_while<TypeParam>([](auto& v, int next) { v.emplace_back(made<TypeParam>(next)); });
}

TYPED_TEST(a_reader, sees_whole_elements_of_ranges) {
    read_while<TypeParam>([](auto& v, int next) {
        std::vector<TypeParam> some;
        for (int i = 0; i < 5; ++i) some.push_back(made<TypeParam>(next + i));
        v.append_range(some);
    });
}

// An appender builds elements aside and moves them in, so their moves must not throw.
template <class T>
class a_reader_beside_an_appender : public testing::Test {};
using kinds_of_appenders = testing::Types<int, std::string, headroom_test::three_ints, headroom_test::overaligned, large>;
TYPED_TEST_SUITE(a_reader_beside_an_appender, kinds_of_appenders);

TYPED_TEST(a_reader_beside_an_appender, sees_whole_elements) {
    read_while<TypeParam>([](auto& v, int next) {
        typename concurrent_vector<TypeParam>::appender out(v, 3);
        for (int i = 0; i < 5; ++i) out.emplace_back(made<TypeParam>(next + i));
    });
}

}    // namespace
