// SPDX-License-Identifier: MIT
// Second file of vector_static_test.
#include "vector/vector_static_test.hpp"

namespace headroom_test {

constinit headroom::vector<int> numbers_beside;

namespace {

[[maybe_unused]] const bool filled_from_beside = (fill(numbers_here), true);

}    // namespace

}    // namespace headroom_test
