// SPDX-License-Identifier: MIT
// Default-constructed global vectors are constant-initialized, before any dynamic initializer in any file.
#include "vector/vector_static_test.hpp"

#include <gtest/gtest.h>

namespace headroom_test {

constinit headroom::vector<int> numbers_here;
constinit headroom::file_vector<int> no_file;

}    // namespace headroom_test

namespace {

using namespace headroom_test;

// Each file fills the other's vector during startup: the first to run finds the other's file not yet initialized.
const bool filled_from_here = (fill(numbers_beside), true);

TEST(a_global_vector_on_the_heap, keeps_what_an_initialiser_of_another_file_appended) {
    EXPECT_TRUE(filled_from_here);
    EXPECT_TRUE(is_filled(numbers_here));
    EXPECT_TRUE(is_filled(numbers_beside));
}

TEST(a_global_file_vector, is_without_a_file_until_one_is_moved_into_it) {
    EXPECT_FALSE(no_file.is_open());
    EXPECT_TRUE(no_file.empty());
    EXPECT_EQ(no_file.max_size(), 0U);
}

}    // namespace
