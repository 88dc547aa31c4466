// SPDX-License-Identifier: MIT
// Holds the given MiB in one range of Headroom, and 8 MiB in blocks of malloc, for 0.3 s.
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

#include <headroom/settled_vector.hpp>
#include <headroom/vector.hpp>

int main(int, char** argv) {
    const auto bytes = static_cast<std::size_t>(std::atoi(argv[1])) << 20;
    headroom::settled_vector<char> all;
    for (std::size_t i = 0; i < bytes; ++i) all.push_back('x');
    void* volatile block = std::malloc(std::size_t{8} << 20);    // volatile: Clang would remove the allocation
    std::memset(block, 1, std::size_t{8} << 20);
    headroom::vector<int> small;    // grows in the heap
    for (int i = 0; i < 1000; ++i) small.push_back(i);
    usleep(300000);
    const int result = all[bytes / 2] == 'x' && small.back() == 999 ? 0 : 1;
    std::free(block);
    return result;
}
