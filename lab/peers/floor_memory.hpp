// SPDX-License-Identifier: MIT
// The floor: what an allocator costs that does the least there is to do. Not a library, but a yardstick written for the lab: it
// has one warm buffer that is large enough, cannot grow, gives nothing back, checks nothing.
//
//   monotonic   moves a pointer
//   multipool   a list of free blocks for each size class, last in first out, and a pointer to move when a list is empty
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "peers/memory_peer.hpp"

namespace headroom::lab {

class floor_bump {
public:
    floor_bump(std::byte* first, std::size_t bytes) : first_(first), place_(first), last_(first + bytes) {}

    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment) {
        const std::uintptr_t place = (reinterpret_cast<std::uintptr_t>(place_) + alignment - 1) & -alignment;
        place_ = reinterpret_cast<std::byte*>(place + bytes);
        if (place_ > last_) [[unlikely]]
            std::abort();
        return reinterpret_cast<void*>(place);
    }
    [[gnu::always_inline]] void deallocate(void*, std::size_t, std::size_t) {}
    void restart() { place_ = first_; }

private:
    std::byte* first_;
    std::byte* place_;
    std::byte* last_;
};

class floor_pools {
public:
    floor_pools(std::byte* first, std::size_t bytes) : bump_(first, bytes) {}

    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment) {
        const std::size_t rounded = (bytes + alignment - 1) & -alignment;
        const std::size_t index = index_of(rounded);
        block* const got = lists_[index];
        if (got == nullptr) {
            const std::size_t size = size_of(index);
            return bump_.allocate(size, size % 16 == 0 ? 16 : 8);
        }
        lists_[index] = got->next;
        return got;
    }
    [[gnu::always_inline]] void deallocate(void* gone, std::size_t bytes, std::size_t alignment) {
        const std::size_t index = index_of((bytes + alignment - 1) & -alignment);
        auto* const freed = static_cast<block*>(gone);
        freed->next = lists_[index];
        lists_[index] = freed;
    }
    void restart() {
        bump_.restart();
        lists_ = {};
    }

private:
    struct block {
        block* next;
    };

    // In steps of 8 bytes up to 1024, then eight steps to each doubling.
    static constexpr std::size_t fine = 128;
    [[gnu::always_inline]] static std::size_t index_of(std::size_t bytes) {
        if (bytes <= 8 * fine) return (bytes - 1) / 8;
        const auto octave = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 11;    // 0: 1025 ... 2048
        return fine + octave * 8 + ((bytes - 1) >> (octave + 7)) - 8;
    }
    [[gnu::always_inline]] static std::size_t size_of(std::size_t index) {
        if (index < fine) return (index + 1) * 8;
        const std::size_t octave = (index - fine) / 8;
        return (std::size_t{128} << octave) * ((index - fine) % 8 + 9);
    }

    std::array<block*, fine + 8 * 30> lists_{};
    floor_bump bump_;
};

struct floor_library {
    static std::string version() { return HEADROOM_LAB_VERSION; }
    using base_resource = void;
};

template <class Resource>
struct floor_peer : private warm_buffer, public inline_resource_peer<floor_library, Resource> {
    explicit floor_peer(std::size_t bytes)
        : warm_buffer(bytes), inline_resource_peer<floor_library, Resource>(std::in_place, this->data(), this->size()) {}
    void next_round(round_end) { this->resource_.restart(); }
};
struct floor_monotonic : floor_peer<floor_bump> {
    static constexpr const char* id = "floor/monotonic";
    static constexpr allocator_kind kind = allocator_kind::monotonic;
    using floor_peer::floor_peer;
};
struct floor_multipool : floor_peer<floor_pools> {
    static constexpr const char* id = "floor/multipool";
    static constexpr allocator_kind kind = allocator_kind::multipool;
    using floor_peer::floor_peer;
};
// There is no floor under the two combined but the same one.
struct floor_multipool_over_monotonic : floor_peer<floor_pools> {
    static constexpr const char* id = "floor/multipool over monotonic";
    static constexpr allocator_kind kind = allocator_kind::multipool_over_monotonic;
    using floor_peer::floor_peer;
};

}    // namespace headroom::lab
