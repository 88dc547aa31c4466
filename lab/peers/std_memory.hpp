// The memory resources of the standard library at hand.
//
// Its classes are not final, so a call on them stays virtual unless the function is named with its class: the adapters do
// that where they are bound at compile time.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <optional>
#include <string>

#include "peers/memory_peer.hpp"
#include "peers/std_vector.hpp"

namespace headroom::lab {

// A standard resource, called without a virtual call.
template <class Resource>
struct unvirtual : Resource {
    using Resource::Resource;
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment) {
        return Resource::do_allocate(bytes, alignment);
    }
    [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes, std::size_t alignment) {
        Resource::do_deallocate(block, bytes, alignment);
    }
};

template <class Resource>
class std_resource_peer {
public:
    static std::string version() { return std_vector::version(); }
    using bound_resource = unvirtual<Resource>;
    using base_resource = std::pmr::memory_resource;
};

// Grows by itself, from the heap.
struct std_monotonic : std_resource_peer<std::pmr::monotonic_buffer_resource> {
    static constexpr const char* id = "std::pmr::monotonic_buffer_resource";
    static constexpr allocator_kind kind = allocator_kind::monotonic;
    explicit std_monotonic(std::size_t) {}
    bound_resource* bound() { return &resource_; }
    base_resource* base() { return &resource_; }
    void next_round(round_end) { resource_.release(); }

private:
    bound_resource resource_;
};

// Was given a warm buffer that is large enough.
struct std_monotonic_buffer : std_resource_peer<std::pmr::monotonic_buffer_resource> {
    static constexpr const char* id = "std::pmr::monotonic_buffer_resource/buffer";
    static constexpr allocator_kind kind = allocator_kind::monotonic;
    explicit std_monotonic_buffer(std::size_t bytes) : buffer_(bytes), resource_(buffer_.data(), buffer_.size()) {}
    bound_resource* bound() { return &resource_; }
    base_resource* base() { return &resource_; }
    void next_round(round_end) { resource_.release(); }

private:
    warm_buffer buffer_;
    bound_resource resource_;
};

template <class Resource>
struct std_pool_peer : std_resource_peer<Resource> {
    static constexpr allocator_kind kind = allocator_kind::multipool;
    using typename std_resource_peer<Resource>::bound_resource;
    explicit std_pool_peer(std::size_t) {}
    bound_resource* bound() { return &resource_; }
    std::pmr::memory_resource* base() { return &resource_; }
    void next_round(round_end how) {
        if (how == round_end::winked) resource_.release();
    }

private:
    bound_resource resource_;
};
struct std_pool : std_pool_peer<std::pmr::unsynchronized_pool_resource> {
    static constexpr const char* id = "std::pmr::unsynchronized_pool_resource";
    using std_pool_peer::std_pool_peer;
};
struct std_synchronized_pool : std_pool_peer<std::pmr::synchronized_pool_resource> {
    static constexpr const char* id = "std::pmr::synchronized_pool_resource";
    using std_pool_peer::std_pool_peer;
};

// A pool over a monotonic with a warm buffer.
struct std_pool_over_monotonic : std_resource_peer<std::pmr::unsynchronized_pool_resource> {
    static constexpr const char* id = "std::pmr::unsynchronized_pool_resource over monotonic";
    static constexpr allocator_kind kind = allocator_kind::multipool_over_monotonic;
    explicit std_pool_over_monotonic(std::size_t bytes) : buffer_(bytes), below_(buffer_.data(), buffer_.size()) {
        resource_.emplace(&below_);
    }
    bound_resource* bound() { return &*resource_; }
    base_resource* base() { return &*resource_; }
    void next_round(round_end) {
        resource_->release();
        below_.release();
    }

private:
    warm_buffer buffer_;
    std::pmr::monotonic_buffer_resource below_;
    std::optional<bound_resource> resource_;
};

}  // namespace headroom::lab
