// SPDX-License-Identifier: MIT
// Replaces operator new, so that a test can refuse an allocation. Include it in one file of a program, and label that file
// own-heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace headroom_test {

inline long allocations_until_refused = 0;    // 0: none
inline bool all_allocations_refused = false;
inline long allocations_alive = 0;

}    // namespace headroom_test

// Stored before each block. Counted blocks are those of throwing operator new and of over-aligned nothrow operator new, which
// vectors use. Not counted: other nothrow blocks, such as the library's address tables. They are kept, and grow when the system
// refuses to unmap.
namespace {
struct block_head {
    void* from_malloc;
    bool counted;
};
void* allocate_or_refuse(std::size_t bytes, bool counted, std::size_t alignment = 16) noexcept {
    using headroom_test::allocations_until_refused;
    if (headroom_test::all_allocations_refused) return nullptr;
    if (allocations_until_refused != 0 && --allocations_until_refused == 0) return nullptr;
    const std::size_t before = alignment < sizeof(block_head) ? sizeof(block_head) : alignment;
    auto* const whole = static_cast<unsigned char*>(std::malloc(bytes + before + alignment));
    if (whole == nullptr) return nullptr;
    unsigned char* const block =
        whole + before + (alignment - reinterpret_cast<std::uintptr_t>(whole + before) % alignment) % alignment;
    const block_head head{whole, counted};
    std::memcpy(block - sizeof head, &head, sizeof head);
    headroom_test::allocations_alive += counted ? 1 : 0;
    return block;
}
void give_back(void* given) noexcept {
    if (given == nullptr) return;
    block_head head;
    std::memcpy(&head, static_cast<unsigned char*>(given) - sizeof head, sizeof head);
    headroom_test::allocations_alive -= head.counted ? 1 : 0;
    std::free(head.from_malloc);
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
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    void* const block = allocate_or_refuse(bytes, true, static_cast<std::size_t>(alignment));
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate_or_refuse(bytes, true, static_cast<std::size_t>(alignment));
}
void operator delete(void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept { give_back(block); }
