// SPDX-License-Identifier: MIT
#include <headroom/concurrent_vector.hpp>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

int main() {
    headroom::concurrent_vector<std::string> found;    // room for 4 GiB of them
    const auto search = [&](const char* what, int count) {
        headroom::concurrent_vector<std::string>::appender out(found);
        for (int i = 0; i < count; ++i) out.emplace_back(what + std::to_string(i));
    };    // what is left of a batch is published here
    std::thread one(search, "file", 1000), two(search, "folder", 500);

    found.wait_for(100);                     // sleeps until there are so many
    const auto early = found.published();    // a span: stays valid while the threads go on
    std::cout << (early.size() >= 100) << '\n';
    one.join();
    two.join();

    std::cout << found.size() << ' ' << (early.data() == found.data()) << '\n';
    const std::size_t index = found.push_back("the last");
    std::cout << index << ' ' << found[index] << '\n';
    const headroom::settled_vector<std::string> all = std::move(found).take();    // where they stand
    std::cout << all.size() << ' ' << (early.data() == all.data()) << '\n';
}
