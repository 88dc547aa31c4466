// SPDX-License-Identifier: MIT
// The vectors that stand side by side. A new peer is one more name here.
#pragma once

#include "peers/boost_vector.hpp"
#include "peers/given_vectors.hpp"
#include "peers/headroom_vector.hpp"
#include "peers/packaged_vectors.hpp"
#include "peers/peer.hpp"
#include "peers/settled_vector.hpp"
#include "peers/std_vector.hpp"

namespace headroom::lab {

// Vectors that take part in every experiment, each under its own name.
inline constexpr peer_list<std_vector, boost_vector, headroom_vector, settled, settled_page_by_page, settled_huge_pages,
                           settled_prefault_ahead, settled_open>
    vectors;

// Other ways of appending to them.
inline constexpr peer_list<settled_open_unchecked> unchecked_vectors;

// Vectors for programs that were written for std::vector: those that fill its place everywhere.
inline constexpr peer_list<std_vector, boost_vector, boost_vector_doubling, headroom_vector, headroom_vector_heap,
                           headroom_vector_page_by_page, settled, absl_inlined_vector, eastl_vector, folly_fbvector,
                           thesis_rvector, amc_vector, sfl_vector, gch_small_vector>
    general_vectors;

// Others that move their elements never, or seldom: not contiguous, or less than a whole std::vector.
inline constexpr peer_list<std_deque, plf_colony, boost_stable_vector, boost_devector, tbb_concurrent_vector,
                           forerunner_settled_vector>
    steady_vectors;

// Vectors set up for a process that builds the same thing again and again.
inline constexpr peer_list<settled_warm> warm_vectors;

}    // namespace headroom::lab
