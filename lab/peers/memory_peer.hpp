// What an adapter of a memory resource is.
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
// What the library's user would do is done there, and nothing else: whatever next_round costs is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <new>
#include <string>

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

}  // namespace headroom::lab
