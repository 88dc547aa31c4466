// SPDX-License-Identifier: MIT
// Hardened: an index past the published elements, and destroying a vector before its appenders, end the program with a message.
// Labels: no-valgrind
#define HEADROOM_HARDENED 1
#include <headroom/concurrent_vector.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "support/addresses.hpp"

namespace {

using headroom::concurrent_vector;
using headroom_test::an_address;

TEST(a_hardened_concurrent_vector, refuses_an_index_that_is_not_published) {
    concurrent_vector<int> v;
    v.append_range({1, 2, 3});
    v.name("records");
    concurrent_vector<int>::appender out(v);
    out.emplace_back(4);    // built but not published
    EXPECT_DEATH(static_cast<void>(v[3]), std::string("concurrent_vector \"records\" of 3 elements at ") + an_address +
                                              ": operator\\[\\] of index 3: there is no such element");
    EXPECT_DEATH(static_cast<void>(std::as_const(v)[4]), "index 4");
    out.flush();
    EXPECT_EQ(v[3], 4);
}

TEST(a_hardened_concurrent_vector, outlives_its_appenders) {
    auto v = std::make_unique<concurrent_vector<std::string>>();
    auto out = std::make_unique<concurrent_vector<std::string>::appender>(*v);
    EXPECT_DEATH(v.reset(), "concurrent_vector of 0 elements.*the destructor while 1 appenders still use it");
    EXPECT_DEATH(static_cast<void>(std::move(*v).take()), "take\\(\\) while 1 appenders still use it");
    out.reset();
    v.reset();
}

TEST(a_hardened_concurrent_vector, has_memory_that_shows_nothing_of_its_former_owner) {
    constexpr headroom::max_elements some{300'000};
    {
        concurrent_vector<int> first(some);
        for (int i = 0; i < 200'000; ++i) first.push_back(0x5ec2e7);
    }
    for (int round = 0; round < 40; ++round) {
        concurrent_vector<int> next(some);
        next.reserve(200'000);
        const int* const data = next.data();
        for (std::size_t i = 0; i < 200'000; i += 100) ASSERT_NE(data[i], 0x5ec2e7);
    }
}

}    // namespace
