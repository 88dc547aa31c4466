// SPDX-License-Identifier: MIT
// Replaces operator new by a pool over malloc.
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

void* operator new(std::size_t size) {
    if (void* const block = std::malloc(size + 16)) return static_cast<char*>(block) + 16;
    throw std::bad_alloc();
}
void operator delete(void* address) noexcept {
    if (address != nullptr) std::free(static_cast<char*>(address) - 16);
}
void operator delete(void* address, std::size_t) noexcept { operator delete(address); }

int main() {
    std::vector<int> v;
    for (int i = 0; i < 1000; ++i) v.push_back(i + 1);
}
