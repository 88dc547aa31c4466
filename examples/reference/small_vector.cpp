// SPDX-License-Identifier: MIT
#include <headroom/small_vector.hpp>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

// The words of a line: mostly few.
headroom::small_vector<std::string, 4> words_of(const std::string& line) {
    headroom::small_vector<std::string, 4> words;
    std::string word;
    for (const char each : line + ' ') {
        if (each != ' ') {
            word += each;
        } else if (!word.empty()) {
            words.push_back(std::exchange(word, {}));
        }
    }
    return words;
}

int main() {
    for (const char* const line : {"grow in place", "reserve commit append append append"}) {
        auto words = words_of(line);
        std::cout << words.size() << " words, room for " << words.capacity() << '\n';
        words.resize(2);
        words.shrink_to_fit();    // back into the object
        std::cout << words.size() << " words, room for " << words.capacity() << '\n';
    }
    std::vector<headroom::small_vector<int, 3>> edges(1'000'000);    // no allocation but this one
    for (auto& each : edges) each = {1, 2, 3};
    std::cout << edges.back().back() << '\n';
}
