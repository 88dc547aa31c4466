// SPDX-License-Identifier: MIT
// Commits a reservation step by step and writes to all committed bytes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <headroom/reservation.hpp>

namespace headroom_test {

inline void fill(headroom::reservation& range, std::size_t bytes, unsigned char value) {
    std::size_t used = 0;
    while (used < bytes) {
        ASSERT_FALSE(range.commit_to(used + 1));
        const std::size_t stop = std::min(range.committed(), bytes);
        std::memset(range.data() + used, value, stop - used);
        used = stop;
    }
}

}    // namespace headroom_test
