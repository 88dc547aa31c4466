// What the cache keeps unasked, beyond a few mebibytes, the system may take back where it runs short: MADV_FREE. Apart from the other
// tests of the cache, since it is not so once a program has said how much is to be kept.
// Labels: linux no-valgrind no-sanitizer
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include <headroom/reservation.hpp>

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

std::uint64_t offers_of_lives(std::size_t used) {
    headroom::reset_statistics();
    for (int i = 0; i < 10; ++i) {
        headroom::reservation range(256 * MiB, headroom::least_memory());
        EXPECT_FALSE(range.commit_to(used));
        std::memset(range.data(), 1, used);
    }
    return headroom::statistics().count(headroom::page_call::other);
}

TEST(offered_memory, is_what_lies_beyond_the_first_mebibytes) {
#if defined(HEADROOM_HARDENED)
    GTEST_SKIP() << "hardened, a range rests before it is used again";
#endif
    EXPECT_EQ(offers_of_lives(2 * MiB), 0U);
    EXPECT_GT(headroom::cached_bytes(), 0U);
    EXPECT_GE(offers_of_lives(8 * MiB), 1U);
    EXPECT_GE(headroom::cached_bytes(), 8 * MiB);
}

}    // namespace
