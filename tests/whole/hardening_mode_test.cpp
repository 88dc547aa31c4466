// SPDX-License-Identifier: MIT
// libc++'s hardening modes enable the checks of the containers' elements. Other standard libraries ignore the macros; headroom
// does not.
// Labels: no-valgrind
#include <cstddef>
#if !defined(_LIBCPP_VERSION)
#define _LIBCPP_HARDENING_MODE_NONE (1 << 1)
#define _LIBCPP_HARDENING_MODE_FAST (1 << 2)
#endif
#if defined(_LIBCPP_HARDENING_MODE_FAST)
#undef _LIBCPP_HARDENING_MODE
#define _LIBCPP_HARDENING_MODE _LIBCPP_HARDENING_MODE_FAST
#include <headroom/vector.hpp>

#include <gtest/gtest.h>

namespace {

TEST(hardening_mode, an_element_that_is_not_there_ends_the_program) {
    headroom::vector<int> v(5);
    EXPECT_DEATH(static_cast<void>(v[5]), "vector of 5 elements at .*: operator\\[\\] of index 5: there is no such element");
    v.clear();
    EXPECT_DEATH(static_cast<void>(v.front()), "front\\(\\) of an empty container");
    EXPECT_DEATH(static_cast<void>(v.back()), "back\\(\\) of an empty container");
    EXPECT_DEATH(v.pop_back(), "pop_back\\(\\) of an empty container");
}

}    // namespace
#endif
