// SPDX-License-Identifier: MIT
// Requirements on an adapter of a memory resource.
//
// Local allocators are compared by strategy (P0089R0, table 1): which allocator (monotonic, multipool, multipool over
// monotonic), bound how (at compile time, or through an abstract base), ended how (blocks given back one by one, or "winked
// out"). An adapter brings one implementation of one allocator; the experiments do the rest, for all alike.
//
// An adapter is a struct with
//   static constexpr const char* id, static std::string version()    as in peer.hpp
//   static constexpr const char* absent                              instead of all that follows
//   static constexpr allocator_kind kind
//   static std::string missing()      optional: why it cannot run after all (a library that is looked for at run time)
//   explicit X(std::size_t bytes)     set up for rounds in which about `bytes` are in use at most
//   using bound_resource              has inline allocate(bytes, alignment) and deallocate(block, bytes, alignment)
//   bound_resource* bound()           for binding at compile time
//   using base_resource               the same with virtual functions
//   base_resource* base()             for binding through an abstract base
//   void next_round(round_end)        a round is over: all its blocks were given back, or none of them was and all go now
// next_round() does what the library's user would do, and nothing else; its cost is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include <headroom/resource_allocator.hpp>

#include "peers/peer.hpp"

namespace headroom::lab {

enum class allocator_kind { global, monotonic, multipool, multipool_over_monotonic };
enum class round_end { destroyed, winked };

// Reads as virtual whatever has inline calls: for libraries that have no abstract base of their own.
template <class Resource>
class virtual_resource final : public std::pmr::memory_resource {
public:
    explicit virtual_resource(Resource& to) : to_(to) {}

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override { return to_.allocate(bytes, alignment); }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        to_.deallocate(block, bytes, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    Resource& to_;
};

// Memory that has been touched already, for those that are given a buffer.
class warm_buffer {
public:
    explicit warm_buffer(std::size_t bytes)
        : bytes_(bytes), data_(static_cast<std::byte*>(::operator new(bytes, std::align_val_t(4096)))) {
        std::memset(data_, 1, bytes);
    }
    warm_buffer(const warm_buffer&) = delete;
    warm_buffer& operator=(const warm_buffer&) = delete;
    ~warm_buffer() { ::operator delete(data_, std::align_val_t(4096)); }

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

private:
    std::size_t bytes_;
    std::byte* data_;
};

// A resource with virtual functions, called without a virtual call: its class may not be final, so that a call on it stays
// virtual unless the function is named with its class.
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

// What adapters are made of. `Library` has version() and the base_resource that its resources are bound through; an adapter adds
// its id, its kind and next_round().

// Holds one resource, whose class is derived from the library's base.
template <class Library, class Resource>
class resource_peer {
public:
    static std::string version() { return Library::version(); }
    using bound_resource = Resource;
    using base_resource = typename Library::base_resource;
    bound_resource* bound() { return &resource_; }
    base_resource* base() { return &resource_; }

protected:
    template <class... Arguments>
    explicit resource_peer(std::in_place_t, Arguments&&... arguments) : resource_(static_cast<Arguments&&>(arguments)...) {}

    bound_resource resource_;
};

// Holds one that has no abstract base: it is given a standard one.
template <class Library, class Resource>
class inline_resource_peer : public resource_peer<Library, Resource> {
public:
    using base_resource = std::pmr::memory_resource;
    base_resource* base() { return &base_; }

protected:
    using resource_peer<Library, Resource>::resource_peer;

private:
    virtual_resource<Resource> base_{this->resource_};
};

// Grows by itself.
template <class Library, class Resource>
struct monotonic_peer : resource_peer<Library, unvirtual<Resource>> {
    static constexpr allocator_kind kind = allocator_kind::monotonic;
    explicit monotonic_peer(std::size_t) : resource_peer<Library, unvirtual<Resource>>(std::in_place) {}
    void next_round(round_end) { this->resource_.release(); }
};

// Was given a warm buffer that is large enough.
template <class Library, class Resource>
struct buffered_peer : private warm_buffer, public resource_peer<Library, unvirtual<Resource>> {
    static constexpr allocator_kind kind = allocator_kind::monotonic;
    explicit buffered_peer(std::size_t bytes)
        : warm_buffer(bytes), resource_peer<Library, unvirtual<Resource>>(std::in_place, this->data(), this->size()) {}
    void next_round(round_end) { this->resource_.release(); }
};

template <class Library, class Resource>
struct pool_peer : resource_peer<Library, unvirtual<Resource>> {
    static constexpr allocator_kind kind = allocator_kind::multipool;
    explicit pool_peer(std::size_t) : resource_peer<Library, unvirtual<Resource>>(std::in_place) {}
    void next_round(round_end how) {
        if (how == round_end::winked) this->resource_.release();
    }
};

// A pool over a monotonic with a warm buffer.
template <class Library, class Pool, class Monotonic>
class pool_over_monotonic_peer {
public:
    static std::string version() { return Library::version(); }
    static constexpr allocator_kind kind = allocator_kind::multipool_over_monotonic;
    using bound_resource = unvirtual<Pool>;
    using base_resource = typename Library::base_resource;
    explicit pool_over_monotonic_peer(std::size_t bytes) : buffer_(bytes), below_(buffer_.data(), buffer_.size()) {
        resource_.emplace(&below_);
    }
    bound_resource* bound() { return &*resource_; }
    base_resource* base() { return &*resource_; }
    void next_round(round_end) {
        if constexpr (Library::released_pool_keeps_its_table) {
            resource_.reset();    // for the table lies in the memory below
            below_.release();
            resource_.emplace(&below_);
        } else {
            resource_->release();
            below_.release();
        }
    }

private:
    warm_buffer buffer_;
    Monotonic below_;
    std::optional<bound_resource> resource_;
};

}    // namespace headroom::lab
