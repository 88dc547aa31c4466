// SPDX-License-Identifier: MIT
// Random choices made from a string of bytes: a fuzzer's input or a file of its corpus.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headroom_test {

// Returns numbers from the input; left() is false at its end.
class given_chance {
public:
    given_chance(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
    [[nodiscard]] bool left() const { return at_ != end_; }
    std::uint64_t operator()() { return left() ? *at_++ : 0; }
    std::size_t below(std::size_t bound) {
        std::uint64_t value = (*this)();
        if (bound > 256) value = value << 8 | (*this)();
        if (bound > 65536) value = value << 8 | (*this)();
        return static_cast<std::size_t>(value % bound);
    }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
};

}    // namespace headroom_test
