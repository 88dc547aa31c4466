// SPDX-License-Identifier: MIT
// A program without exceptions, whose upstream returns null when it has no memory.
#include <headroom/multipool.hpp>

#include <cstddef>
#include <cstdlib>
#include <memory_resource>

namespace {

class bounded : public std::pmr::memory_resource {
    void* do_allocate(std::size_t bytes, std::size_t) override {
        if (bytes > left_) return nullptr;
        left_ -= bytes;
        return std::malloc(bytes);
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t) override {
        left_ += bytes;
        std::free(block);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
    std::size_t left_ = std::size_t{64} << 10;
};

}    // namespace

int main() {
    bounded few;
    headroom::multipool_resource pool(&few);
    for (int i = 0; i < 100'000; ++i) *static_cast<char*>(pool.allocate(48)) = 1;
}
