// SPDX-License-Identifier: MIT
#include "sampler.hpp"

#include <cstring>

#include "errno_kept.hpp"
#include "stacks.hpp"

namespace headroom::profile {

unsigned char filter[filter_size];

namespace {

// Natural logarithm of x in (0, 1], good to six digits: nothing but libc is at hand here, and its mathematics is a
// library apart.
double logarithm(double x) {
    int halvings = 0;
    while (x < 0.75) {
        x *= 2;
        ++halvings;
    }
    const double z = (x - 1) / (x + 1);
    const double zz = z * z;
    return 2 * z * (1 + zz * (1.0 / 3 + zz * (1.0 / 5 + zz * (1.0 / 7 + zz / 9)))) - halvings * 0.69314718055994531;
}

std::size_t place(const void* address) { return (reinterpret_cast<std::uintptr_t>(address) >> 4) * 0x9e3779b97f4a7c15U >> 32; }

}    // namespace

std::uint64_t draw_distance(std::uint64_t& state, std::uint64_t mean) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const double uniform = (static_cast<double>(state >> 11) + 1) / 9007199254740992.0;
    return 1 + static_cast<std::uint64_t>(-logarithm(uniform) * static_cast<double>(mean));
}

bool sampled_set::lock() {
    for (int round = 0; round < 100000; ++round) {
        int free = 0;
        if (busy_.compare_exchange_weak(free, 1, std::memory_order_acquire)) return true;
    }
    return false;
}

bool sampled_set::insert(const void* address) {
    if (!lock()) return false;
    const errno_kept kept;
    if (addresses_ == nullptr) addresses_ = static_cast<std::uintptr_t*>(pages(size * sizeof(std::uintptr_t)));
    bool done = false;
    for (std::size_t probe = 0; addresses_ != nullptr && probe < probes && !done; ++probe) {
        std::uintptr_t& entry = addresses_[(place(address) + probe) % size];
        if (entry != 0) continue;
        unsigned char& count = filter[place_in_filter(address)];
        if (count == 255) break;
        ++count;
        entry = reinterpret_cast<std::uintptr_t>(address);
        done = true;
    }
    unlock();
    return done;
}

bool sampled_set::take(const void* address) {
    if (!lock()) return false;
    bool found = false;
    for (std::size_t probe = 0; addresses_ != nullptr && probe < probes && !found; ++probe) {
        std::uintptr_t& entry = addresses_[(place(address) + probe) % size];
        if (entry != reinterpret_cast<std::uintptr_t>(address)) continue;
        entry = 0;
        --filter[place_in_filter(address)];
        found = true;
    }
    unlock();
    return found;
}

void sampled_set::clear() {
    if (addresses_ != nullptr) std::memset(addresses_, 0, size * sizeof(std::uintptr_t));
    unlock();
}

}    // namespace headroom::profile
