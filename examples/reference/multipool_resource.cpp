// SPDX-License-Identifier: MIT
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>
#include <iostream>
#include <list>
#include <thread>
#include <unordered_map>

int main() {
    headroom::multipool_resource pool;
    std::pmr::list<int> numbers(&pool);
    for (int i = 0; i < 1'000'000; ++i) {    // elements come and go: their blocks are used again
        numbers.push_back(i);
        if (numbers.size() > 100) numbers.pop_front();
    }
    std::cout << numbers.front() << '\n';

    headroom::monotonic_resource chunks;
    headroom::multipool_resource over(&chunks);    // a multipool over a monotonic: chunks are never given back singly
    std::pmr::unordered_map<int, int> squares(&over);
    for (int i = 0; i < 1000; ++i) squares[i] = i * i;
    std::cout << squares[30] << '\n';

    headroom::synchronized_multipool_resource shared;    // for threads that share what they allocate
    std::pmr::list<int> mine(&shared), yours(&shared);
    std::thread other([&] { yours.assign(1000, 7); });
    mine.assign(1000, 6);
    other.join();
    mine.splice(mine.end(), yours);    // nodes of another thread are given back here
    std::cout << mine.size() << '\n';
}
