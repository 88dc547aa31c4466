// SPDX-License-Identifier: MIT
// The growth policies of headroom/growth.hpp as contenders: pure arithmetic, played by a vector without memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "peers/peer.hpp"

#include <headroom/growth.hpp>

namespace headroom::lab {

// Knows its size, its capacity and its last element. data() is no memory: another value each time it would have moved.
template <class Growth, class T>
class modelled_vector {
public:
    void push_back(T value) {
        if (size_ == capacity_) {
            capacity_ = Growth::next(capacity_, size_ + 1, sizeof(T));
            ++moves_;
        }
        ++size_;
        last_ = value;
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] const T& back() const { return last_; }
    [[nodiscard]] std::uintptr_t data() const { return moves_; }

private:
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    std::uintptr_t moves_ = 0;
    T last_{};
};

template <class Growth>
struct growth_peer {
    static std::string version() { return HEADROOM_LAB_VERSION; }
    template <class T>
    using container = modelled_vector<Growth, T>;
};

struct growth_by_two : growth_peer<geometric<2, 1>> {
    static constexpr const char* id = "headroom::geometric<2,1>";
};
struct growth_by_half : growth_peer<geometric<3, 2>> {
    static constexpr const char* id = "headroom::geometric<3,2>";
};
struct growth_linear : growth_peer<linear<65536>> {
    static constexpr const char* id = "headroom::linear<64 KiB>";
};
struct growth_pages : growth_peer<page_rounded<geometric<3, 2>>> {
    static constexpr const char* id = "headroom::page_rounded<geometric<3,2>>";
};

inline constexpr peer_list<growth_by_two, growth_by_half, growth_linear, growth_pages> growth_policies;

}    // namespace headroom::lab
