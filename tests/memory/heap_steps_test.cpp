// SPDX-License-Identifier: MIT
// The library recognizes glibc's malloc by its blocks, at any address. Left out under Valgrind, which replaces malloc.
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include <headroom/vector.hpp>

#include "system/in_child.hpp"

namespace {

using headroom_test::in_child;

// Frees a block of `bytes` at the start of a page, so that malloc returns it next. Does nothing if none of 4096 blocks is there.
void free_one_that_begins_a_page(std::size_t bytes) {
    for (int i = 0; i < 4096; ++i) {
        void* const block = std::malloc(bytes);
        if (reinterpret_cast<std::uintptr_t>(block) % 4096 >= 2 * sizeof(void*)) continue;    // kept: the process ends soon
        std::free(block);
        return;
    }
}

// Returns the first capacity of a vector. The library examines malloc once in a process, at its first vector.
int first_capacity() {
    headroom::vector<int> one;
    one.push_back(1);
    return static_cast<int>(one.capacity());
}

TEST(heap_steps, the_heap_is_known_wherever_its_next_block_begins) {
    const int usual = in_child(first_capacity);
    for (std::size_t bytes = 1; bytes <= 80; bytes += 8) {
        // A block before shifts the others: with some sizes, such as 32, no block would begin a page.
        for (const std::size_t before : {std::size_t{0}, std::size_t{40}}) {
            EXPECT_EQ(usual, in_child([&] {
                          void* const kept = before == 0 ? nullptr : std::malloc(before);
                          free_one_that_begins_a_page(bytes);
                          const int first = first_capacity();
                          std::free(kept);
                          return first;
                      }))
                << "blocks of " << bytes << " bytes";
        }
    }
}

}    // namespace
