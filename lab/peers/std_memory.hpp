// SPDX-License-Identifier: MIT
// The memory resources of the standard library at hand.
#pragma once

#include <memory_resource>
#include <string>

#include "peers/memory_peer.hpp"
#include "peers/std_vector.hpp"

namespace headroom::lab {

struct std_library {
    static std::string version() { return std_vector::version(); }
    using base_resource = std::pmr::memory_resource;
    static constexpr bool released_pool_keeps_its_table = false;
};

struct std_monotonic : monotonic_peer<std_library, std::pmr::monotonic_buffer_resource> {
    static constexpr const char* id = "std::pmr::monotonic_buffer_resource";
    using monotonic_peer::monotonic_peer;
};
struct std_monotonic_buffer : buffered_peer<std_library, std::pmr::monotonic_buffer_resource> {
    static constexpr const char* id = "std::pmr::monotonic_buffer_resource/buffer";
    using buffered_peer::buffered_peer;
};
struct std_pool : pool_peer<std_library, std::pmr::unsynchronized_pool_resource> {
    static constexpr const char* id = "std::pmr::unsynchronized_pool_resource";
    using pool_peer::pool_peer;
};
struct std_synchronized_pool : pool_peer<std_library, std::pmr::synchronized_pool_resource> {
    static constexpr const char* id = "std::pmr::synchronized_pool_resource";
    using pool_peer::pool_peer;
};
struct std_pool_over_monotonic
    : pool_over_monotonic_peer<std_library, std::pmr::unsynchronized_pool_resource, std::pmr::monotonic_buffer_resource> {
    static constexpr const char* id = "std::pmr::unsynchronized_pool_resource over monotonic";
    using pool_over_monotonic_peer::pool_over_monotonic_peer;
};

}    // namespace headroom::lab
