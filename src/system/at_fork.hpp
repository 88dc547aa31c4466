// Process-wide locks around a fork, in one order. A child has only the forking thread. A lock held by another thread would stay locked in
// it for ever, with its data half changed. So each module with process-wide state registers a handler here: `before` takes its locks,
// `in_parent` releases them, `in_child` releases them and resets what other threads were doing. The order is that in which threads take
// these locks, the outermost first.
#pragma once

#include <cstddef>

#include "component_api.hpp"

namespace headroom { inline namespace v0_1 { namespace detail {

// One place for each module, between those that it calls and those that call it.
enum class fork_place : std::size_t {
    concurrent_vectors,    // no lock: locks of other threads of the parent are free in the child
    memory_resources,      // locks of thread-safe resources, which call their upstreams under them; within those,
                           // resource_links
    files,                 // the list of writers; no other lock is taken under it
    prefaulter,            // no lock: the state of the helper thread
    ranges,                // the registry and the cache of kept ranges
    admission,             // the guard of set_min_available_memory()
    count
};

enum class fork_moment { before, in_parent, in_child };
using fork_handler = void(fork_moment) noexcept;

// Registers a module's handler, from a static initialiser of its source file. Always returns true.
HEADROOM_FOR_COMPONENTS bool at_fork(fork_place place, fork_handler* handler) noexcept;

}}}    // namespace headroom::detail
