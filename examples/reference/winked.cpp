// SPDX-License-Identifier: MIT
#include <headroom/monotonic.hpp>
#include <headroom/winked.hpp>
#include <iostream>
#include <memory_resource>
#include <string>
#include <vector>

struct noisy {
    ~noisy() { std::cout << "destroyed\n"; }
};

int main() {
    headroom::monotonic_resource memory;
    for (int round = 0; round < 2; ++round) {
        headroom::winked<std::pmr::vector<std::pmr::string>> names(memory);    // the allocator is passed on, all the way
        for (int i = 0; i < 1000; ++i) names->emplace_back("a name of more than a few characters");
        [[maybe_unused]] const auto never = headroom::make_winked<noisy>(memory);
        std::cout << names->size() << ' ' << (*names)[0] << '\n';
        memory.rewind();    // names are gone without a single destructor; their memory is warm
    }
}
