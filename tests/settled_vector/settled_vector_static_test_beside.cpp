// SPDX-License-Identifier: MIT
// Second file of settled_vector_static_test.
#include "settled_vector/settled_vector_static_test.hpp"

namespace headroom_test {

constinit headroom::settled_vector<int> global_beside;
headroom::settled_vector<std::string> strings_beside;

namespace {

[[maybe_unused]] const bool filled_from_beside = (fill(global_here), fill(strings_here), true);

}    // namespace

}    // namespace headroom_test
