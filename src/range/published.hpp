// What other processes may read of the registry: see detail/published_table.hpp.
#pragma once

#include <atomic>

#include <headroom/detail/published_table.hpp>

#include "range/range.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

struct published_table {
    published_head head;
    published_place places[published_fields];
    // The newest of all control blocks, which the registry's list begins with.
    alignas(8) std::atomic<range*> newest;
};

#if defined(__GNUC__) && !defined(__declspec)
// The note refers to it, and a linker must not look for it in another module.
[[gnu::visibility("hidden")]]
#endif
extern published_table published_ranges;

}}}    // namespace headroom::detail
