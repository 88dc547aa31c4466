#include <gtest/gtest.h>

// Every header of a container is in this translation unit and in the test's own: what is defined in a header must be
// defined once. (rvector kept globals in its header.)
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

#include "support/emulated.hpp"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    // Death tests run in a fresh process: forking a process that has threads is not safe. The system cannot start an
    // emulated program by its name, though; there they are forked, and what they do is too little to be disturbed by that.
    testing::FLAGS_gtest_death_test_style = headroom_test::emulated() ? "fast" : "threadsafe";
    return RUN_ALL_TESTS();
}
