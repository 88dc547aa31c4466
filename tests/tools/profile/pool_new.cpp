// SPDX-License-Identifier: MIT
// Replaces operator new by an arena over the system's pages, and fills a vector and a list. Linked twice: with the operators exported,
// which come before the recorder's, and hidden, as a library that is linked statically may have them.
#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <list>
#include <new>
#include <thread>
#include <vector>

namespace {

void* from_arena(std::size_t size) {
    constexpr std::size_t arena_size = std::size_t{256} << 20;
    static char* arena = nullptr;
    static std::size_t used = 0;
    if (arena == nullptr) {
        void* const got = mmap(nullptr, arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (got == MAP_FAILED) throw std::bad_alloc();
        arena = static_cast<char*>(got);
    }
    const std::size_t at = used;
    used += (size + 15) / 16 * 16;
    if (used > arena_size) throw std::bad_alloc();
    return arena + at;
}

}    // namespace

void* operator new(std::size_t size) { return from_arena(size); }
void operator delete(void* /*block*/) noexcept {}
void operator delete(void* /*block*/, std::size_t /*size*/) noexcept {}

int main() {
    std::vector<long> numbers;
    for (long i = 0; i < 3000000; ++i) numbers.push_back(i);
    std::list<int> list;
    for (int i = 0; i < 300000; ++i) list.push_back(i);
    std::this_thread::sleep_for(
        std::chrono::milliseconds(500));    // the command looks at resident pages now and then, and may be busy
}
