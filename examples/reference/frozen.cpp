// SPDX-License-Identifier: MIT
#include <headroom/frozen.hpp>
#include <headroom/settled_vector.hpp>
#include <iostream>
#include <memory>
#include <numeric>
#include <thread>

int main() {
    headroom::settled_vector<int> squares;
    for (int i = 0; i < 1000; ++i) squares.push_back(i * i);
    const int* const where = squares.data();

    headroom::frozen<int> shared = headroom::freeze(std::move(squares));    // nothing is copied
    std::cout << (shared.data() == where) << ' ' << squares.size() << '\n';

    std::thread reader([part = shared.first(10)] {    // a share of its own
        std::cout << std::accumulate(part.begin(), part.end(), 0) << '\n';
    });
    shared = {};    // the reader's share keeps the elements
    reader.join();

    auto table = std::make_shared<int[]>(3);    // whatever is no container: a span and its owner
    table[2] = 7;
    const std::span<const int> elements(table.get(), 3);
    std::cout << headroom::frozen<int>(elements, std::move(table))[2] << '\n';
}
