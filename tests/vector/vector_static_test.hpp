// SPDX-License-Identifier: MIT
// Shared declarations of the two files of vector_static_test.
#pragma once

#include <headroom/file_vector.hpp>
#include <headroom/vector.hpp>

namespace headroom_test {

extern constinit headroom::vector<int> numbers_here;
extern constinit headroom::vector<int> numbers_beside;

// Starts on the heap and ends in a reservation.
inline void fill(headroom::vector<int>& v) {
    for (int i = 0; i < 1'000'000; ++i) v.push_back(i);
}
inline bool is_filled(const headroom::vector<int>& v) { return v.size() == 1'000'000 && v.front() == 0 && v.back() == 999'999; }

}    // namespace headroom_test
