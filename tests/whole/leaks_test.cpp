// SPDX-License-Identifier: MIT
// Labels: no-valgrind
// Leak checkers search reservations: a block owned by an element is in use while the container lives, and leaked if the container
// is destroyed without freeing it. Tests AddressSanitizer's; tests/whole/leaks/ tests Valgrind's.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <headroom/arena.hpp>
#include <headroom/detail/annotate.hpp>
#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

namespace {

#if !defined(HEADROOM_ASAN)

TEST(leaks, are_looked_for_by_the_sanitizer_alone) { EXPECT_FALSE(headroom::detail::annotated); }

#else

extern "C" int __lsan_do_recoverable_leak_check();

constexpr std::uintptr_t hidden = ~std::uintptr_t{0};
constexpr std::size_t many = 1000;

// noinline, so that no pointer stays in a register or on the caller's stack.
template <class Container>
HEADROOM_NOINLINE void fill(Container& container, std::vector<std::uintptr_t>& blocks) {
    for (std::size_t i = 0; i < many; ++i) {
        container.push_back(new char[33]);
        blocks.push_back(reinterpret_cast<std::uintptr_t>(container.back()) ^ hidden);
    }
}

struct early : headroom::vector_policy {
    static constexpr std::size_t map_threshold = 1;
};
template <class Container>
class leaks : public testing::Test {};
using containers = testing::Types<headroom::settled_vector<char*>, headroom::vector<char*, std::allocator<char*>, early>>;
TYPED_TEST_SUITE(leaks, containers);

TYPED_TEST(leaks, are_what_only_a_dead_container_pointed_to) {
    std::vector<std::uintptr_t> blocks;
    blocks.reserve(many);
    {
        TypeParam pointers;
        fill(pointers, blocks);
        EXPECT_EQ(__lsan_do_recoverable_leak_check(), 0) << "what a living container points to was called a leak";
    }
    EXPECT_NE(__lsan_do_recoverable_leak_check(), 0) << "the reservation is kept warm, and hides what it pointed to";
    for (const std::uintptr_t block : blocks) delete[] reinterpret_cast<char*>(block ^ hidden);
    EXPECT_EQ(__lsan_do_recoverable_leak_check(), 0);
}

#endif

}    // namespace
