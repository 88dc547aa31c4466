// SPDX-License-Identifier: MIT
#include <headroom/growth.hpp>
#include <headroom/vector.hpp>
#include <iostream>

template <class Growth>
void print(const char* name) {
    std::cout << name;
    for (std::size_t capacity = 1; capacity < 2000; capacity = Growth::next(capacity, capacity + 1, sizeof(int))) {
        std::cout << ' ' << capacity;
    }
    std::cout << '\n';
}

struct thrifty : headroom::vector_policy {
    using growth = headroom::geometric<3, 2>;
};

int main() {
    print<headroom::geometric<2, 1>>("doubling:");
    print<headroom::geometric<3, 2>>("by half:");
    print<headroom::linear<1024>>("by 1024 bytes:");
    print<headroom::page_rounded<headroom::geometric<2, 1>>>("doubling, whole pages:");

    headroom::vector<int, std::allocator<int>, thrifty> v(16);
    v.push_back(0);
    std::cout << "thrifty: " << v.capacity() << '\n';
}
