// SPDX-License-Identifier: MIT
// Moving a program from std::vector: one alias, and everything else stays.
#include <algorithm>
#include <headroom/vector.hpp>
#include <iostream>
#include <string>

template <class T>
using vector = headroom::vector<T>;    // was: using std::vector;

int main() {
    vector<std::string> words{"reserve", "commit", "settle", "append"};
    words.insert(words.begin() + 1, "then");
    std::sort(words.begin(), words.end());
    vector<vector<std::string>> table(3, words);
    table.emplace_back(words.rbegin(), words.rend());
    for (const vector<std::string>& row : table) {
        for (const std::string& word : row) std::cout << word << ' ';
        std::cout << '\n';
    }
}
