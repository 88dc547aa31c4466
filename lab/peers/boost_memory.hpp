// SPDX-License-Identifier: MIT
// The memory resources of boost::container::pmr. Their base is boost's own, so they are bound through that.
//
// Needs the library boost_container (not only headers); HEADROOM_LAB_BOOST_CONTAINER says whether the build has found it.
#pragma once

#include <string>

#include "peers/memory_peer.hpp"

#if defined(HEADROOM_LAB_BOOST_CONTAINER)
#include <boost/container/pmr/monotonic_buffer_resource.hpp>
#include <boost/container/pmr/synchronized_pool_resource.hpp>
#include <boost/container/pmr/unsynchronized_pool_resource.hpp>
#include <boost/version.hpp>
#endif

namespace headroom::lab {

#if defined(HEADROOM_LAB_BOOST_CONTAINER)

struct boost_library {
    static std::string version() {
        return std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);
    }
    using base_resource = boost::container::pmr::memory_resource;
    static constexpr bool released_pool_keeps_its_table = true;
};

struct boost_monotonic : monotonic_peer<boost_library, boost::container::pmr::monotonic_buffer_resource> {
    static constexpr const char* id = "boost::container::pmr::monotonic_buffer_resource";
    using monotonic_peer::monotonic_peer;
};
struct boost_monotonic_buffer : buffered_peer<boost_library, boost::container::pmr::monotonic_buffer_resource> {
    static constexpr const char* id = "boost::container::pmr::monotonic_buffer_resource/buffer";
    using buffered_peer::buffered_peer;
};
struct boost_pool : pool_peer<boost_library, boost::container::pmr::unsynchronized_pool_resource> {
    static constexpr const char* id = "boost::container::pmr::unsynchronized_pool_resource";
    using pool_peer::pool_peer;
};
struct boost_synchronized_pool : pool_peer<boost_library, boost::container::pmr::synchronized_pool_resource> {
    static constexpr const char* id = "boost::container::pmr::synchronized_pool_resource";
    using pool_peer::pool_peer;
};
struct boost_pool_over_monotonic : pool_over_monotonic_peer<boost_library, boost::container::pmr::unsynchronized_pool_resource,
                                                            boost::container::pmr::monotonic_buffer_resource> {
    static constexpr const char* id = "boost::container::pmr::unsynchronized_pool_resource over monotonic";
    using pool_over_monotonic_peer::pool_over_monotonic_peer;
};

#else

struct absent_boost_memory {
    static constexpr const char* absent = "the library boost_container was not found";
};
struct boost_monotonic : absent_boost_memory {
    static constexpr const char* id = "boost::container::pmr::monotonic_buffer_resource";
};
struct boost_monotonic_buffer : absent_boost_memory {
    static constexpr const char* id = "boost::container::pmr::monotonic_buffer_resource/buffer";
};
struct boost_pool : absent_boost_memory {
    static constexpr const char* id = "boost::container::pmr::unsynchronized_pool_resource";
};
struct boost_synchronized_pool : absent_boost_memory {
    static constexpr const char* id = "boost::container::pmr::synchronized_pool_resource";
};
struct boost_pool_over_monotonic : absent_boost_memory {
    static constexpr const char* id = "boost::container::pmr::unsynchronized_pool_resource over monotonic";
};

#endif

}    // namespace headroom::lab
