// SPDX-License-Identifier: MIT
// Uses multipools in every way that their slow paths serve. Compiled once for each kind of file.
#include <headroom/multipool.hpp>
#include <headroom/resource_allocator.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

// Grants some kilobytes, so that a pool has to find memory in itself.
class bounded : public std::pmr::memory_resource {
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (bytes > left_) throw std::bad_alloc();
        left_ -= bytes;
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        left_ += bytes;
        std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
    std::size_t left_ = std::size_t{64} << 10;
};

template <class Pool>
bool serves_every_size(Pool& pool) {
    for (std::size_t alignment : {std::size_t{1}, std::size_t{16}, std::size_t{64}, std::size_t{4096}}) {
        std::vector<void*> blocks;
        for (std::size_t bytes = 0; bytes < 3'000'000; bytes += bytes / 3 + 1) {
            blocks.push_back(pool.allocate(bytes, alignment));
            std::memset(blocks.back(), 1, bytes);
        }
        std::size_t next = 0;
        for (std::size_t bytes = 0; bytes < 3'000'000; bytes += bytes / 3 + 1) pool.deallocate(blocks[next++], bytes, alignment);
    }
    {
        std::pmr::unordered_map<int, std::pmr::string> map(&pool);
        for (int i = 0; i < 20'000; ++i) map[i] = "a text of which each map has many";
        if (pool.statistics().blocks < 40'000) return false;
    }
    (void)pool.trim();
    return pool.statistics().blocks == 0 && pool.statistics().chunk_bytes != 0;
}

// Allocates until the upstream refuses, and frees all of it. Returns the number of blocks.
std::size_t fill(headroom::multipool_resource& pool) {
    std::vector<void*> blocks;
    try {
        for (;;) blocks.push_back(pool.allocate(100));
    } catch (const std::bad_alloc&) {}
    for (void* const block : blocks) pool.deallocate(block, 100);
    return blocks.size();
}

bool survives_refusals() {
    bounded few;
    headroom::multipool_resource pool(&few);
    const std::size_t once = fill(pool);
    return once > 100 && fill(pool) >= once;
}

void write_to_free_block(headroom::multipool_resource& pool) {
    std::array<std::byte*, 64> blocks{};
    for (std::byte*& each : blocks) each = static_cast<std::byte*>(pool.allocate(64));
    for (std::byte* const each : blocks) pool.deallocate(each, 64);
    for (std::byte* const each : blocks) each[40] = std::byte{7};
    for (std::size_t i = 0; i < 1000; ++i) (void)pool.allocate(64);
}

}    // namespace

// Returns true if all works. With `mistake`, writes to a block after it was given back.
bool PART(bool mistake) {
    headroom::multipool_resource pool;
    if (mistake) write_to_free_block(pool);
    headroom::synchronized_multipool_resource shared;
    return serves_every_size(pool) && serves_every_size(shared) && survives_refusals();
}
