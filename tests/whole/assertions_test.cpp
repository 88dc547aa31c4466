// SPDX-License-Identifier: MIT
// The standard library's assertion macros enable the checks of the containers' elements.
// Labels: no-valgrind
#if !defined(_GLIBCXX_ASSERTIONS)
#define _GLIBCXX_ASSERTIONS 1
#endif
#include <headroom/concurrent_vector.hpp>
#include <headroom/frozen.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/small_vector.hpp>
#include <headroom/vector.hpp>

#include <gtest/gtest.h>

#include <string>
#include <typeinfo>
#include <utility>

namespace {

template <class Vector>
class assertions : public testing::Test {};
using vectors = testing::Types<headroom::vector<int>, headroom::settled_vector<std::string>, headroom::small_vector<int, 4>>;
TYPED_TEST_SUITE(assertions, vectors);

TYPED_TEST(assertions, an_element_that_is_not_there_ends_the_program) {
    TypeParam v(5);
    v.reserve(100);
    EXPECT_DEATH(static_cast<void>(v[5]), "vector of 5 elements at .*: operator\\[\\] of index 5: there is no such element");
    EXPECT_DEATH(static_cast<void>(std::as_const(v)[99]), "operator\\[\\] of index 99");
    EXPECT_EQ(&v[4], v.data() + 4);
    v.clear();
    EXPECT_DEATH(static_cast<void>(v.front()), "front\\(\\) of an empty container");
    EXPECT_DEATH(static_cast<void>(v.back()), "back\\(\\) of an empty container");
    EXPECT_DEATH(static_cast<void>(std::as_const(v).front()), "front\\(\\) of an empty container");
    EXPECT_DEATH(static_cast<void>(std::as_const(v).back()), "back\\(\\) of an empty container");
    EXPECT_DEATH(v.pop_back(), "pop_back\\(\\) of an empty container");
}

TEST(assertions_of, other_containers) {
    headroom::concurrent_vector<int> together;
    together.push_back(1);
    EXPECT_DEATH(static_cast<void>(together[1]), "operator\\[\\] of index 1");
    const auto still = headroom::freeze(headroom::settled_vector<int>{1, 2});
    EXPECT_DEATH(static_cast<void>(still[2]), "operator\\[\\] of index 2");
}

// Files with and without the macro exchange containers.
TYPED_TEST(assertions, leave_the_names_as_they_are) {
#if defined(HEADROOM_HARDENED)
    GTEST_SKIP() << "hardened containers have names of their own";
#endif
    EXPECT_EQ(std::string(typeid(TypeParam).name()).find("hardened"), std::string::npos);
}

}    // namespace
