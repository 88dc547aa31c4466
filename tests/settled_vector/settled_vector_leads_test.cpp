// SPDX-License-Identifier: MIT
// Random operations on vectors whose start is offset within their range, compared with std::vector, also with moves between
// policies. Other tests use the first vectors of a process, which start with their ranges.
// Labels: many-ranges no-valgrind
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <headroom/concurrent_vector.hpp>
#include <headroom/settled_vector.hpp>

#include "support/emulated.hpp"
#include "support/policies.hpp"

namespace {

using headroom::access;
using headroom::max_elements;
using headroom::settled_vector;

constexpr std::size_t kib = 1024;

struct three_bytes {
    char bytes[3];
};
struct a_page {
    char bytes[4096];
};
struct more_than_a_page {
    char bytes[5000];
};
struct alignas(64) as_a_line {
    char bytes[64];
};
struct alignas(128) as_two_lines {
    char bytes[128];
};
struct alignas(4096) as_a_page {
    char bytes[4096];
};

template <class T>
struct value {
    static T of(int number) {
        T made{};
        made.bytes[0] = static_cast<char>(number);
        made.bytes[sizeof made.bytes - 1] = static_cast<char>(number / 7);
        return made;
    }
    static bool same(const T& a, const T& b) {
        return a.bytes[0] == b.bytes[0] && a.bytes[sizeof a.bytes - 1] == b.bytes[sizeof b.bytes - 1];
    }
};
template <>
struct value<int> {
    static int of(int number) { return number; }
    static bool same(int a, int b) { return a == b; }
};
template <>
struct value<std::string> {
    static std::string of(int number) { return std::string(static_cast<std::size_t>(number % 40), 'x') + std::to_string(number); }
    static bool same(const std::string& a, const std::string& b) { return a == b; }
};

// Small ranges: thousands fit, and tests reach their ends.
struct small_ranges : headroom::settled_policy {
    static constexpr std::size_t default_reservation = 640 * kib;
};

template <class T>
struct leads : testing::Test {
    using vector = settled_vector<T, small_ranges>;
    using model = std::vector<T>;
    std::vector<settled_vector<int, small_ranges>> others;    // so that ranges start at different offsets

    void SetUp() override {
        headroom::trim_cache();
        for (int i = 0; i < 40; ++i) others.emplace_back().push_back(i);
    }

