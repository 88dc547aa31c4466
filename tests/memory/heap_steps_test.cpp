// Is the malloc of this process recognised by its blocks, wherever they lie? (Valgrind has another.)
// Labels: posix no-valgrind
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include <headroom/vector.hpp>

#include "system/in_child.hpp"

namespace {

using headroom_test::in_child;

// Leaves a block of `bytes` that begins a page as the next one that the heap will hand out, if there is one among many.
void free_one_that_begins_a_page(std::size_t bytes) {
    for (int i = 0; i < 4096; ++i) {
        void* const block = std::malloc(bytes);
        if (reinterpret_cast<std::uintptr_t>(block) % 4096 >= 2 * sizeof(void*)) continue;    // (kept: the process ends soon)
        std::free(block);
        return;
    }
}

// The capacity with which a vector of this process begins. (The heap is looked at once in a process, at its first vector.)
int first_capacity() {
    headroom::vector<int> one;
    one.push_back(1);
    return static_cast<int>(one.capacity());
}

TEST(heap_steps, the_heap_is_known_wherever_its_next_block_begins) {
    const int usual = in_child(first_capacity);
    for (std::size_t bytes = 1; bytes <= 80; bytes += 8) {
        // (With blocks of 32 bytes, say, it depends on the first one whether any begins a page.)
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
