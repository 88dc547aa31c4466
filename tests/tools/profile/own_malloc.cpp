// SPDX-License-Identifier: MIT
// Defines malloc, and so comes before whatever is preloaded.
#include <cstddef>
#include <vector>

namespace {
alignas(16) char memory[1 << 20];
std::size_t used = 0;
}    // namespace

extern "C" {
void* malloc(std::size_t size) noexcept {
    used += (size + 15) / 16 * 16;
    return used > sizeof memory ? nullptr : memory + used - (size + 15) / 16 * 16;
}
void free(void* /*block*/) noexcept {}
void* calloc(std::size_t count, std::size_t size) noexcept { return malloc(count * size); }
void* realloc(void* /*block*/, std::size_t /*size*/) noexcept { return nullptr; }
}

int main() {
    std::vector<int> v;
    for (int i = 0; i < 1000; ++i) v.push_back(i);
}
