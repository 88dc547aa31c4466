// SPDX-License-Identifier: MIT
// BDE, whose allocators P0089R0 measured: bdlma's sequential and multipool allocators.
//
// Only where the user gives a folder with a built BDE: -DHEADROOM_PEER_BDE_DIR=... (see CMakeLists.txt).
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "peers/memory_peer.hpp"

#if defined(HEADROOM_LAB_BDE)
#include <bdlma_bufferedsequentialallocator.h>
#include <bdlma_multipoolallocator.h>
#include <bdlma_sequentialallocator.h>
#include <bdlscm_version.h>
#endif

namespace headroom::lab {

#if defined(HEADROOM_LAB_BDE)

template <class Allocator>
struct bde_resource {
    template <class... Arguments>
    explicit bde_resource(Arguments&&... arguments) : allocator(static_cast<Arguments&&>(arguments)...) {}
    // BDE aligns by size, up to the largest alignment.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t) {
        return allocator.Allocator::allocate(static_cast<BloombergLP::bsls::Types::size_type>(bytes));
    }
    [[gnu::always_inline]] void deallocate(void* block, std::size_t, std::size_t) { allocator.Allocator::deallocate(block); }
    Allocator allocator;
};

struct bde_library {
    static std::string version() { return BloombergLP::bdlscm::Version::version(); }
    using base_resource = void;
};
template <class Allocator>
using bde_peer = inline_resource_peer<bde_library, bde_resource<Allocator>>;

struct bde_monotonic : bde_peer<BloombergLP::bdlma::SequentialAllocator> {
    static constexpr const char* id = "BloombergLP::bdlma::SequentialAllocator";
    static constexpr allocator_kind kind = allocator_kind::monotonic;
    explicit bde_monotonic(std::size_t) : bde_peer<BloombergLP::bdlma::SequentialAllocator>(std::in_place) {}
    void next_round(round_end) { resource_.allocator.rewind(); }
};
struct bde_monotonic_buffer : private warm_buffer, public bde_peer<BloombergLP::bdlma::BufferedSequentialAllocator> {
    static constexpr const char* id = "BloombergLP::bdlma::BufferedSequentialAllocator/buffer";
    static constexpr allocator_kind kind = allocator_kind::monotonic;
    explicit bde_monotonic_buffer(std::size_t bytes)
        : warm_buffer(bytes),
          bde_peer<BloombergLP::bdlma::BufferedSequentialAllocator>(std::in_place, reinterpret_cast<char*>(data()),
                                                                    static_cast<BloombergLP::bsls::Types::size_type>(size())) {}
    void next_round(round_end) { resource_.allocator.rewind(); }
};
struct bde_multipool : bde_peer<BloombergLP::bdlma::MultipoolAllocator> {
    static constexpr const char* id = "BloombergLP::bdlma::MultipoolAllocator";
    static constexpr allocator_kind kind = allocator_kind::multipool;
    explicit bde_multipool(std::size_t) : bde_peer<BloombergLP::bdlma::MultipoolAllocator>(std::in_place) {}
    void next_round(round_end how) {
        if (how == round_end::winked) resource_.allocator.release();
    }
};

#else

struct absent_bde {
    static constexpr const char* absent = "no folder given (-DHEADROOM_PEER_BDE_DIR)";
};
struct bde_monotonic : absent_bde {
    static constexpr const char* id = "BloombergLP::bdlma::SequentialAllocator";
};
struct bde_monotonic_buffer : absent_bde {
    static constexpr const char* id = "BloombergLP::bdlma::BufferedSequentialAllocator/buffer";
};
struct bde_multipool : absent_bde {
    static constexpr const char* id = "BloombergLP::bdlma::MultipoolAllocator";
};

#endif

}    // namespace headroom::lab
