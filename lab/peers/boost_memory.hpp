// The memory resources of boost::container::pmr. Their base is boost's own, so they are bound through that.
//
// Needs the library boost_container (not only headers); HEADROOM_LAB_BOOST_CONTAINER says whether the build has found it.
#pragma once

#include <cstddef>
#include <optional>
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

// A resource of boost's, called without a virtual call.
template <class Resource>
struct unvirtual_boost : Resource {
    using Resource::Resource;
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment) {
        return Resource::do_allocate(bytes, alignment);
    }
    [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes, std::size_t alignment) {
        Resource::do_deallocate(block, bytes, alignment);
    }
};

template <class Resource>
struct boost_memory_peer {
    static std::string version() {
        return std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);
    }
    using bound_resource = unvirtual_boost<Resource>;
    using base_resource = boost::container::pmr::memory_resource;
};

struct boost_monotonic : boost_memory_peer<boost::container::pmr::monotonic_buffer_resource> {
    static constexpr const char* id = "boost::container::pmr::monotonic_buffer_resource";
    static constexpr allocator_kind kind = allocator_kind::monotonic;
    explicit boost_monotonic(std::size_t) {}
    bound_resource* bound() { return &resource_; }
    base_resource* base() { return &resource_; }
    void next_round(round_end) { resource_.release(); }

private:
    bound_resource resource_;
};
struct boost_monotonic_buffer : boost_memory_peer<boost::container::pmr::monotonic_buffer_resource> {
    static constexpr const char* id = "boost::container::pmr::monotonic_buffer_resource/buffer";
    static constexpr allocator_kind kind = allocator_kind::monotonic;
    explicit boost_monotonic_buffer(std::size_t bytes) : buffer_(bytes), resource_(buffer_.data(), buffer_.size()) {}
    bound_resource* bound() { return &resource_; }
    base_resource* base() { return &resource_; }
    void next_round(round_end) { resource_.release(); }

private:
    warm_buffer buffer_;
    bound_resource resource_;
};

template <class Resource>
struct boost_pool_peer : boost_memory_peer<Resource> {
    static constexpr allocator_kind kind = allocator_kind::multipool;
    using typename boost_memory_peer<Resource>::bound_resource;
    using typename boost_memory_peer<Resource>::base_resource;
    explicit boost_pool_peer(std::size_t) {}
    bound_resource* bound() { return &resource_; }
    base_resource* base() { return &resource_; }
    void next_round(round_end how) {
        if (how == round_end::winked) resource_.release();
    }

private:
    bound_resource resource_;
};
struct boost_pool : boost_pool_peer<boost::container::pmr::unsynchronized_pool_resource> {
    static constexpr const char* id = "boost::container::pmr::unsynchronized_pool_resource";
    using boost_pool_peer::boost_pool_peer;
};
struct boost_synchronized_pool : boost_pool_peer<boost::container::pmr::synchronized_pool_resource> {
    static constexpr const char* id = "boost::container::pmr::synchronized_pool_resource";
    using boost_pool_peer::boost_pool_peer;
};

struct boost_pool_over_monotonic : boost_memory_peer<boost::container::pmr::unsynchronized_pool_resource> {
    static constexpr const char* id = "boost::container::pmr::unsynchronized_pool_resource over monotonic";
    static constexpr allocator_kind kind = allocator_kind::multipool_over_monotonic;
    explicit boost_pool_over_monotonic(std::size_t bytes)
        : buffer_(bytes), below_(buffer_.data(), buffer_.size()) {
        resource_.emplace(&below_);
    }
    bound_resource* bound() { return &*resource_; }
    base_resource* base() { return &*resource_; }
    // Made anew: through release() it would keep its table of pools, which lies in the memory below.
    void next_round(round_end) {
        resource_.reset();
        below_.release();
        resource_.emplace(&below_);
    }

private:
    warm_buffer buffer_;
    boost::container::pmr::monotonic_buffer_resource below_;
    std::optional<bound_resource> resource_;
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

}  // namespace headroom::lab
