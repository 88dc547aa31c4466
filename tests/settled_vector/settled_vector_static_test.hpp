// SPDX-License-Identifier: MIT
// Shared declarations of the two files of settled_vector_static_test.
#pragma once

#include <string>

#include <headroom/settled_vector.hpp>

namespace headroom_test {

extern constinit headroom::settled_vector<int> global_here;
extern headroom::settled_vector<std::string> strings_here;
extern constinit headroom::settled_vector<int> global_beside;
extern headroom::settled_vector<std::string> strings_beside;

inline void fill(headroom::settled_vector<int>& v) {
    for (int i = 0; i < 1000; ++i) v.push_back(i);
}
inline void fill(headroom::settled_vector<std::string>& v) {
    for (int i = 0; i < 1000; ++i) v.push_back("the number " + std::to_string(i));
}
inline bool is_filled(const headroom::settled_vector<int>& v) { return v.size() == 1000 && v.back() == 999; }
inline bool is_filled(const headroom::settled_vector<std::string>& v) { return v.size() == 1000 && v.back() == "the number 999"; }

}    // namespace headroom_test