    static void expect_whole(const vector& v, const model& m) {
        ASSERT_EQ(v.size(), m.size());
        for (std::size_t i = 0; i < m.size(); i += 1 + m.size() / 700) ASSERT_TRUE(value<T>::same(v[i], m[i])) << i;
        ASSERT_TRUE(m.empty() || value<T>::same(v.back(), m.back()));
        if (v.capacity() == 0) return;
        const auto at = reinterpret_cast<std::uintptr_t>(v.data());
        ASSERT_EQ(at % 64, 0U);
        ASSERT_EQ(at % alignof(T), 0U);
        const auto owner = headroom::owner_of(v.data());
        ASSERT_TRUE(owner);
        const std::size_t lead = at - reinterpret_cast<std::uintptr_t>(owner->base);
        ASSERT_LT(lead, headroom::page_size());
        ASSERT_LE(lead + v.capacity() * sizeof(T), owner->committed);
        ASSERT_LE(lead + v.max_size() * sizeof(T), owner->reserved);
        ASSERT_LE(v.capacity(), v.max_size());
    }
};
using kinds = testing::Types<int, std::string, three_bytes, a_page, more_than_a_page, as_a_line, as_two_lines, as_a_page>;
TYPED_TEST_SUITE(leads, kinds);

TYPED_TEST(leads, change_nothing_that_can_be_done_to_a_vector) {
    using T = TypeParam;
    using vector_type = typename TestFixture::vector;
    using model_type = typename TestFixture::model;
    std::mt19937 random(20261122);
    const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
    const int rounds = headroom_test::times(60, 2);
    std::size_t with_lead = 0;
    std::vector<vector_type> kept;    // some live on, so that ranges vary
    for (int round = 0; round < rounds; ++round) {
        vector_type v;
        model_type m;
        for (int step = 0; step < 60; ++step) {
            const auto number = static_cast<int>(random() % 100'000);
            const std::size_t room = v.max_size() - v.size();
            switch (below(16)) {
                case 0:
                    for (std::size_t i = below(room / 4 + 1); i != 0; --i) {
                        v.push_back(value<T>::of(number));
                        m.push_back(value<T>::of(number));
                    }
                    break;
                case 1: {
                    const std::size_t size = below(v.max_size() + 1);
                    v.resize(size, value<T>::of(number));
                    m.resize(size, value<T>::of(number));
                    break;
                }
                case 2:
                    v.resize(v.max_size(), value<T>::of(number));    // up to max_size()
                    m.resize(v.max_size(), value<T>::of(number));
                    EXPECT_THROW(v.push_back(value<T>::of(number)), std::length_error);
                    EXPECT_EQ(v.try_push_back(value<T>::of(number)), nullptr);
                    break;
                case 3: v.shrink_to_fit(); break;
                case 4:
                    v.clear();
                    m.clear();
                    break;
                case 5: v.reserve(v.size() + below(room + 1)); break;
                case 6: {
                    const auto& policy = headroom_test::all_policies[below(std::size(headroom_test::all_policies))].policy;
                    v.rehome(max_elements{v.size() + below(200)}, policy);
                    break;
                }
                case 7: {
                    vector_type moved(std::move(v));
                    EXPECT_TRUE(v.empty());
                    v = std::move(moved);
                    break;
                }
                case 8: {
                    const vector_type copy(v);
                    this->expect_whole(copy, m);
                    break;
                }
                case 9:
                    if (!kept.empty()) {
                        vector_type& other = kept[below(kept.size())];
                        model_type others_elements(other.begin(), other.end());
                        v.swap(other);
                        std::swap(m, others_elements);
                        this->expect_whole(other, others_elements);
                    }
                    break;
                case 10:
                    for (const access allowed : {access::read_only, access::none, access::read_write}) v.protect(allowed);
                    break;
                case 11:
                    if (room >= 3) {
                        const std::size_t at = below(v.size() + 1);
                        v.insert(v.begin() + static_cast<std::ptrdiff_t>(at), 3, value<T>::of(number));
                        m.insert(m.begin() + static_cast<std::ptrdiff_t>(at), 3, value<T>::of(number));
                    }
                    break;
                case 12:
                    if (!m.empty()) {
                        const auto at = static_cast<std::ptrdiff_t>(below(v.size()));
                        v.erase(v.begin() + at, v.end());
                        m.erase(m.begin() + at, m.end());
                    }
                    break;
                case 13:
                    while (v.size() < v.capacity()) {    // until the next element needs a commit
                        v.push_back(value<T>::of(number));
                        m.push_back(value<T>::of(number));
                    }
                    break;
                case 14: v.name(number % 2 == 0 ? "a name" : nullptr); break;
                default: headroom::trim_cache();
            }
            this->expect_whole(v, m);
            if (this->HasFatalFailure()) return;
            const auto owner = headroom::owner_of(v.data());
            with_lead += owner && owner->base != static_cast<void*>(v.data());
        }
        if (kept.size() < 10) {
            kept.push_back(std::move(v));
        } else {
            kept[below(kept.size())] = std::move(v);
        }
    }
    EXPECT_EQ(with_lead != 0, alignof(T) <= 64 && headroom::page_size() < 64 * kib);
}

// take() of a concurrent_vector returns a vector with its offset.
TYPED_TEST(leads, go_along_with_what_a_concurrent_vector_gives_away) {
    using T = TypeParam;
    for (int i = 0; i < 12; ++i) {
        headroom::concurrent_vector<T, small_ranges> together;
        typename TestFixture::model m;
        for (std::size_t number = 0; number < together.max_size(); ++number) {
            together.push_back(value<T>::of(static_cast<int>(number)));
            m.push_back(value<T>::of(static_cast<int>(number)));
        }
        EXPECT_THROW(together.push_back(value<T>::of(1)), std::length_error);
        auto taken = std::move(together).take();
        this->expect_whole(taken, m);
        taken.rehome(max_elements{m.size() + 1});
        taken.push_back(value<T>::of(7));
        m.push_back(value<T>::of(7));
        this->expect_whole(taken, m);
    }
}

}    // namespace
