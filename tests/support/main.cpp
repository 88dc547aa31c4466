// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

// Includes the containers' headers in this translation unit and in the test's: catches definitions in a header that are not
// inline.
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include "support/emulated.hpp"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    // Death tests start a fresh process, since forking a process with threads is not safe. The system cannot start an emulated
    // program by name, so under QEMU they fork.
    testing::FLAGS_gtest_death_test_style = headroom_test::emulated() ? "fast" : "threadsafe";
    return RUN_ALL_TESTS();
}
