// Replaces operator new, so that a test says which allocation is refused. Included by one file of a program, and that file is
// labelled own-heap.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace headroom_test {

inline long allocations_until_refused = 0;    // 0: none is
inline long allocations_alive = 0;

}    // namespace headroom_test

// Each block has a word before it that says whether it is counted. What is asked for without exceptions is not: the library's
// tables of addresses are, which it keeps, and of which it needs more where the system keeps addresses that were to be given back.
namespace {
constexpr std::size_t word_before = 16;
void* allocate_or_refuse(std::size_t bytes, bool counted) noexcept {
    using headroom_test::allocations_until_refused;
    if (allocations_until_refused != 0 && --allocations_until_refused == 0) return nullptr;
    auto* const block = static_cast<unsigned char*>(std::malloc(bytes + word_before));
    if (block == nullptr) return nullptr;
    block[0] = counted ? 1 : 0;
    headroom_test::allocations_alive += block[0];
    return block + word_before;
}
void give_back(void* given) noexcept {
    if (given == nullptr) return;
    unsigned char* const block = static_cast<unsigned char*>(given) - word_before;
    headroom_test::allocations_alive -= block[0];
    std::free(block);
}
}    // namespace

void* operator new(std::size_t bytes) {
    void* const block = allocate_or_refuse(bytes, true);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate_or_refuse(bytes, false); }
void operator delete(void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { give_back(block); }
