// The header that headroom tune writes, written by the build and included here like any program's.
// Labels: tools
#include <gtest/gtest.h>

#include "tuned_policy.hpp"

namespace {

template <class Vector>
void holds_what_is_appended() {
    Vector numbers;
    for (int i = 0; i < 3'000'000; ++i) numbers.push_back(i);
    ASSERT_EQ(numbers.size(), 3'000'000u);
    for (int i = 0; i < 3'000'000; i += 999) ASSERT_EQ(numbers[static_cast<std::size_t>(i)], i);
}

TEST(tune_header, settled_vectors_take_its_policy) {
    holds_what_is_appended<headroom::settled_vector<int, tuned::settled_policy>>();
}
TEST(tune_header, vectors_take_its_policy) {
    holds_what_is_appended<headroom::vector<int, std::allocator<int>, tuned::vector_policy>>();
}
TEST(tune_header, reservations_take_its_policy) {
    headroom::reservation range(std::size_t{8} << 20, tuned::commit);
    EXPECT_FALSE(range.commit_to(std::size_t{8} << 20));
}
TEST(tune_header, it_says_where_and_when_it_was_made) {
    EXPECT_GE(tuned::vector_policy::map_threshold, std::size_t{1} << 20);
    EXPECT_EQ(tuned::settled_policy::commit, tuned::vector_policy::commit);
}

}    // namespace
