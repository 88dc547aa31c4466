// Is the malloc of this process recognised by its blocks, wherever they lie?
// Labels: posix
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include <headroom/vector.hpp>

#include "system/in_child.hpp"

namespace {

using headroom_test::in_child;

// Blocks of `bytes`, of which the last begins a page.
std::vector<void*> blocks_up_to_a_page(std::size_t bytes) {
    constexpr int most = 100'000;
    std::vector<void*> taken;
    taken.reserve(most);
    do taken.push_back(std::malloc(bytes));
    while (reinterpret_cast<std::uintptr_t>(taken.back()) % 4096 >= 2 * sizeof(void*) && taken.size() < most);
    return taken;
}

// The capacity with which a vector of this process begins. (The heap is looked at once in a process, at its first vector.)
int first_capacity() {
    headroom::vector<int> one;
    one.push_back(1);
    return static_cast<int>(one.capacity());
}

TEST(heap_steps, the_heap_is_known_wherever_its_next_block_begins) {
    const int usual = in_child(first_capacity);
    for (std::size_t bytes = 1; bytes <= 80; ++bytes) {
        EXPECT_EQ(usual, in_child([&] {
                      std::free(blocks_up_to_a_page(bytes).back());    // the one that the heap will hand out next
                      return first_capacity();
                  }))
            << "blocks of " << bytes << " bytes";
    }
}

}    // namespace
