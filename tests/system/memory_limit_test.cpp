// SPDX-License-Identifier: MIT
// More than the system has is refused when it is committed, and nothing changes. Windows counts what it has promised to all processes and
// refuses by itself; on Linux the library asks before it commits.
// Labels: no-valgrind
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

#include "support/emulated.hpp"
#include "system/memory_limit.hpp"

namespace {

constexpr std::uint64_t GiB = std::uint64_t{1} << 30;

struct memory_limit : testing::Test {
    const std::uint64_t most = headroom_test::memory_of_system();
    void SetUp() override {
        if (most == 0) GTEST_SKIP() << "the system does not say what it has";
        if (headroom_test::emulated() || most > SIZE_MAX / 8) GTEST_SKIP() << "more than there are addresses";
    }
};

TEST_F(memory_limit, is_met_by_a_reservation_as_it_commits) {
    headroom::reservation range(static_cast<std::size_t>(most + 8 * GiB), headroom::least_memory());
    ASSERT_FALSE(range.commit_to(1000));
    range.data()[999] = std::byte{7};
    EXPECT_TRUE(
        range.commit_to(static_cast<std::size_t>(most + 4 * GiB)));    // not_enough_memory; Wine says that access is denied
    EXPECT_EQ(range.data()[999], std::byte{7});
    EXPECT_FALSE(range.commit_to(std::size_t{1} << 20));
}

TEST_F(memory_limit, is_met_by_a_vector_as_it_reserves) {
    headroom::settled_vector<char> v(headroom::max_elements(static_cast<std::size_t>(most + 8 * GiB)));
    v.assign(1000, 'x');
    EXPECT_THROW(v.reserve(static_cast<std::size_t>(most + 4 * GiB)), headroom::refused);
    EXPECT_EQ(v.size(), 1000U);
    EXPECT_EQ(v.back(), 'x');
    v.resize(100'000, 'y');
    EXPECT_EQ(v.back(), 'y');
}

}    // namespace
