// SPDX-License-Identifier: MIT
#include <headroom/arena.hpp>
#include <headroom/vector.hpp>
#include <iostream>
#include <string>

int main() {
    headroom::arena arena(std::size_t{1} << 20);
    auto* const counts = static_cast<int*>(arena.allocate(10 * sizeof(int), alignof(int)));
    counts[9] = 1;

    const headroom::arena::marker before = arena.mark();
    void* const scratch = arena.allocate(100'000);
    arena.rewind(before);    // the scratch space is gone, its pages stay warm
    std::cout << arena.used() << ' ' << arena.contains(counts) << arena.contains(scratch) << '\n';
    std::cout << (arena.try_allocate(std::size_t{2} << 20) == nullptr ? "full" : "room") << '\n';

    headroom::arena_resource resource(arena);    // the same arena, as a memory resource
    std::pmr::string text("a string that is too long for the space inside", &resource);
    std::cout << arena.contains(text.data()) << '\n';
}
