// Which allocations a sampled recording keeps, and which addresses those are, so that their end is noticed too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headroom::profile {

// A byte for each hash of an address: zero where no sampled block can be. Small enough to stay in the first-level
// cache, as every free of a sampled recording looks into it.
inline constexpr std::size_t filter_size = std::size_t{1} << 13;
extern unsigned char filter[filter_size];

inline unsigned char& filter_of(const void* address) {
    return filter[(reinterpret_cast<std::uintptr_t>(address) >> 4) * 0x9e3779b97f4a7c15U >> 51];
}
static_assert(filter_size == std::size_t{1} << (64 - 51));

// Bytes until the next sample: exponentially distributed with the mean asked for, so that a block of s bytes is sampled
// with probability 1 - exp(-s / mean), wherever it comes. Advances `state`.
std::int64_t draw_distance(std::uint64_t& state, std::uint64_t mean);

class sampled_set {
public:
    // False when there is no room, or the set is in use by the very thread that asks (in a signal handler).
    bool insert(const void* address);
    // Whether it was in the set; it no longer is.
    bool take(const void* address);
    void clear();

private:
    bool lock();
    void unlock() { busy_.store(0, std::memory_order_release); }

    static constexpr std::size_t size = std::size_t{1} << 16;
    static constexpr std::size_t probes = 16;
    std::uintptr_t* addresses_ = nullptr;
    std::atomic<int> busy_{0};
};

}    // namespace headroom::profile
