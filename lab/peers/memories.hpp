// SPDX-License-Identifier: MIT
// The memory resources that stand side by side. A new peer is one more name here.
#pragma once

#include "peers/bde_memory.hpp"
#include "peers/boost_memory.hpp"
#include "peers/floor_memory.hpp"
#include "peers/foonathan_memory.hpp"
#include "peers/global_memory.hpp"
#include "peers/headroom_memory.hpp"
#include "peers/memory_peer.hpp"
#include "peers/mimalloc_memory.hpp"
#include "peers/std_memory.hpp"

namespace headroom::lab {

inline constexpr peer_list<global_memory> global_memories;

// They grow by themselves.
inline constexpr peer_list<std_monotonic, boost_monotonic, bde_monotonic, headroom_monotonic, headroom_monotonic_fresh,
                           headroom_arena>
    growing_monotonics;
// They were given a warm buffer that is large enough.
inline constexpr peer_list<std_monotonic_buffer, boost_monotonic_buffer, foonathan_stack, bde_monotonic_buffer, floor_monotonic>
    buffered_monotonics;

inline constexpr peer_list<std_pool, boost_pool, foonathan_pools, mimalloc_heap, bde_multipool, headroom_multipool,
                           headroom_multipool_fresh, floor_multipool>
    multipools;

// Those that a subsystem with a few links may have for itself.
inline constexpr peer_list<std_pool, boost_pool, mimalloc_heap, bde_multipool, headroom_multipool> local_multipools;

inline constexpr peer_list<std_pool_over_monotonic, boost_pool_over_monotonic, headroom_multipool_over_monotonic,
                           headroom_multipool_over_arena, floor_multipool_over_monotonic>
    multipools_over_monotonics;

// Many threads may use one.
inline constexpr peer_list<std_synchronized_pool, boost_synchronized_pool, headroom_synchronized_multipool>
    synchronized_multipools;

}    // namespace headroom::lab
