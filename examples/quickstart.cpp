// SPDX-License-Identifier: MIT
#include <headroom/settled_vector.hpp>
#include <iostream>
#include <string>

int main() {
    headroom::settled_vector<std::string> lines;    // owns nothing yet; its first line reserves 4 GiB of addresses
    lines.push_back("the first line");
    const std::string& first = lines.front();    // stays valid however long the vector grows
    while (lines.size() < 1'000'000) lines.push_back("another line");
    std::cout << first << ", of " << lines.size() << '\n';
}
