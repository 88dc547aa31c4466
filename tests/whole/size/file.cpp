// SPDX-License-Identifier: MIT
// A program with one file_vector, whose constants are checked.
#include <filesystem>

#include <headroom/file_vector.hpp>

int main(int count, char** paths) {
    if (count < 2) return 1;
    auto numbers = headroom::file_vector<int>::create(paths[1], headroom::max_elements{1'000'000});
    for (int i = 0; i < count; ++i) numbers.push_back(i);
    numbers.commit();
    return static_cast<int>(numbers.size());
}
