// SPDX-License-Identifier: MIT
#include <cstdio>

#include <headroom/vector.hpp>

int main(int count, char**) {
    headroom::vector<int> v;
    for (int i = 0; i < 1000 * count; ++i) v.push_back(i);
    std::printf("%d\n", v.back());
}
