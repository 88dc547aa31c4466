// SPDX-License-Identifier: MIT
#include <headroom/vector.hpp>
#include <cstdio>
#include <iostream>
#include <string>

int main() {
    headroom::vector<std::string> words{"reserve", "commit"};
    words.push_back("grow");
    words.insert(words.begin(), words.back());    // an element of its own may be inserted
    for (const std::string& word : words) std::cout << word << ' ';
    std::cout << '\n';

    headroom::vector<int> numbers;
    for (int i = 0; i < 1'000'000; ++i) numbers.push_back(i);    // past 1 MiB of capacity it lives in a reservation
    const int* const before = numbers.data();
    while (numbers.size() < 10'000'000) numbers.push_back(0);
    std::cout << (numbers.data() == before ? "grew in place" : "moved") << '\n';

    headroom::vector<char> line;
    line.resize_and_overwrite(32, [](char* to, std::size_t room) {
        return static_cast<std::size_t>(std::snprintf(to, room, "%zu numbers", std::size_t{42}));
    });
    std::cout << std::string(line.begin(), line.end()) << '\n';
}
