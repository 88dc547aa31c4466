// SPDX-License-Identifier: MIT
// Where the bytes of a fuzzed run come from, and what is thrown when two containers differ.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace differential {

struct mismatch : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Bytes that someone else chose. Ends.
class given_bytes {
public:
    given_bytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
    bool next(std::array<std::uint8_t, 4>& step) {
        if (end_ - at_ < 4) return false;
        for (std::uint8_t& byte : step) byte = *at_++;
        return true;
    }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
};

// As many random steps as asked for; the same ones for the same seed.
class random_bytes {
public:
    random_bytes(std::uint64_t seed, std::uint64_t steps) : state_(seed), left_(steps) {}
    bool next(std::array<std::uint8_t, 4>& step) {
        if (left_ == 0) return false;
        --left_;
        // splitmix64: any seed is a good one.
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        z ^= z >> 31;
        for (unsigned i = 0; i < 4; ++i) step[i] = static_cast<std::uint8_t>(z >> (8 * i));
        return true;
    }

private:
    std::uint64_t state_;
    std::uint64_t left_;
};

}    // namespace differential
