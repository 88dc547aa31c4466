// SPDX-License-Identifier: MIT
// Headroom's memory resources, as a user gets them without choosing anything; kept from round to round by rewind().
//
//   /fresh   made anew for each round, as a user does who does not know rewind(): what is warm then is the process's cache
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <string>
#include <utility>

#include <headroom/arena.hpp>
#include <headroom/monotonic.hpp>
#include <headroom/multipool.hpp>

#include "peers/memory_peer.hpp"

namespace headroom::lab {

struct headroom_library {
    static std::string version() { return HEADROOM_LAB_VERSION; }
    using base_resource = std::pmr::memory_resource;
};

template <class Resource>
struct headroom_memory_peer : resource_peer<headroom_library, Resource> {
    explicit headroom_memory_peer(std::size_t) : resource_peer<headroom_library, Resource>(std::in_place) {}
    void next_round(round_end) { this->resource_.rewind(); }
};

// Like pool_peer: a pool that has all its blocks back needs no call.
template <class Resource>
struct headroom_pool_peer : resource_peer<headroom_library, Resource> {
    explicit headroom_pool_peer(std::size_t) : resource_peer<headroom_library, Resource>(std::in_place) {}
    void next_round(round_end how) {
        if (how == round_end::winked) this->resource_.rewind();
    }
};

template <class Resource>
struct headroom_fresh_peer : resource_peer<headroom_library, Resource> {
    explicit headroom_fresh_peer(std::size_t) : resource_peer<headroom_library, Resource>(std::in_place) {}
    void next_round(round_end) {
        std::destroy_at(&this->resource_);
        std::construct_at(&this->resource_);
    }
};

struct headroom_monotonic : headroom_memory_peer<monotonic_resource> {
    static constexpr const char* id = "headroom::monotonic_resource";
    static constexpr allocator_kind kind = allocator_kind::monotonic;
    using headroom_memory_peer::headroom_memory_peer;
};
struct headroom_monotonic_fresh : headroom_fresh_peer<monotonic_resource> {
    static constexpr const char* id = "headroom::monotonic_resource/fresh";
    static constexpr allocator_kind kind = allocator_kind::monotonic;
    using headroom_fresh_peer::headroom_fresh_peer;
};
struct headroom_arena : headroom_memory_peer<arena_resource> {
    static constexpr const char* id = "headroom::arena_resource";
    static constexpr allocator_kind kind = allocator_kind::monotonic;
    using headroom_memory_peer::headroom_memory_peer;
};
struct headroom_multipool : headroom_pool_peer<multipool_resource> {
    static constexpr const char* id = "headroom::multipool_resource";
    static constexpr allocator_kind kind = allocator_kind::multipool;
    using headroom_pool_peer::headroom_pool_peer;
};
struct headroom_multipool_fresh : headroom_fresh_peer<multipool_resource> {
    static constexpr const char* id = "headroom::multipool_resource/fresh";
    static constexpr allocator_kind kind = allocator_kind::multipool;
    using headroom_fresh_peer::headroom_fresh_peer;
};
struct headroom_synchronized_multipool : headroom_pool_peer<synchronized_multipool_resource> {
    static constexpr const char* id = "headroom::synchronized_multipool_resource";
    static constexpr allocator_kind kind = allocator_kind::multipool;
    using headroom_pool_peer::headroom_pool_peer;
};

// A multipool over a resource that only grows.
template <class Below>
struct resource_below {
    Below below_;
};
template <class Below>
struct headroom_multipool_over : private resource_below<Below>, public resource_peer<headroom_library, multipool_resource> {
    static constexpr allocator_kind kind = allocator_kind::multipool_over_monotonic;
    explicit headroom_multipool_over(std::size_t) : resource_peer(std::in_place, &this->below_) {}
    void next_round(round_end) {
        this->resource_.release();
        this->below_.rewind();
    }
};
struct headroom_multipool_over_monotonic : headroom_multipool_over<monotonic_resource> {
    static constexpr const char* id = "headroom::multipool_resource over monotonic";
    using headroom_multipool_over::headroom_multipool_over;
};
struct headroom_multipool_over_arena : headroom_multipool_over<arena_resource> {
    static constexpr const char* id = "headroom::multipool_resource over arena";
    using headroom_multipool_over::headroom_multipool_over;
};

}    // namespace headroom::lab
