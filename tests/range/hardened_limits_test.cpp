// SPDX-License-Identifier: MIT
// Hardened builds with few addresses.
// Labels: posix no-valgrind
#define HEADROOM_HARDENED 1
#include <headroom/reservation.hpp>
#include <headroom/settled_vector.hpp>

#include <gtest/gtest.h>

#include "support/sanitizers.hpp"
#include "system/limits.hpp"

namespace {

// Quarantined ranges are released when addresses run out, before a reservation is refused.
TEST(hardened_memory, resting_ranges_stand_in_nobodys_way) {
    if (headroom_test::sanitizer_needs_memory) GTEST_SKIP() << "the sanitizer has more addresses than a limit allows";
    if (!headroom_test::limits_are_kept()) GTEST_SKIP() << headroom_test::limits_are_forgotten;
    EXPECT_EQ(headroom_test::in_child([] {
                  constexpr std::size_t mib = std::size_t{1} << 20;
                  headroom::set_cache_limit(0);
                  if (!headroom_test::limit_addresses(640 * mib)) return 1;
                  for (int i = 0; i < 10; ++i) {
                      headroom::settled_vector<char> v(headroom::max_elements{400 * mib});    // throws when refused
                      v.push_back('x');
                  }
                  return 0;
              }),
              0);
}

}    // namespace
