// SPDX-License-Identifier: MIT
#include <headroom/monotonic.hpp>
#include <array>
#include <iostream>
#include <map>
#include <string>

int main() {
    std::array<std::byte, 4096> buffer;
    headroom::monotonic_resource memory(buffer.data(), buffer.size());    // the buffer first, then the heap
    for (int request = 1; request <= 3; ++request) {
        {
            std::pmr::map<int, std::pmr::string> answers(&memory);
            for (int i = 0; i < 1000 * request; ++i) answers.emplace(i, "an answer of more than a few characters");
            std::cout << answers.size() << ' ';
        }    // the map's destructor gives back nothing ...
        memory.rewind();    // ... this forgets all of it, and keeps the memory for the next request
    }
    const headroom::monotonic_resource::marker before = memory.mark();
    void* const first = memory.allocate(100);
    memory.rewind(before);
    std::cout << (memory.allocate(100) == first) << '\n';
}
