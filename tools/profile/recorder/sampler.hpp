// SPDX-License-Identifier: MIT
// Which allocations a sampled recording keeps, and which addresses those are, so that their end is noticed too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headroom::profile {

// A byte for each hash of an address: zero where a free need not be looked at, because no sampled block can lie there.
// Small enough to stay in the first-level cache, as every free of a sampled recording looks into it.
inline constexpr std::size_t filter_size = std::size_t{1} << 13;
extern unsigned char filter[filter_size];

inline std::size_t place_in_filter(const void* address) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(address) >> 4) * 0x9e3779b1U >> 19;
}
static_assert(filter_size == std::size_t{1} << (32 - 19));

// Which byte is the next to be sampled, 1 being the first: exponentially distributed with the mean asked for, so that a
// block of s bytes is sampled with probability 1 - exp(-s / mean), wherever it comes. Advances `state`.
std::uint64_t draw_distance(std::uint64_t& state, std::uint64_t mean);

class sampled_set {
public:
    // False when there is no room, or the set is in use by the very thread that asks (in a signal handler).
    bool insert(const void* address);
    // Removes an address. True if it was in the set.
    bool take(const void* address);
    // Forgets all addresses; leaves the filter alone.
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
